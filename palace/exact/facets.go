package exact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// Facets counts by one or two metadata keys.
func (c *Collection) Facets(ctx context.Context, f backend.Filter, keys ...string) ([]backend.Facet, error) {
	if len(keys) < 1 || len(keys) > 2 {
		return nil, fmt.Errorf("facets of %d keys: one or two can be counted by", len(keys))
	}
	if err := refuse(f); err != nil {
		return nil, err
	}
	var t *tally
	err := c.ask(ctx, func(q query, in collection) error {
		t = &tally{groups: map[string]*backend.Facet{}}
		if cond := q.push(f); cond.exact && q.loci && !slices.ContainsFunc(keys, notLocus) {
			done, err := t.byIndex(ctx, q, in, cond, keys)
			if done || err != nil {
				return err
			}
			t.groups = map[string]*backend.Facet{}
		}
		return t.byScan(ctx, q, in, f, keys)
	})
	if err != nil {
		return nil, err
	}
	return t.facets(), nil
}

// maxUnclear bounds how many groups are counted one by one.
const maxUnclear = 64

func notLocus(key string) bool { return !slices.Contains(locusFields, key) }

// tally counts groups.
type tally struct {
	groups map[string]*backend.Facet
}

func (t *tally) add(rows int64, values ...any) {
	var key strings.Builder
	for _, v := range values {
		fmt.Fprintf(&key, "%T %q\x00", v, backend.Text(v))
	}
	g := t.groups[key.String()]
	if g == nil {
		g = &backend.Facet{Values: slices.Clone(values)}
		t.groups[key.String()] = g
	}
	g.Rows += rows
}

// facets are the groups, largest first, then by value; what has none comes
// first among equals.
func (t *tally) facets() []backend.Facet {
	list := make([]backend.Facet, 0, len(t.groups))
	for _, g := range t.groups {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b backend.Facet) int {
		if a.Rows != b.Rows {
			return int(min(max(b.Rows-a.Rows, -1), 1))
		}
		for i := range a.Values {
			if n := compareFacets(a.Values[i], b.Values[i]); n != 0 {
				return n
			}
		}
		return 0
	})
	return list
}

func compareFacets(a, b any) int {
	if (a == nil) != (b == nil) {
		if a == nil {
			return -1
		}
		return 1
	}
	if n := strings.Compare(backend.Text(a), backend.Text(b)); n != 0 {
		return n
	}
	return strings.Compare(fmt.Sprintf("%T", a), fmt.Sprintf("%T", b))
}

// byIndex lets SQLite count on the index over the generated columns, which
// reads neither documents nor vectors. These columns have made texts of all
// values, so groups whose text could be something else are counted again from
// the metadata; with many such groups it is not done, and one reading of
// everything is cheaper.
func (t *tally) byIndex(ctx context.Context, q query, in collection, c condition, keys []string) (done bool, err error) {
	var unclear [][]any
	columns := strings.Join(keys, ", ")
	stmt := "SELECT " + columns + ", count(*) FROM documents WHERE collection_id = ?"
	if c.sql != "" {
		stmt += " AND " + c.sql
	}
	rows, err := q.tx.Query(ctx, stmt+" GROUP BY "+columns, append([]any{in.id}, c.args...)...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, len(keys))
		var n int64
		dest := []any{&values[0], &n}
		if len(keys) == 2 {
			dest = []any{&values[0], &values[1], &n}
		}
		if err := rows.Scan(dest...); err != nil {
			return false, err
		}
		if slices.ContainsFunc(values, func(v any) bool { s, ok := text(v); return ok && ambiguous(s) }) {
			if unclear = append(unclear, values); len(unclear) > maxUnclear {
				return false, nil
			}
			continue
		}
		t.add(n, values...)
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	for _, values := range unclear {
		one := condition{sql: c.sql, args: slices.Clone(c.args)}
		for i, key := range keys {
			if one.sql != "" {
				one.sql += " AND "
			}
			one.sql += key + " IS ?"
			one.args = append(one.args, values[i])
		}
		s := scan{query: q, in: in, condition: one, after: first}
		if err := s.count(ctx, t, keys); err != nil {
			return false, err
		}
	}
	return true, nil
}

// byScan reads the metadata of every row.
func (t *tally) byScan(ctx context.Context, q query, in collection, f backend.Filter, keys []string) error {
	s := scan{query: q, in: in, filter: f, condition: q.push(f), after: first}
	return s.count(ctx, t, keys)
}

func (s *scan) count(ctx context.Context, t *tally, keys []string) error {
	s.include = backend.Metadatas
	return s.run(ctx, func(r row) bool {
		m := decode(r.metadata)
		values := make([]any, len(keys))
		for i, k := range keys {
			values[i] = contractValue(m[k])
		}
		t.add(1, values...)
		return true
	})
}
