package dbfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestASnapshotIsOneStateHoweverBusyTheWriter: the accounts always sum up to the same in a committed state, and in
// a copy that mixes two they hardly ever do.
func TestASnapshotIsOneStateHoweverBusyTheWriter(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "chroma.sqlite3")
			w := plain(t, path)
			mustExec(t, w, "PRAGMA journal_mode = "+mode,
				"CREATE TABLE account(id INTEGER PRIMARY KEY, n INTEGER, pad TEXT)",
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000) "+
					"INSERT INTO account SELECT i, 100, hex(zeroblob(3000)) FROM n")
			w.Close()
			p := start(t, "mover", path)
			db := mustOpen(t, path, Options{})
			for range 3 {
				snap, err := snapshotPatiently(t, db)
				if err != nil {
					t.Fatal(err)
				}
				var sum, rows int
				err = snap.View(t.Context(), func(tx *Tx) error {
					return tx.QueryRow(t.Context(), "SELECT sum(n), count(*) FROM account", nil, &sum, &rows)
				})
				if err != nil || sum != 200000 || rows != 2000 {
					t.Errorf("%d in %d accounts, %v", sum, rows, err)
				}
				if found, err := snap.QuickCheck(t.Context(), 0); err != nil || len(found) > 0 {
					t.Error(found, err)
				}
				if err := snap.Close(); err != nil {
					t.Error(err)
				}
			}
			if got := p.ask("stop"); got != "done" {
				t.Error(got)
			}
			p.end()
		})
	}
}

// snapshotPatiently tries again while a writer without a pause keeps the database locked.
func snapshotPatiently(t *testing.T, db *DB) (*DB, error) {
	dir := t.TempDir()
	for try := 0; ; try++ {
		snap, err := db.Snapshot(t.Context(), dir)
		if err == nil || !errors.Is(err, ErrBusy) || try == 20 {
			return snap, err
		}
	}
}

func TestASnapshotIsPrivateAndDeletedByClose(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 100)
	db := mustOpen(t, path, Options{CopyDir: scratch})
	snap, err := db.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if snap.Access() != AccessSnapshot || snap.Path() != path || snap.Facts().PageSize != 4096 {
		t.Errorf("%q %q %+v", snap.Access(), snap.Path(), snap.Facts())
	}
	for name, s := range stateOf(t, scratch, false) {
		if s.Mode.Perm() != 0o700 {
			t.Errorf("directory has mode %v", s.Mode)
		}
		for inner, s := range stateOf(t, filepath.Join(scratch, name), false) {
			if s.Mode.Perm() != 0o600 {
				t.Errorf("%s has mode %v", inner, s.Mode)
			}
		}
	}
	// The snapshot outlives the handle, and says nothing about what came after it.
	db.Close()
	w := plain(t, path)
	mustExec(t, w, "DELETE FROM drawer")
	w.Close()
	if got := count(t, snap); got != 100 {
		t.Errorf("%d rows", got)
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	if left := stateOf(t, scratch, false); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestACancelledSnapshotLeavesNothing(t *testing.T) {
	path, scratch := filepath.Join(t.TempDir(), "chroma.sqlite3"), t.TempDir()
	build(t, path, 100)
	db := mustOpen(t, path, Options{CopyDir: scratch})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Snapshot(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := stateOf(t, scratch, false); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestFullTextIntegrityIsAskedOfASnapshot: FTS5 spells the question as an INSERT, which no other handle lets pass.
func TestFullTextIntegrityIsAskedOfASnapshot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	w := plain(t, path)
	mustExec(t, w, "CREATE VIRTUAL TABLE text USING fts5(body, tokenize = 'trigram')",
		"INSERT INTO text(body) VALUES ('the first drawer'), ('the second drawer')")
	w.Close()
	ask := func(db *DB) error {
		return db.View(t.Context(), func(tx *Tx) error {
			rows, err := tx.Query(t.Context(), "INSERT INTO text(text) VALUES ('integrity-check')")
			if err != nil {
				return err
			}
			return rows.Close()
		})
	}
	db := mustOpen(t, path, Options{})
	if err := ask(db); !errors.Is(err, ErrWrite) {
		t.Errorf("the database itself answered %v", err)
	}
	snap, err := db.Snapshot(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(snap); err != nil {
		t.Errorf("healthy index: %v", err)
	}
	snap.Close()
	db.Close()

	w = plain(t, path)
	mustExec(t, w, "UPDATE text_content SET c0 = 'something else' WHERE id = 1")
	w.Close()
	db = mustOpen(t, path, Options{})
	snap, err = db.Snapshot(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var e *SQLError
	if err := ask(snap); !errors.Is(err, ErrCorrupt) || !errors.As(err, &e) || e.Code != 267 { // SQLITE_CORRUPT_VTAB
		t.Errorf("damaged index: %v", err)
	}
	if found, err := snap.QuickCheck(t.Context(), 0); err != nil || len(found) == 0 {
		t.Errorf("quick check of a damaged index: %v %v", found, err)
	}
}

// TestAQuickCheckCanBeCancelled also where there is much to tell: the driver interrupts only the first step.
func TestAQuickCheckCanBeCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 200_000)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 40; page < len(b)/4096; page += 400 {
		clear(b[page*4096+8 : page*4096+64])
	}
	write(t, path, b)
	db := mustOpen(t, path, Options{})
	found, err := db.QuickCheck(t.Context(), 3)
	if err != nil || len(found) != 3 {
		t.Errorf("%d messages, %v", len(found), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if found, err := db.QuickCheck(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v after %d messages", err, len(found))
	}
	if _, err := db.QuickCheck(t.Context(), 3); err != nil {
		t.Errorf("the handle did not survive: %v", err)
	}
}

func TestABackupStaysAndOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "chroma.sqlite3"), filepath.Join(t.TempDir(), "kept.sqlite3")
	build(t, path, 100)
	db := mustOpen(t, path, Options{})
	if err := db.Backup(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	for name, s := range stateOf(t, filepath.Dir(kept), false) {
		if name != "kept.sqlite3" || s.Mode.Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, s.Mode)
		}
	}
	before := stateOf(t, filepath.Dir(kept), true)
	if err := db.Backup(t.Context(), kept); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	untouched(t, filepath.Dir(kept), before, true)
	if got := count(t, mustOpen(t, kept, Options{})); got != 100 {
		t.Errorf("%d rows", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Backup(ctx, kept+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(kept + "2"); !os.IsNotExist(err) {
		t.Errorf("a cancelled backup left something: %v", err)
	}
}
