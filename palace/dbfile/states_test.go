//go:build unix

package dbfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// state is one way a database is found in the wild, with how it must be read and how many rows must be seen.
type state struct {
	name   string
	make   func(t *testing.T, path string) (during func())
	access Access
	rows   int
	check  func(t *testing.T, f Facts)
}

func states() []state {
	nothing := func() {}
	return []state{
		{"rollback journal, clean", func(t *testing.T, path string) func() {
			build(t, path, 500)
			return nothing
		}, AccessRO, 500, func(t *testing.T, f Facts) {
			if f.WALMode || f.JournalState != NoJournal || f.PageSize != 4096 || f.Encoding != "UTF-8" || f.MissingBytes() != 0 {
				t.Errorf("facts: %+v", f)
			}
		}},
		{"persisted journal, cold", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = PERSIST")
			return nothing
		}, AccessRO, 500, func(t *testing.T, f Facts) {
			if !f.Journal.Present || f.Journal.Size == 0 || f.JournalState != ColdJournal || f.Hot {
				t.Errorf("journal %+v %q", f.Journal, f.JournalState)
			}
		}},
		{"truncated journal, empty", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = TRUNCATE")
			return nothing
		}, AccessRO, 500, func(t *testing.T, f Facts) {
			if !f.Journal.Present || f.JournalState != NoJournal {
				t.Errorf("journal %+v %q", f.Journal, f.JournalState)
			}
		}},
		{"writer at work, reserved", func(t *testing.T, path string) func() {
			build(t, path, 500)
			db := plain(t, path) // its own process would do as well, but see Hold
			release, err := Hold(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, db, "BEGIN", "UPDATE drawer SET body = NULL WHERE id = 1")
			return func() { db.Close(); release() }
		}, AccessRO, 500, func(t *testing.T, f Facts) {
			if f.JournalState != InUseJournal || f.Hot {
				t.Errorf("journal %q", f.JournalState)
			}
		}},
		{"hot journal", func(t *testing.T, path string) func() {
			makeHot(t, path)
			return nothing
		}, AccessCopy, 5000, func(t *testing.T, f Facts) {
			if !f.Hot || f.JournalState != HotJournal {
				t.Errorf("journal %q", f.JournalState)
			}
		}},
		{"journal of garbage", func(t *testing.T, path string) func() {
			build(t, path, 500)
			write(t, path+"-journal", []byte("not a journal at all"))
			return nothing
		}, AccessImmutable, 500, func(t *testing.T, f Facts) {
			if f.Hot || f.JournalState != SpentJournal {
				t.Errorf("journal %q", f.JournalState)
			}
		}},
		{"WAL, closed cleanly", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = WAL")
			return nothing
		}, AccessImmutable, 500, func(t *testing.T, f Facts) {
			if !f.WALMode || f.WAL.Present || f.SHM.Present || f.Partial() {
				t.Errorf("facts: %+v", f)
			}
		}},
		{"WAL, live writer", func(t *testing.T, path string) func() {
			build(t, path, 500)
			p := start(t, "wal", path)
			p.ask("add")
			return func() { p.end() }
		}, AccessWAL, 501, func(t *testing.T, f Facts) {
			if !f.WALMode || !f.WAL.Present || !f.SHM.Present || f.WALFrames != 0 {
				t.Errorf("facts: %+v", f)
			}
		}},
		{"WAL, live writer, log still empty", func(t *testing.T, path string) func() {
			build(t, path, 500)
			p := start(t, "wal", path)
			p.ask("add")
			p.ask("checkpoint")
			return func() { p.end() }
		}, AccessWAL, 501, nil},
		{"WAL, writer killed, both sidecars left", func(t *testing.T, path string) func() {
			orphan(t, path)
			return nothing
		}, AccessWAL, 503, nil},
		{"WAL, live writer, index wrecked", func(t *testing.T, path string) func() {
			build(t, path, 500)
			p := start(t, "wal", path)
			p.ask("add")
			patch(t, path+"-shm", 0, make([]byte, 136)) // a reader that may not write cannot rebuild it
			return func() { p.end() }
		}, AccessCopy, 501, nil},
		{"WAL, frames without -shm", func(t *testing.T, path string) func() {
			orphan(t, path)
			remove(t, path+"-shm")
			return nothing
		}, AccessCopy, 503, func(t *testing.T, f Facts) {
			if f.WALFrames < 3 || !f.Partial() {
				t.Errorf("%d frames, partial %v", f.WALFrames, f.Partial())
			}
		}},
		{"WAL, -shm without -wal", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = WAL")
			write(t, path+"-shm", make([]byte, 32768))
			return nothing
		}, AccessImmutable, 500, func(t *testing.T, f Facts) {
			if !f.Partial() {
				t.Error("the pair is not told as partial")
			}
		}},
		{"WAL, empty -wal without -shm", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = WAL")
			write(t, path+"-wal", nil)
			return nothing
		}, AccessImmutable, 500, func(t *testing.T, f Facts) {
			if !f.Partial() {
				t.Error("the pair is not told as partial")
			}
		}},
		{"WAL, log of garbage without -shm", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = WAL")
			write(t, path+"-wal", make([]byte, 10000))
			return nothing
		}, AccessImmutable, 500, nil},
		{"WAL, log and index of garbage", func(t *testing.T, path string) func() {
			build(t, path, 500, "PRAGMA journal_mode = WAL")
			write(t, path+"-wal", make([]byte, 10000))
			write(t, path+"-shm", make([]byte, 100))
			return nothing
		}, AccessImmutable, 500, nil},
		{"rollback header, frames in a -wal", func(t *testing.T, path string) func() {
			orphan(t, path)
			remove(t, path+"-shm")
			patch(t, path, 18, []byte{1, 1}) // as a restored backup beside a newer log
			return nothing
		}, AccessCopy, 503, nil},
		{"rollback journal, empty -wal left behind", func(t *testing.T, path string) func() {
			build(t, path, 500)
			write(t, path+"-wal", nil)
			return nothing
		}, AccessRO, 500, nil},
		{"first page torn, journal hot", func(t *testing.T, path string) func() {
			makeHot(t, path)
			patch(t, path, 0, make([]byte, 100))
			return nothing
		}, AccessCopy, 5000, nil},
	}
}

func TestEveryStateIsReadInTheRightWayAndLeftAsItIs(t *testing.T) {
	for _, s := range states() {
		t.Run(s.name, func(t *testing.T) {
			dir, scratch := t.TempDir(), t.TempDir()
			path := filepath.Join(dir, "chroma.sqlite3")
			during := s.make(t, path)
			t.Cleanup(during)
			// Where the state includes a live connection of this process, contents are only read after it is gone.
			contents := s.name != "writer at work, reserved"
			before := stateOf(t, dir, contents)

			facts, err := Inspect(t.Context(), path)
			if err != nil && !facts.Hot {
				t.Fatal(err)
			}
			if s.check != nil {
				s.check(t, facts)
			}
			db, err := Open(t.Context(), path, Options{CopyDir: scratch})
			if err != nil {
				t.Fatal(err)
			}
			if db.Access() != s.access {
				t.Errorf("read as %q, want %q", db.Access(), s.access)
			}
			if got := count(t, db); got != s.rows {
				t.Errorf("saw %d rows, want %d", got, s.rows)
			}
			untouched(t, dir, before, false)
			snap, err := db.Snapshot(t.Context(), scratch)
			if err != nil {
				t.Fatal(err)
			}
			if got := count(t, snap); got != s.rows {
				t.Errorf("snapshot has %d rows, want %d", got, s.rows)
			}
			for _, h := range []*DB{db, snap} {
				if found, err := h.QuickCheck(t.Context(), 0); err != nil || len(found) > 0 {
					t.Errorf("quick check on %q: %v %v", h.Access(), found, err)
				}
				if err := h.Stale(t.Context()); err != nil {
					t.Error(err)
				}
			}
			untouched(t, dir, before, false)
			if err := snap.Close(); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			untouched(t, dir, before, contents)
			if left := stateOf(t, scratch, false); len(left) > 0 {
				t.Errorf("private files left: %v", left)
			}
			if contents {
				if left := descriptors(t, dir); len(left) > 0 {
					t.Errorf("descriptors left open: %v", left)
				}
			}
		})
	}
}

// makeHot kills a writer in the middle of a transaction of which a part has reached the file.
func makeHot(t *testing.T, path string) {
	t.Helper()
	build(t, path, 5000)
	start(t, "hot", path).kill()
	info, err := os.Stat(path + "-journal")
	if err != nil || info.Size() == 0 {
		t.Fatalf("the killed writer left no journal: %v", err)
	}
}

// orphan leaves a log with three committed rows that nobody has open.
func orphan(t *testing.T, path string) {
	t.Helper()
	build(t, path, 500)
	p := start(t, "wal", path)
	for range 3 {
		if got := p.ask("add"); got != "done" {
			t.Fatal(got)
		}
	}
	p.kill()
}

// TestConnectingAloneTouchesNothing holds the assumption behind every view: SQLite reads nothing but the header before
// the first statement, so that the state can be checked, and guarded, between connecting and reading.
func TestConnectingAloneTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 10, "PRAGMA journal_mode = WAL")
	before := stateOf(t, dir, true)
	pool := plain(t, path, append([]string{"mode=ro"}, lookParams...)...)
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	untouched(t, dir, before, false)
	// And the first read does create sidecars, which is why mode=ro alone will not do.
	var n int
	if err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM drawer").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path + "-shm"); err != nil {
		t.Error("mode=ro created no -shm: the rule that forbids it here has lost its reason")
	}
	conn.Close()
	pool.Close()
}
