package specimen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
)

// The collections of a palace.
const (
	Drawers = "mempalace_drawers"
	Closets = "mempalace_closets"
)

// Generate fills dir, which must be an empty palace (CopyFS of the sample
// "empty": the tables and migrations of a first start), with a palace of the
// asked shape: formally what Chroma would have left on disk. 200,000 drawers
// take one to two minutes, 300 MB of memory and 2 GB of disk.
//
// It builds without a journal: when it fails or is cancelled, dir is of no use
// any more.
func Generate(ctx context.Context, dir string, spec Spec) (err error) {
	s, err := spec.withDefaults()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("generate %d drawers in %s: %w", s.Rows, dir, err)
		}
	}()
	db, err := openDatabase(dir, "journal_mode(off)", "synchronous(off)", "cache_size(-65536)", "locking_mode(exclusive)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var there int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM collections").Scan(&there); err != nil {
		return err
	}
	if there > 0 {
		return fmt.Errorf("%w: %d collections", ErrNotEmpty, there)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := generate(ctx, tx, dir, s); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// generate makes the palace's rows and index files.
func generate(ctx context.Context, tx *sql.Tx, dir string, s Spec) (err error) {
	f := newFiler(ctx, tx)
	defer func() { err = errors.Join(err, f.close()) }()
	// Large segments that are never merged halve the time. The settings would
	// stay in the file, where Chroma has none: they are taken out at the end.
	if err := execEach(ctx, tx,
		"INSERT INTO embedding_fulltext_search(embedding_fulltext_search, rank) VALUES('automerge', 0)",
		"INSERT INTO embedding_fulltext_search(embedding_fulltext_search, rank) VALUES('hashsize', 33554432)"); err != nil {
		return err
	}
	if err := fileAll(f, dir, s); err != nil {
		return err
	}
	return execEach(ctx, tx, "DELETE FROM embedding_fulltext_search_config WHERE k IN ('automerge', 'hashsize')")
}

// fileAll files the drawers, then the closets.
func fileAll(f *filer, dir string, s Spec) error {
	m := newMiner(s)
	drawers := batch{collection: newCollection(Drawers, s.Seed), rows: s.Rows, indexed: s.Rows - s.Queued, lostFrom: s.lostFrom, lostTo: s.lostTo}
	if err := drawers.file(f, dir, s, func(int) record { return m.next() }); err != nil {
		return err
	}
	if s.Closets == 0 || len(m.sources) == 0 {
		return nil
	}
	closets := batch{collection: newCollection(Closets, s.Seed), rows: s.Closets, after: int64(s.Rows)}
	if !s.Unflushed {
		closets.indexed = s.Closets - s.Closets%s.SyncThreshold
	}
	return closets.file(f, dir, s, func(i int) record { return closet(i, m.sources, s.Seed) })
}

// batch is the rows of one collection.
type batch struct {
	collection
	rows    int
	indexed int   // so many of the first rows are in the index
	after   int64 // the sequence number before the first

	lostFrom, lostTo int // as in Spec
}

// file creates the collection and files its rows: metadata of all of them,
// vectors into the index or the queue.
func (b batch) file(f *filer, dir string, s Spec, next func(int) record) (err error) {
	if err := b.create(f.ctx, f.tx, s, b.rows); err != nil || b.rows == 0 {
		return err
	}
	w, err := newIndexWriter(filepath.Join(dir, b.vectors), b.indexed-(b.lostTo-b.lostFrom), s.Dimension)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	source := newVectors(s.Seed^uint64(b.after), s.Dimension, b.rows)
	vector := make([]float32, s.Dimension)
	for i := range b.rows {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		rec, seq := next(i), b.after+int64(i)+1
		source.row(i, vector)
		if err := f.apply(b.collection, rec, seq); err != nil {
			return err
		}
		if i < b.indexed && (i < b.lostFrom || i >= b.lostTo) {
			if err := w.add(rec.id, vector); err != nil {
				return err
			}
		}
		// Chroma purges what the index holds, but never the row with the
		// highest number the index has seen: seq_id is a bare rowid, and an
		// emptied queue would hand out low numbers again.
		if i >= b.indexed-1 {
			if err := f.queue(b.collection, rec, seq, vector); err != nil {
				return err
			}
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	if b.indexed > 0 {
		if err := f.exec("INSERT INTO max_seq_id(segment_id, seq_id) VALUES(?, ?)", b.vectors, b.after+int64(b.indexed)); err != nil {
			return err
		}
	}
	return f.exec("INSERT INTO max_seq_id(segment_id, seq_id) VALUES(?, ?)", b.records, b.after+int64(b.rows))
}
