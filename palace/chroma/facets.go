package chroma

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// Facets counts records by the values of one or two keys. A list counts as one
// value, its JSON text.
func (c *Collection) Facets(ctx context.Context, f backend.Filter, keys ...string) ([]backend.Facet, error) {
	if len(keys) < 1 || len(keys) > 2 {
		return nil, &backend.UnsupportedFilterError{Subject: strings.Join(keys, ", "), Reason: "facets are counted by one or two keys"}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, reservedPrefix) {
			return nil, &backend.UnsupportedFilterError{Subject: key, Reason: "documents and addresses are no facets"}
		}
	}
	var list []backend.Facet
	err := c.view(ctx, func(sc *scope) error {
		t, err := sc.facets(ctx, f, keys)
		if err == nil {
			list = t.facets()
		}
		return err
	})
	return list, err
}

func (sc *scope) facets(ctx context.Context, f backend.Filter, keys []string) (*tally, error) {
	q, err := sc.ask(ctx, f)
	if err != nil {
		return nil, err
	}
	stored, err := q.countStored(ctx)
	if err != nil {
		return nil, err
	}
	t, err := q.storedFacets(ctx, keys, stored)
	if err != nil || sc.pending.none() {
		return t, err
	}
	for _, list := range [][]*pendingRecord{sc.pending.changed, sc.pending.fresh} {
		err := sc.eachPending(ctx, q.pending(list), f, func(_ *pendingRecord, m backend.Metadata) (bool, error) {
			values := make([]facetValue, len(keys))
			for i, key := range keys {
				values[i] = facetOf(m[key])
			}
			t.add(1, values...)
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (q *question) storedFacets(ctx context.Context, keys []string, stored int64) (*tally, error) {
	lists := false
	for _, key := range keys {
		has, err := q.sc.hasLists(ctx, key)
		if err != nil {
			return nil, err
		}
		lists = lists || has
	}
	if len(keys) == 1 && !lists {
		t, err := q.countByIndex(ctx, keys[0], stored)
		if err != nil || t != nil {
			return t, err
		}
		if t, err = q.countByKey(ctx, keys[0], stored); err != nil {
			return nil, err
		}
		t.add(stored-t.rows, facetValue{})
		return t, nil
	}
	byRecord := make([]map[int64]facetValue, len(keys))
	for i, key := range keys {
		var err error
		if byRecord[i], err = q.valuesOf(ctx, key, stored, lists); err != nil {
			return nil, err
		}
	}
	t := newTally()
	if len(keys) == 1 {
		for _, v := range byRecord[0] {
			t.add(1, v)
		}
		t.add(stored-t.rows, facetValue{})
		return t, nil
	}
	for id, v := range byRecord[0] {
		t.add(1, v, byRecord[1][id])
		delete(byRecord[1], id)
	}
	for _, v := range byRecord[1] {
		t.add(1, facetValue{}, v)
	}
	t.add(stored-t.rows, facetValue{}, facetValue{})
	return t, nil
}

func (sc *scope) hasLists(ctx context.Context, key string) (bool, error) {
	if !sc.s.hasColumn("embedding_metadata_array", "key") {
		return false, nil
	}
	var one int64
	err := sc.q.QueryRowContext(ctx, "SELECT 1 FROM embedding_metadata_array WHERE key = ? LIMIT 1", key).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, sc.c.damaged("embedding_metadata_array", err)
}

// valueColumns selects a metadata value's four columns.
func (sc *scope) valueColumns() string {
	return sc.s.pick("embedding_metadata", "m", "string_value", "int_value", "float_value", "bool_value")
}

// from joins a key's values, at ?7, to the records of the question. Going
// through all values in the table's own order is quicker than looking each
// record up, unless the records are few.
func (q *question) from(ctx context.Context, key string, stored int64) (string, []any, error) {
	cond, err := q.condition(ctx, wholeSets, 0, 0)
	if err != nil {
		return "", nil, err
	}
	base, args := q.base()
	args = append(args, nil, nil, nil, key)
	tables := "embedding_metadata m NOT INDEXED CROSS JOIN embeddings e"
	if stored < q.sc.stamp.record/8 {
		tables = "embeddings e NOT INDEXED CROSS JOIN embedding_metadata m"
	}
	return " FROM " + tables + " WHERE m.key = ?7 AND m.id = e.id AND " + base + cond.and(), cond.around(args...), nil
}

func (q *question) countByKey(ctx context.Context, key string, stored int64) (*tally, error) {
	from, args, err := q.from(ctx, key, stored)
	if err != nil {
		return nil, err
	}
	t := newTally()
	return t, q.sc.eachGroup(ctx, "SELECT "+q.sc.valueColumns()+", count(*)"+from+" GROUP BY 1, 2, 3, 4", args, func(v any, n any) error {
		rows, _ := n.(int64)
		t.add(rows, facetOf(v))
		return nil
	})
}

// valuesOf finds the value of a key for each record that has one.
func (q *question) valuesOf(ctx context.Context, key string, stored int64, lists bool) (map[int64]facetValue, error) {
	from, args, err := q.from(ctx, key, stored)
	if err != nil {
		return nil, err
	}
	values := map[int64]facetValue{}
	err = q.sc.eachGroup(ctx, "SELECT "+q.sc.valueColumns()+", group_concat(m.id)"+from+" GROUP BY 1, 2, 3, 4", args, func(v, list any) error {
		ids, err := parseIDs(list)
		if err != nil || v == nil {
			return err
		}
		value := facetOf(v)
		for _, id := range ids {
			values[id] = value
		}
		return nil
	})
	if err != nil || !lists {
		return values, err
	}
	from = strings.Replace(strings.Replace(from, "embedding_metadata m", "embedding_metadata_array m", 1), "NOT INDEXED", "", 1)
	return values, q.sc.listValues(ctx, from, args, values)
}

// listValues puts the lists over whatever stands beside them.
func (sc *scope) listValues(ctx context.Context, from string, args []any, values map[int64]facetValue) error {
	rows, err := sc.q.QueryContext(ctx, "SELECT m.id, "+sc.s.pick("embedding_metadata_array", "m",
		"string_value", "int_value", "float_value", "bool_value")+from+" ORDER BY m.id, m.rowid", args...)
	if err != nil {
		return sc.c.damaged("embedding_metadata_array", err)
	}
	defer rows.Close()
	var id, last int64
	var list any
	var c cell
	dest := append([]any{&id}, c.dest()...)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if id != last {
			if list != nil {
				values[last] = facetOf(list)
			}
			list, last = nil, id
		}
		list = appendList(list, c.value())
	}
	if list != nil {
		values[last] = facetOf(list)
	}
	return sc.c.damaged("embedding_metadata_array", rows.Err())
}

// eachGroup reads rows of four value columns and one more.
func (sc *scope) eachGroup(ctx context.Context, query string, args []any, fn func(v, last any) error) error {
	rows, err := sc.q.QueryContext(ctx, query, args...)
	if err != nil {
		return sc.c.damaged("embedding_metadata", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c cell
		var last any
		if err := rows.Scan(append(c.dest(), &last)...); err != nil {
			return err
		}
		if err := fn(c.value(), last); err != nil {
			return err
		}
	}
	return sc.c.damaged("embedding_metadata", rows.Err())
}

// countByIndex counts by the indexes on values alone, some ten times quicker
// than by the table. They do not say which collection a value belongs to, so
// this needs all of these, and answers nil otherwise: every record is asked
// for; no value belongs to nobody, which numbers without gaps prove; the
// records of other collections are few, and are subtracted; and every record
// has a value, since booleans have no index.
func (q *question) countByIndex(ctx context.Context, key string, stored int64) (*tally, error) {
	sc := q.sc
	if !q.IsZero() || len(sc.pending.hidden) > 0 || stored == 0 {
		return nil, nil
	}
	var all, lowest, highest int64
	if err := sc.q.QueryRowContext(ctx, "SELECT count(*) FROM embeddings").Scan(&all); err != nil {
		return nil, sc.c.damaged("embeddings", err)
	}
	if all-stored > stored/4 {
		return nil, nil
	}
	if err := sc.q.QueryRowContext(ctx, "SELECT (SELECT min(id) FROM embeddings NOT INDEXED), (SELECT max(id) FROM embeddings NOT INDEXED)").Scan(&lowest, &highest); err != nil {
		return nil, sc.c.damaged("embeddings", err)
	}
	if highest-lowest+1 != all {
		return nil, nil
	}
	var strangers bool
	err := sc.q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM embedding_metadata WHERE id < ?) OR EXISTS (SELECT 1 FROM embedding_metadata WHERE id > ?)
		OR EXISTS (SELECT 1 FROM embedding_metadata WHERE id IS NULL)`, lowest, highest).Scan(&strangers)
	if err != nil || strangers {
		return nil, sc.c.damaged("embedding_metadata", err)
	}
	t := newTally()
	for _, column := range []string{"string_value", "int_value", "float_value"} {
		columns := strings.NewReplacer("m."+column, column, "m.string_value", "NULL", "m.int_value", "NULL", "m.float_value", "NULL", "m.bool_value", "NULL").Replace(sc.valueColumns())
		err := sc.eachGroup(ctx, "SELECT "+columns+", count(*) FROM embedding_metadata WHERE key = ? AND "+column+" IS NOT NULL GROUP BY "+column, []any{key},
			func(v, n any) error {
				rows, _ := n.(int64)
				t.add(rows, facetOf(v))
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	if all > stored {
		err := sc.eachGroup(ctx, "SELECT "+sc.valueColumns()+`, count(*) FROM embeddings e CROSS JOIN embedding_metadata m
			WHERE (e.segment_id < ?1 OR e.segment_id > ?1) AND m.id = e.id AND m.key = ?2 GROUP BY 1, 2, 3, 4`, []any{sc.c.segment, key},
			func(v, n any) error {
				rows, _ := n.(int64)
				t.add(-rows, facetOf(v))
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	if t.rows != stored {
		return nil, nil
	}
	t.groups = slices.DeleteFunc(t.groups, func(g *facetGroup) bool { return g.rows == 0 })
	return t, nil
}
