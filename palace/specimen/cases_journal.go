package specimen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// journalCases are about the files beside the database. The salts in them are
// drawn by SQLite, so their bytes differ from one making to the next.
func journalCases() []Sickness {
	return []Sickness{
		{
			Name: "hot-journal", Title: "writer died in mid-commit", Case: "SQLite: hot journal", Base: "healthy", Effect: Works,
			Story: "A writer was killed while its changes were half in the database. The journal beside it holds what was there before; whoever opens the database for writing rolls back.",
			Apply: hotJournal,
		},
		{
			Name: "wal-orphaned", Title: "log without its index", Case: "MemPalace #2489", Base: "fresh", Effect: Works,
			Story: "The palace is in WAL mode. Two drawers are only in the -wal file, and -shm was lost in a copy: who does not read the log sees 5 drawers of 7.",
			Apply: orphanedWAL,
		},
		{
			Name: "wal-clean", Title: "WAL mode, no side files", Case: "MemPalace #2489", Base: "fresh", Healthy: true, Effect: Works,
			Story: "A tool switched the palace to WAL mode and closed it properly. Opened read-only, SQLite would make side files or fail.",
			Apply: func(ctx context.Context, dir string) error { return walMode(ctx, dir) },
		},
		{
			Name: "shm-alone", Title: "-shm without -wal", Case: "MemPalace #2489", Base: "fresh", Effect: Works,
			Story: "The palace is in WAL mode and only the -shm file was left behind.",
			Apply: func(ctx context.Context, dir string) error {
				if err := walMode(ctx, dir); err != nil {
					return err
				}
				return growSparse(filepath.Join(dir, Database+"-shm"), 32<<10)
			},
		},
		{
			Name: "journal-cold", Title: "journal of no use", Case: "SQLite: journal_mode persist", Base: "fresh", Healthy: true, Effect: Works,
			Story: "A journal lies beside the database, but its header is zeroed: its transaction is complete.",
			Apply: func(_ context.Context, dir string) error {
				return growSparse(filepath.Join(dir, Database+"-journal"), 4096)
			},
		},
	}
}

// hotJournal stops a transaction when its first pages have been spilled to the
// database and the journal that undoes them has been synced, and keeps both
// files as they are at that moment.
func hotJournal(ctx context.Context, dir string) (err error) {
	db, err := openDatabase(dir, "journal_mode(delete)", "synchronous(full)", "cache_size(8)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	// Enough dirty pages to overflow a cache of eight.
	if err := execEach(ctx, tx, "UPDATE embedding_metadata SET string_value = upper(string_value) WHERE key = 'wing'"); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	database, journal := filepath.Join(dir, Database), filepath.Join(dir, Database+"-journal")
	half, err1 := os.ReadFile(database)
	undo, err2 := os.ReadFile(journal)
	if err := errors.Join(err1, err2, tx.Rollback(), db.Close()); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(database, half, 0o600), os.WriteFile(journal, undo, 0o600))
}

// walMode switches the journal mode, which stays in the file.
func walMode(ctx context.Context, dir string) (err error) {
	db, err := openDatabase(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %s, not wal", mode)
	}
	return nil
}

// orphanedWAL commits two drawers to the log, and keeps database and log as
// they are before closing would merge them.
func orphanedWAL(ctx context.Context, dir string) (err error) {
	if err := walMode(ctx, dir); err != nil {
		return err
	}
	db, err := openDatabase(dir, "wal_autocheckpoint(0)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fileTwo(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	database, wal := filepath.Join(dir, Database), filepath.Join(dir, Database+"-wal")
	base, err1 := os.ReadFile(database)
	frames, err2 := os.ReadFile(wal)
	if err := errors.Join(err1, err2, db.Close()); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(database, base, 0o600), os.WriteFile(wal, frames, 0o600))
}

// fileTwo files two more drawers into the sample "fresh", as Chroma would.
func fileTwo(ctx context.Context, tx *sql.Tx) (err error) {
	c := collection{name: Drawers}
	var seq int64
	err = tx.QueryRowContext(ctx, placeholders.Replace("SELECT {drawers}, {vector}, {metadata}, (SELECT max(seq_id) FROM embeddings_queue)")).
		Scan(&c.id, &c.vectors, &c.records, &seq)
	if err != nil {
		return err
	}
	f := newFiler(ctx, tx)
	defer func() { err = errors.Join(err, f.close()) }()
	if err := tx.QueryRowContext(ctx, "SELECT max(id) FROM embeddings").Scan(&f.row); err != nil {
		return err
	}
	spec, err := Spec{Rows: 2}.withDefaults()
	if err != nil {
		return err
	}
	m, source, vector := newMiner(spec), newVectors(7, spec.Dimension, 2), make([]float32, spec.Dimension)
	for i := range 2 {
		rec := m.next()
		source.row(i, vector)
		seq++
		if err := errors.Join(f.queue(c, rec, seq, vector), f.apply(c, rec, seq)); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE max_seq_id SET seq_id = ? WHERE segment_id = ?", seq, c.records)
	return err
}
