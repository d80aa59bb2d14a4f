package chroma

import (
	"context"
	"errors"
	"strings"
)

var errEnough = errors.New("enough")

// applier does to the metadata tables what Chroma does with a queue row.
type applier struct {
	tx      *writeTx
	segment string
	texts   texts
	// unused says that rows of dead records were removed from the numbers
	// which new records will get.
	unused bool
}

// catchUp applies what waits in the queue, in order. The position must not pass
// a row that is not applied: nobody would ever apply it.
func (g *ground) catchUp(ctx context.Context) (*applier, error) {
	ap := &applier{tx: g.tx, segment: g.c.segment, texts: texts{tx: g.tx, by: map[int64]*textChange{}}}
	position := g.row.maxSeqID(ScopeMetadata)
	if g.queueTop <= position {
		return ap, nil
	}
	sc := &scope{c: g.c, q: g.tx, s: g.s, dimension: g.row.Dimension}
	for {
		step, err := g.waiting(ctx, sc, position)
		if err != nil {
			return nil, err
		}
		for _, r := range step {
			if err := ap.apply(r); err != nil {
				return nil, err
			}
			position = r.seq
		}
		if len(step) < catchUpStep {
			return ap, nil
		}
	}
}

// catchUpStep bounds how many waiting writes are held at once.
const catchUpStep = 500

func (g *ground) waiting(ctx context.Context, sc *scope, above int64) ([]queueRow, error) {
	var step []queueRow
	err := sc.eachQueued(ctx, above, func(r queueRow) error {
		if r.fault != "" {
			return g.w.refuse(g.row.Name, RefusedQueue, "row %d of the queue waits to be applied and cannot be: %s", r.seq, r.fault)
		}
		step = append(step, r)
		if len(step) == catchUpStep {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return step, err
}

// apply follows the engine: an add of a known id and an update of an unknown
// one change nothing; what a write does not name stays.
func (a *applier) apply(r queueRow) error {
	number, known, err := a.tx.number("embeddings", "SELECT id FROM embeddings WHERE segment_id = ? AND embedding_id = ?", a.segment, r.id)
	if err != nil {
		return err
	}
	switch {
	case r.op == OpDelete && known:
		return a.remove(number)
	case r.op == OpDelete, r.op == OpAdd && known, r.op == OpUpdate && !known:
		return nil
	case known:
		_, err = a.tx.again("embeddings", "UPDATE embeddings SET seq_id = ? WHERE id = ?", r.seq, number)
	default:
		number, err = a.insert(r)
	}
	if err != nil {
		return err
	}
	if err := a.merge(number, r, !known); err != nil {
		return err
	}
	if doc := text(r.metadata[documentKey]); doc != nil {
		return a.texts.replace(number, doc, known)
	}
	return nil
}

func (a *applier) insert(r queueRow) (int64, error) {
	if err := a.clearUnused(); err != nil {
		return 0, err
	}
	res, err := a.tx.again("embeddings", "INSERT INTO embeddings (segment_id, embedding_id, seq_id) VALUES (?, ?, ?)", a.segment, r.id, r.seq)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// clearUnused removes what dead records left behind under numbers that are
// about to be given out again: Chroma deletes a collection without its list
// metadata, and a new record then shows a dead one's lists.
func (a *applier) clearUnused() error {
	if a.unused {
		return nil
	}
	a.unused = true
	for _, table := range recordTables {
		if err := a.tx.exec(table.name, "DELETE FROM "+table.name+" WHERE "+table.key+" > (SELECT COALESCE(max(id), 0) FROM embeddings)"); err != nil {
			return err
		}
	}
	return nil
}

// recordTables hold a record's parts by its number.
var recordTables = [...]struct{ name, key string }{
	{"embedding_metadata", "id"}, {"embedding_metadata_array", "id"}, {ftsTable, "rowid"},
}

// remove deletes a record and everything under its number.
func (a *applier) remove(number int64) error {
	if err := a.texts.replace(number, nil, true); err != nil {
		return err
	}
	if _, err := a.tx.again("embeddings", "DELETE FROM embeddings WHERE id = ?", number); err != nil {
		return err
	}
	for _, table := range []string{"embedding_metadata", "embedding_metadata_array"} {
		if _, err := a.tx.again(table, "DELETE FROM "+table+" WHERE id = ?", number); err != nil {
			return err
		}
	}
	return nil
}

// merge writes metadata. A key that becomes a list leaves the table of scalars
// and the other way round.
func (a *applier) merge(number int64, r queueRow, fresh bool) error {
	gone := r.deleted
	var scalars, lists []valueRow
	for _, key := range r.metadata.Keys() {
		rows, isList := valueRows(key, r.metadata[key])
		if isList {
			lists = append(lists, rows...)
			gone = append(gone[:len(gone):len(gone)], key)
		} else {
			scalars = append(scalars, rows...)
		}
	}
	if !fresh {
		if err := a.forget("embedding_metadata", number, gone); err != nil {
			return err
		}
		has, _, err := a.tx.number("embedding_metadata_array", "SELECT EXISTS (SELECT 1 FROM embedding_metadata_array WHERE id = ?)", number)
		if err != nil {
			return err
		}
		if has != 0 {
			if err := a.forget("embedding_metadata_array", number, append(gone[:len(gone):len(gone)], r.metadata.Keys()...)); err != nil {
				return err
			}
		}
	}
	const replace = ` ON CONFLICT (id, key) DO UPDATE SET string_value = excluded.string_value,
		int_value = excluded.int_value, float_value = excluded.float_value, bool_value = excluded.bool_value`
	if err := a.fill("embedding_metadata", number, scalars, replace); err != nil {
		return err
	}
	return a.fill("embedding_metadata_array", number, lists, "")
}

func (a *applier) forget(table string, number int64, keys []string) error {
	for _, key := range keys {
		if _, err := a.tx.again(table, "DELETE FROM "+table+" WHERE id = ? AND key = ?", number, key); err != nil {
			return err
		}
	}
	return nil
}

// valueRow is a metadata value, or one element of a list, by the typed column
// that holds it.
type valueRow struct {
	key, column string
	value       any
}

var valueColumns = [...]string{"string_value", "int_value", "float_value", "bool_value"}

// rowsAtOnce bounds the rows that one statement inserts.
const rowsAtOnce = 16

func (a *applier) fill(table string, number int64, rows []valueRow, conflict string) error {
	const one = "(?, ?, ?, ?, ?, ?)"
	for len(rows) > 0 {
		n := min(len(rows), rowsAtOnce)
		args := make([]any, 0, 6*n)
		for _, r := range rows[:n] {
			args = append(args, number, r.key)
			for _, column := range valueColumns {
				if column == r.column {
					args = append(args, r.value)
				} else {
					args = append(args, nil)
				}
			}
		}
		_, err := a.tx.again(table, "INSERT INTO "+table+" (id, key, string_value, int_value, float_value, bool_value) VALUES "+
			one+strings.Repeat(", "+one, n-1)+conflict, args...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// moveTo records that everything up to a number is applied. The position of
// the vector segment is never ours to move: it says what the index files hold.
func (a *applier) moveTo(seq int64) error {
	if err := a.texts.flush(); err != nil {
		return err
	}
	return a.tx.exec("max_seq_id", "INSERT INTO max_seq_id (segment_id, seq_id) VALUES (?, ?) ON CONFLICT (segment_id) DO UPDATE SET seq_id = excluded.seq_id", a.segment, seq)
}

// valueRows spells a value as rows; list reports one of the list types.
func valueRows(key string, v any) (rows []valueRow, list bool) {
	switch v := v.(type) {
	case []string:
		return elementRows(key, v), true
	case []int64:
		return elementRows(key, v), true
	case []float64:
		return elementRows(key, v), true
	case []bool:
		return elementRows(key, v), true
	}
	return []valueRow{scalarRow(key, v)}, false
}

func elementRows[T any](key string, list []T) []valueRow {
	rows := make([]valueRow, len(list))
	for i, v := range list {
		rows[i] = scalarRow(key, v)
	}
	return rows
}

func scalarRow(key string, v any) valueRow {
	switch v := v.(type) {
	case string:
		return valueRow{key, "string_value", v}
	case int64:
		return valueRow{key, "int_value", v}
	case float64:
		return valueRow{key, "float_value", v}
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		return valueRow{key, "bool_value", n}
	}
	return valueRow{key: key}
}
