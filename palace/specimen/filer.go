package specimen

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"
)

// filer inserts rows into every table in which Chroma keeps a record.
type filer struct {
	ctx  context.Context
	tx   *sql.Tx
	row  int64 // the last embeddings.id
	stmt map[string]*sql.Stmt
}

func newFiler(ctx context.Context, tx *sql.Tx) *filer {
	return &filer{ctx: ctx, tx: tx, stmt: map[string]*sql.Stmt{}}
}

func (f *filer) exec(query string, args ...any) error {
	s, ok := f.stmt[query]
	if !ok {
		var err error
		if s, err = f.tx.PrepareContext(f.ctx, query); err != nil {
			return err
		}
		f.stmt[query] = s
	}
	_, err := s.ExecContext(f.ctx, args...)
	return err
}

// close gives the statements back.
func (f *filer) close() error {
	var errs []error
	for _, s := range f.stmt {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// apply is what Chroma's metadata writer does with a record it took from the
// queue: embeddings, metadata with the document among it, full-text search.
func (f *filer) apply(c collection, rec record, seq int64) error {
	f.row++
	err := f.exec("INSERT INTO embeddings(id, segment_id, embedding_id, seq_id, created_at) VALUES(?, ?, ?, ?, ?)",
		f.row, c.records, rec.id, seq, createdAt(seq))
	if err != nil {
		return err
	}
	fields := append(rec.metadata, field{"chroma:document", rec.document})
	query := "INSERT OR ROLLBACK INTO embedding_metadata(id, key, string_value, int_value, float_value) VALUES" +
		strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?),", len(fields)), ",")
	args := make([]any, 0, 5*len(fields))
	for _, m := range fields {
		var s, i, r any
		switch m.value.(type) {
		case string:
			s = m.value
		case int:
			i = m.value
		case float64:
			r = m.value
		}
		args = append(args, f.row, m.key, s, i, r)
	}
	if err := f.exec(query, args...); err != nil {
		return err
	}
	return f.exec("INSERT INTO embedding_fulltext_search(rowid, string_value) VALUES(?, ?)", f.row, rec.document)
}

// queue logs a record as an upsert with its vector, which is what MemPalace
// writes.
func (f *filer) queue(c collection, rec record, seq int64, vector []float32) error {
	metadata := object{"chroma:document": rec.document}
	for _, m := range rec.metadata {
		metadata[m.key] = m.value
	}
	b, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	return f.exec(`INSERT INTO embeddings_queue(seq_id, created_at, operation, topic, id, vector, encoding, metadata)
		VALUES(?, ?, 2, ?, ?, ?, 'FLOAT32', ?)`, seq, createdAt(seq), c.topic(), rec.id, floatBytes(vector), string(b))
}

// createdAt is a time in the form of SQLite's CURRENT_TIMESTAMP.
func createdAt(seq int64) string {
	return firstFiled.Add(time.Duration(seq) * time.Second).Format(time.DateTime)
}

// floatBytes are the vector as queue and index store it: float32, little-endian.
func floatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
