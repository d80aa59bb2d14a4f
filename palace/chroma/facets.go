package chroma

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
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
	if stored == 0 {
		return newTally(), nil
	}
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
		// A damaged index need not keep the table from being counted.
		if err != nil && !errors.Is(err, dbfile.ErrCorrupt) || t != nil {
			return t, err
		}
	}
	values, err := q.valuesOf(ctx, keys, stored, lists)
	if err != nil {
		return nil, err
	}
	counts := map[[2]int32]int64{}
	for _, group := range values.byRecord {
		counts[group]++
	}
	t := newTally()
	for group, rows := range counts {
		list := make([]facetValue, len(keys))
		for i := range keys {
			list[i] = values.known[group[i]]
		}
		t.add(rows, list...)
	}
	t.add(stored-t.rows, make([]facetValue, len(keys))...)
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

// recordValues are the values of one or two keys for each record that has any;
// records hold places in known, where the first stands for no value.
type recordValues struct {
	keys     []string
	known    []facetValue
	at       map[string]int32
	byRecord map[int64][2]int32
	// picked are the records that count; nil when no others come.
	picked idSet
}

func (r *recordValues) place(v any) int32 {
	value := facetOf(v)
	place, ok := r.at[value.key]
	if !ok {
		place = int32(len(r.known))
		r.known = append(r.known, value)
		r.at[value.key] = place
	}
	return place
}

func (r *recordValues) put(id int64, key string, place int32) {
	if r.picked != nil && !r.picked.has(id) {
		return
	}
	group := r.byRecord[id]
	for i, k := range r.keys {
		if k == key {
			group[i] = place
		}
	}
	r.byRecord[id] = group
}

// valuesOf finds the values that the question's records have. Where these are
// few each is looked up; else it is quicker to go through everybody's values
// in the order of their table, and to pick here.
func (q *question) valuesOf(ctx context.Context, keys []string, stored int64, lists bool) (*recordValues, error) {
	r := &recordValues{keys: keys, known: []facetValue{{}}, at: map[string]int32{}, byRecord: map[int64][2]int32{}}
	from, args := "VALUES_TABLE m NOT INDEXED WHERE m.key IN (?1, ?2)", []any{keys[0], keys[len(keys)-1]}
	if stored < q.sc.stamp.record/8 {
		cond, err := q.condition(ctx, wholeSets, 0, 0)
		if err != nil {
			return nil, err
		}
		base, fixed := q.base()
		from = "embeddings e NOT INDEXED CROSS JOIN VALUES_TABLE m WHERE m.key IN (?7, ?8) AND m.id = e.id AND " + base + cond.and()
		args = cond.around(append(fixed, nil, nil, nil, args[0], args[1])...)
	} else {
		set, err := q.all(ctx)
		if err != nil {
			return nil, err
		}
		r.picked = set
	}
	err := q.sc.eachGroup(ctx, "SELECT "+q.sc.valueColumns()+", group_concat(m.id), m.key FROM "+
		strings.Replace(from, "VALUES_TABLE", "embedding_metadata", 1)+" GROUP BY 6, 1, 2, 3, 4", args, func(v, list, key any) error {
		ids, err := parseIDs(list)
		if err != nil || v == nil {
			return err
		}
		place := r.place(v)
		for _, id := range ids {
			r.put(id, textOr(key, ""), place)
		}
		return nil
	})
	if err != nil || !lists {
		return r, err
	}
	return r, q.sc.listValues(ctx, strings.Replace(from, "VALUES_TABLE", "embedding_metadata_array", 1), args, r)
}

// listValues puts the lists over whatever stands beside them.
func (sc *scope) listValues(ctx context.Context, from string, args []any, into *recordValues) error {
	rows, err := sc.q.QueryContext(ctx, "SELECT m.id, m.key, "+sc.s.pick("embedding_metadata_array", "m",
		"string_value", "int_value", "float_value", "bool_value")+" FROM "+from+" ORDER BY m.id, m.key, m.rowid", args...)
	if err != nil {
		return sc.c.damaged("embedding_metadata_array", err)
	}
	defer rows.Close()
	type owner struct {
		id  int64
		key string
	}
	var last owner
	var list any
	flush := func() {
		if list != nil {
			into.put(last.id, last.key, into.place(list))
		}
		list = nil
	}
	for rows.Next() {
		var id int64
		var key any
		var c cell
		if err := rows.Scan(append([]any{&id, &key}, c.dest()...)...); err != nil {
			return err
		}
		if now := (owner{id, textOr(key, "")}); now != last {
			flush()
			last = now
		}
		list = appendList(list, c.value())
	}
	flush()
	return sc.c.damaged("embedding_metadata_array", rows.Err())
}

// eachGroup reads rows of four value columns, a figure and a key.
func (sc *scope) eachGroup(ctx context.Context, query string, args []any, fn func(v, figure, key any) error) error {
	rows, err := sc.q.QueryContext(ctx, query, args...)
	if err != nil {
		return sc.c.damaged("embedding_metadata", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c cell
		var figure, key any
		if err := rows.Scan(append(c.dest(), &figure, &key)...); err != nil {
			return err
		}
		if err := fn(c.value(), figure, key); err != nil {
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
		err := sc.eachGroup(ctx, "SELECT "+columns+", count(*), NULL FROM embedding_metadata WHERE key = ? AND "+column+" IS NOT NULL GROUP BY "+column, []any{key},
			func(v, n, _ any) error {
				rows, _ := n.(int64)
				t.add(rows, facetOf(v))
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	if all > stored {
		err := sc.eachGroup(ctx, "SELECT "+sc.valueColumns()+`, count(*), NULL FROM embeddings e CROSS JOIN embedding_metadata m
			WHERE (e.segment_id < ?1 OR e.segment_id > ?1) AND m.id = e.id AND m.key = ?2 GROUP BY 1, 2, 3, 4`, []any{sc.c.segment, key},
			func(v, n, _ any) error {
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
