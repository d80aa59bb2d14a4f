package exact

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"castellan/palace/backend"
)

// scan walks the documents of a collection in rowid order.
type scan struct {
	query
	in        collection
	filter    backend.Filter
	condition condition
	include   backend.Include
	after     int64 // rowid; only rows behind it
	// Where SQL alone decides: rows to skip, and how many are wanted at most;
	// 0 means all.
	offset, limit int
}

// batch bounds the variables of one statement and the rows that SQLite holds
// for it.
const batch = 500

// run calls fn for every row that matches until it answers false.
func (s *scan) run(ctx context.Context, fn func(row) bool) error {
	if s.filter.IDs == nil {
		cond := condition{sql: "collection_id = ? AND rowid > ?", args: []any{s.in.id, s.after}}
		if s.condition.sql != "" || s.offset > 0 || s.limit > 0 {
			cond = s.chosen()
		}
		_, err := s.rows(ctx, cond, fn)
		return err
	}
	rowids, err := s.rowids(ctx)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(rowids, batch) {
		c := condition{sql: "rowid IN (?" + strings.Repeat(", ?", len(chunk)-1) + ")"}
		for _, id := range chunk {
			c.args = append(c.args, id)
		}
		if more, err := s.rows(ctx, c, fn); err != nil || !more {
			return err
		}
	}
	return nil
}

// chosen picks the rows by their rowids first: what has to be brought into the
// order of insertion should be numbers and not documents and vectors. The plus
// keeps SQLite from the index that is in this order already, when another one
// answers the condition: it would compute the condition for every row.
func (s *scan) chosen() condition {
	plus := ""
	if s.condition.sql != "" {
		plus = "+"
	}
	c := condition{
		sql:  "rowid IN (SELECT rowid FROM documents WHERE collection_id = ? AND " + plus + "rowid > ?",
		args: append([]any{s.in.id, s.after}, s.condition.args...),
	}
	if s.condition.sql != "" {
		c.sql += " AND " + s.condition.sql
	}
	limit := -1
	if s.limit > 0 {
		limit = s.limit
	}
	c.sql += " ORDER BY " + plus + "rowid LIMIT ? OFFSET ?)"
	c.args = append(c.args, limit, s.offset)
	return c
}

// rowids finds the ids that are asked for: an answer is in the order of
// insertion, whatever the order of the question.
func (s *scan) rowids(ctx context.Context) ([]int64, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(s.filter.IDs)))
	var list []int64
	for chunk := range slices.Chunk(ids, batch) {
		args := []any{s.in.id}
		for _, id := range chunk {
			args = append(args, id)
		}
		rows, err := s.tx.Query(ctx, "SELECT rowid FROM documents WHERE collection_id = ? AND id IN (?"+strings.Repeat(", ?", len(chunk)-1)+")", args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				rows.Close()
				return nil, err
			}
			if n > s.after {
				list = append(list, n)
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	return list, nil
}

// rows runs one statement and judges what it gives.
func (s *scan) rows(ctx context.Context, c condition, fn func(row) bool) (more bool, err error) {
	stmt, args := s.statement(c)
	rows, err := s.tx.Query(ctx, stmt, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		var r row
		var id, doc, meta, vec any
		if err := rows.Scan(&r.rowid, &id, &doc, &meta, &vec); err != nil {
			return false, err
		}
		r.id, _ = text(id)
		if d, ok := text(doc); ok {
			r.document = &d
			r.bytes += len(d)
		}
		if m, ok := text(meta); ok {
			r.metadata = []byte(m)
		}
		r.vector, _ = vec.([]byte)
		r.bytes += len(r.id) + len(r.metadata) + len(r.vector)
		if s.matches(r) && !fn(r) {
			return false, nil
		}
	}
	return true, rows.Err()
}

func (s *scan) matches(r row) bool {
	if s.condition.exact {
		return true
	}
	doc := ""
	if r.document != nil {
		doc = *r.document
	}
	return (s.filter.Where == nil || matches(s.filter.Where, decode(r.metadata))) && matchesDocument(s.filter.WhereDocument, doc)
}

// statement selects only what is needed: a document and a vector are most of a
// row. A vector is read only if it has the collection's dimension: 4 bytes for
// each float, so that no damaged length makes anybody allocate it.
func (s *scan) statement(c condition) (string, []any) {
	cols := []string{"rowid", "id", "NULL", "NULL", "NULL"}
	var args []any
	if s.include.Has(backend.Documents) || s.filter.WhereDocument != nil {
		cols[2] = "document"
	}
	if s.include.Has(backend.Metadatas) || s.filter.Where != nil && !s.condition.exact {
		cols[3] = "metadata_json"
	}
	if s.include.Has(backend.Embeddings) && s.in.info.Dimension != nil {
		cols[4] = "CASE WHEN typeof(embedding) = 'blob' AND length(embedding) = ? THEN embedding END"
		args = append(args, int64(*s.in.info.Dimension)*4)
	}
	stmt := "SELECT " + strings.Join(cols, ", ") + " FROM documents WHERE " + c.sql + " ORDER BY rowid"
	return stmt, append(args, c.args...)
}

// vector decodes little-endian float32; nil stays nil.
func vector(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// first is before every rowid.
const first = math.MinInt64

// A page's mark is the rowid of its last record.
func formatAfter(rowid int64) string { return strconv.FormatInt(rowid, 10) }

func parseAfter(s string) (int64, error) {
	if s == "" {
		return first, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no mark of a page of this palace: %w", s, err)
	}
	return n, nil
}
