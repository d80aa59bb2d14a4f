//go:build unix

package dbfile

import (
	"database/sql"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["header only"] = playHeaderOnly }

// playHeaderOnly is a writer whose log has no room for more than its header. It answers with what its first
// transaction came to; told to go on, it has room again.
func playHeaderOnly(db *sql.DB) (func(string) string, error) {
	for _, s := range []string{"PRAGMA journal_mode = WAL", "SELECT count(*) FROM drawer"} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	signal.Ignore(syscall.SIGXFSZ)
	room := func(bytes uint64) error {
		var now unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil {
			return err
		}
		now.Cur = min(bytes, now.Max)
		return unix.Setrlimit(unix.RLIMIT_FSIZE, &now)
	}
	add := func() error { _, err := db.Exec("INSERT INTO drawer(body) VALUES ('from the peer')"); return err }
	if err := room(walHeaderSize); err != nil {
		return nil, err
	}
	if err := add(); err == nil {
		return nil, errors.New("there was room for a frame")
	}
	return func(string) string {
		if err := errors.Join(room(1<<40), add()); err != nil {
			return err.Error()
		}
		return "done"
	}, nil
}

// headerOnly leaves a database of 500 rows with a log that a writer, still alive, has begun and not filled.
func headerOnly(t *testing.T) (path string, writer *peer) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 500, "PRAGMA journal_mode = WAL")
	writer = start(t, "header only", path)
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() != walHeaderSize {
		t.Fatalf("the writer left %v, %v", info, err)
	}
	if _, err := os.Stat(path + "-shm"); err != nil {
		t.Fatal(err)
	}
	return path, writer
}

func wantAccess(t *testing.T, db *DB, access Access, rows int) {
	t.Helper()
	if db.Access() != access {
		t.Errorf("read as %q, want %q", db.Access(), access)
	}
	if got := count(t, db); got != rows {
		t.Errorf("saw %d rows, want %d", got, rows)
	}
}

func TestALogThatAKilledWriterHasOnlyBegunIsReadPast(t *testing.T) {
	t.Parallel()
	path, writer := headerOnly(t)
	alive := mustOpen(t, path, Options{})
	wantAccess(t, alive, AccessWAL, 500)
	writer.kill()

	before := stateOf(t, filepath.Dir(path), false)
	var stale *StaleError
	if err := viewError(t, alive); !errors.As(err, &stale) {
		t.Errorf("a handle from the writer's lifetime: %v", err)
	}
	dead := mustOpen(t, path, Options{})
	wantAccess(t, dead, AccessImmutable, 500)
	if err := dead.Stale(t.Context()); err != nil {
		t.Error(err)
	}
	untouched(t, filepath.Dir(path), before, false)

	// SQLite by itself cannot read it, which is why we must not ask it to.
	if testing.Short() {
		return
	}
	pool := plain(t, path, "mode=ro", "readonly_shm=1")
	defer pool.Close()
	var n int
	if err := pool.QueryRow("SELECT count(*) FROM drawer").Scan(&n); err == nil {
		t.Logf("SQLite reads %d rows from it now: the special case can go", n)
		t.Fail()
	}
}

// A writer may come at any time, and the file is then read with its log again.
func TestAWriterAfterAKilledOneIsNoticed(t *testing.T) {
	t.Parallel()
	path, writer := headerOnly(t)
	writer.kill()
	db := mustOpen(t, path, Options{})
	wantAccess(t, db, AccessImmutable, 500)

	next := start(t, "wal", path)
	for i, want := range []int{501, 502} {
		if got := next.ask("add"); got != "done" {
			t.Fatal(got)
		}
		var stale *StaleError
		if err := viewError(t, db); i == 0 && !errors.As(err, &stale) {
			t.Errorf("after a commit: %v", err)
		}
		again := mustOpen(t, path, Options{})
		wantAccess(t, again, AccessWAL, want)
		if i == 0 {
			continue
		}
		if err := next.end(); err != nil {
			t.Error(err)
		}
		wantAccess(t, mustOpen(t, path, Options{}), AccessImmutable, want)
	}
}

// While the writer lives its index tells everything, and nobody is told that it has died.
func TestALogThatALivingWriterHasOnlyBegunIsReadWithIt(t *testing.T) {
	t.Parallel()
	path, writer := headerOnly(t)
	db := mustOpen(t, path, Options{})
	wantAccess(t, db, AccessWAL, 500)
	if got := writer.ask("go on"); got != "done" {
		t.Fatal(got)
	}
	wantAccess(t, db, AccessWAL, 501)
}

// The descriptor that asks who has the index open must not grow in number, nor outlive the handles.
func TestAskingWhoHasAnIndexOpenKeepsOneDescriptor(t *testing.T) {
	t.Parallel()
	path, writer := headerOnly(t)
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := db.Stale(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := Inspect(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if open := descriptors(t, filepath.Dir(path)); len(open) != 2 {
		t.Errorf("open: %v", open)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if open := descriptors(t, filepath.Dir(path)); len(open) != 0 {
		t.Errorf("still open: %v", open)
	}
	writer.kill()
}
