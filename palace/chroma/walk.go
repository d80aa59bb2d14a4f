package chroma

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"castellan/palace/backend"
)

// place is one record of an answer: where it is in the order and where its
// contents are.
type place struct {
	stored int64 // number of the stored record; 0 for a fresh one
	id     string
	seq    int64 // of the last write that was applied to the stored record
	// pending is set when writes wait, and contents is then what they make.
	pending  *pendingRecord
	contents backend.Metadata
}

func (p place) cursor(st stamp) cursor {
	if p.stored == 0 {
		return cursor{record: st.record, queued: p.pending.first}
	}
	return cursor{record: p.stored}
}

// question is a filter as one transaction asks it.
type question struct {
	backend.Filter
	sc *scope
	// stored are the numbers of the ids asked for; nil when all are
	// considered.
	stored idSet
	ids    map[string]bool
}

// idStep bounds the ids bound to one statement.
const idStep = 500

func (sc *scope) ask(ctx context.Context, f backend.Filter) (*question, error) {
	q := &question{Filter: f, sc: sc}
	if f.IDs == nil {
		return q, nil
	}
	q.stored, q.ids = idSet{}, make(map[string]bool, len(f.IDs))
	for _, id := range f.IDs {
		q.ids[id] = true
	}
	err := sc.storedRecords(ctx, f.IDs, func(_ string, n int64) { q.stored = append(q.stored, n) })
	if err != nil {
		return nil, err
	}
	slices.Sort(q.stored)
	q.stored = slices.Compact(q.stored)
	return q, nil
}

// storedRecords finds the numbers of stored records by their ids.
func (sc *scope) storedRecords(ctx context.Context, ids []string, found func(id string, n int64)) error {
	for step := range slices.Chunk(ids, idStep) {
		args := []any{sc.c.segment}
		for _, id := range step {
			args = append(args, id)
		}
		rows, err := sc.q.QueryContext(ctx, "SELECT id, embedding_id FROM embeddings WHERE segment_id = ? AND embedding_id IN (?"+strings.Repeat(", ?", len(step)-1)+")", args...)
		if err != nil {
			return sc.c.damaged("embeddings", err)
		}
		for rows.Next() {
			var n int64
			var id any
			if err := rows.Scan(&n, &id); err != nil {
				rows.Close()
				return err
			}
			found(textOr(id, ""), n)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return sc.c.damaged("embeddings", err)
		}
	}
	return nil
}

// pending are the waiting records that the ids let through.
func (q *question) pending(list []*pendingRecord) []*pendingRecord {
	if q.ids == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(r *pendingRecord) bool { return !q.ids[r.id] })
}

// base is the part of a WHERE clause that every statement shares: the segment
// at ?1, what waits to be changed at ?2, the ids asked for at ?3.
func (q *question) base() (string, []any) {
	clause, args := "e.segment_id = ?1", []any{q.sc.c.segment, nil, nil}
	if len(q.sc.pending.hidden) > 0 {
		clause += " AND e.id NOT IN (SELECT value FROM json_each(?2))"
		args[1] = q.sc.pending.hiddenJSON
	}
	if q.stored != nil {
		clause += " AND e.id IN (SELECT value FROM json_each(?3))"
		args[2] = q.stored.json()
	}
	return clause, args
}

func (q *question) condition(ctx context.Context, how scan, lo, hi int64) (condition, error) {
	c := &compiler{q: q.sc.q, s: q.sc.s, scan: how, lo: lo, hi: hi}
	return c.compile(ctx, q.Filter)
}

// all finds every stored record that the filter lets through. Without ids it
// is kept for the pages to come.
func (q *question) all(ctx context.Context) (idSet, error) {
	key := ""
	if q.stored == nil {
		key = fmt.Sprintf("%s %#v", q.sc.c.row.ID, q.Filter)
		if set, ok := q.sc.p.sets.get(key, q.sc.stamp); ok {
			return set, nil
		}
	}
	cond, err := q.condition(ctx, wholeSets, 0, 0)
	if err != nil {
		return nil, err
	}
	base, args := q.base()
	var list any
	err = q.sc.q.QueryRowContext(ctx, "SELECT group_concat(id) FROM (SELECT e.id FROM embeddings e NOT INDEXED WHERE "+base+cond.and()+")", cond.around(args...)...).Scan(&list)
	if err != nil {
		return nil, q.sc.c.damaged("embeddings", err)
	}
	set, err := parseIDs(list)
	if err == nil && key != "" {
		q.sc.p.sets.put(key, q.sc.stamp, set)
	}
	return set, err
}

// The records that a page looks at before it asks for the whole set. Walking
// the table costs a fraction of a microsecond a record, looking a value up
// some microseconds.
const (
	plainWindow    = 50_000
	filteredWindow = 1_000
)

// storedAfter finds the next stored records behind a number, need at most;
// fewer means that there are no more.
func (q *question) storedAfter(ctx context.Context, after int64, need int) ([]place, error) {
	if q.stored == nil {
		list, done, err := q.window(ctx, after, need)
		if err != nil || done {
			return list, err
		}
	}
	set, err := q.all(ctx)
	if err != nil {
		return nil, err
	}
	set = set.after(after)
	return q.places(ctx, set[:min(need, len(set))])
}

// window looks at the records close behind a number. It is done when it found
// as many as needed, or when there is nothing behind the window.
func (q *question) window(ctx context.Context, after int64, need int) ([]place, bool, error) {
	width := int64(plainWindow)
	if q.Where != nil || q.WhereDocument != nil {
		width = filteredWindow
	}
	// Numbers have gaps, wide ones where another collection was deleted.
	var first sql.NullInt64
	if err := q.sc.q.QueryRowContext(ctx, "SELECT min(id) FROM embeddings NOT INDEXED WHERE id > ?", after).Scan(&first); err != nil || !first.Valid {
		return nil, true, q.sc.c.damaged("embeddings", err)
	}
	lo := first.Int64 - 1
	hi := lo + min(width, math.MaxInt64-max(lo, 0))
	cond, err := q.condition(ctx, perRecord, lo, hi)
	if err != nil {
		return nil, false, err
	}
	base, args := q.base()
	args = append(args, lo, hi, need)
	list, err := q.readPlaces(ctx, "SELECT e.id, e.embedding_id, e.seq_id FROM embeddings e NOT INDEXED WHERE "+base+
		" AND e.id > ?4 AND e.id <= ?5"+cond.and()+" ORDER BY e.id LIMIT ?6", cond.around(args...))
	return list, len(list) >= need || hi >= q.sc.stamp.record, err
}

func (q *question) places(ctx context.Context, set idSet) ([]place, error) {
	return q.readPlaces(ctx, "SELECT e.id, e.embedding_id, e.seq_id FROM embeddings e NOT INDEXED WHERE e.segment_id = ?1"+
		" AND e.id IN (SELECT value FROM json_each(?2)) ORDER BY e.id", []any{q.sc.c.segment, set.json()})
}

func (q *question) readPlaces(ctx context.Context, query string, args []any) ([]place, error) {
	rows, err := q.sc.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, q.sc.c.damaged("embeddings", err)
	}
	defer rows.Close()
	var list []place
	for rows.Next() {
		var p place
		var id, seq any
		if err := rows.Scan(&p.stored, &id, &seq); err != nil {
			return nil, err
		}
		p.id, p.seq = textOr(id, ""), decodeSeqID(seq).Value
		list = append(list, p)
	}
	return list, q.sc.c.damaged("embeddings", rows.Err())
}

// after finds the next records behind a cursor, need at most, pending ones in
// their places.
func (q *question) after(ctx context.Context, from cursor, need int) ([]place, error) {
	list, err := q.storedBehind(ctx, from, need)
	if err != nil || q.sc.pending.none() {
		return list, err
	}
	changed := q.pending(q.sc.pending.changed)
	i := sort.Search(len(changed), func(i int) bool { return changed[i].stored > from.record })
	end := int64(math.MaxInt64)
	if len(list) == need {
		end = list[need-1].stored
	}
	err = q.sc.eachPending(ctx, changed[i:], q.Filter, func(r *pendingRecord, m backend.Metadata) (bool, error) {
		if r.stored > end {
			return false, nil
		}
		list = append(list, place{stored: r.stored, id: r.id, pending: r, contents: m})
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.stored, b.stored) })
	if len(list) >= need {
		return list[:need], nil
	}
	fresh := q.pending(q.sc.pending.fresh)
	i = sort.Search(len(fresh), func(i int) bool { return fresh[i].first > from.queued })
	err = q.sc.eachPending(ctx, fresh[i:], q.Filter, func(r *pendingRecord, m backend.Metadata) (bool, error) {
		list = append(list, place{id: r.id, pending: r, contents: m})
		return len(list) < need, nil
	})
	return list, err
}

// storedBehind passes over stored records that a page has already shown as
// fresh ones: the engine has applied the queue since.
func (q *question) storedBehind(ctx context.Context, from cursor, need int) ([]place, error) {
	if from.queued == 0 {
		return q.storedAfter(ctx, from.record, need)
	}
	var out []place
	after := from.record
	for len(out) < need {
		asked := need - len(out)
		list, err := q.storedAfter(ctx, after, asked)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			after = p.stored
			if p.seq > from.queued {
				out = append(out, p)
			}
		}
		if len(list) < asked {
			break
		}
	}
	return out, nil
}
