//go:build unix

package dbfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// viewError opens a view that asks something and returns what came of it.
func viewError(t *testing.T, db *DB) error {
	t.Helper()
	return db.View(t.Context(), func(tx *Tx) error {
		var n int
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer", nil, &n)
	})
}

func TestAHandleThatNoLongerFitsSaysSoAndTouchesNothing(t *testing.T) {
	tests := []struct {
		name   string
		make   func(t *testing.T, path string) *peer
		access Access
		change func(t *testing.T, path string, p *peer)
		reopen Access
	}{
		{"another file at the path", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			return nil
		}, AccessRO, func(t *testing.T, path string, _ *peer) {
			build(t, path+".new", 20)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, AccessRO},
		{"file deleted", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			return nil
		}, AccessRO, func(t *testing.T, path string, _ *peer) { remove(t, path) }, ""},
		{"cut to zero bytes beside a log", func(t *testing.T, path string) *peer {
			orphan(t, path)
			return nil
		}, AccessWAL, func(t *testing.T, path string, _ *peer) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"switched to WAL and closed", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			return nil
		}, AccessRO, func(t *testing.T, path string, _ *peer) {
			p := start(t, "wal", path)
			p.ask("add")
			p.end()
		}, AccessImmutable},
		{"switched to WAL and open", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			return nil
		}, AccessRO, func(t *testing.T, path string, _ *peer) {
			start(t, "wal", path).ask("add")
		}, AccessWAL},
		{"last WAL writer closed", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			p := start(t, "wal", path)
			p.ask("add")
			return p
		}, AccessWAL, func(t *testing.T, path string, p *peer) {
			if got := p.ask("close"); got != "done" {
				t.Fatal(got)
			}
		}, AccessImmutable},
		{"WAL left for a rollback journal", func(t *testing.T, path string) *peer {
			build(t, path, 10)
			p := start(t, "wal", path)
			p.ask("add")
			return p
		}, AccessWAL, func(t *testing.T, path string, p *peer) {
			if got := p.ask("delete-mode"); got != "done" {
				t.Fatal(got)
			}
		}, AccessRO},
		{"sidecars appeared beside an immutable one", func(t *testing.T, path string) *peer {
			build(t, path, 10, "PRAGMA journal_mode = WAL")
			return nil
		}, AccessImmutable, func(t *testing.T, path string, _ *peer) {
			start(t, "wal", path).ask("add")
		}, AccessWAL},
		{"writer died within a transaction", func(t *testing.T, path string) *peer {
			build(t, path, 5000)
			return nil
		}, AccessRO, func(t *testing.T, path string, _ *peer) {
			start(t, "hot", path).kill()
		}, AccessCopy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "chroma.sqlite3")
			p := tt.make(t, path)
			db := mustOpen(t, path, Options{CopyDir: t.TempDir()})
			if db.Access() != tt.access {
				t.Fatalf("read as %q, want %q", db.Access(), tt.access)
			}
			if err := viewError(t, db); err != nil {
				t.Fatal(err)
			}
			tt.change(t, path, p)
			before := stateOf(t, dir, false)
			var stale *StaleError
			if err := viewError(t, db); !errors.As(err, &stale) || stale.Path != path {
				t.Errorf("view: got %v", err)
			}
			if err := db.Stale(t.Context()); !errors.As(err, &stale) || stale.Path != path {
				t.Errorf("Stale: got %v", err)
			}
			untouched(t, dir, before, false)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			untouched(t, dir, before, false)
			if tt.reopen == "" {
				return
			}
			again := mustOpen(t, path, Options{CopyDir: t.TempDir()})
			if again.Access() != tt.reopen {
				t.Errorf("reopened as %q, want %q", again.Access(), tt.reopen)
			}
			if err := viewError(t, again); err != nil {
				t.Error(err)
			}
			untouched(t, dir, before, false)
		})
	}
}

// TestAnImmutableViewIsDiscardedIfSomebodyWroteMeanwhile: no lock kept the writer out, so the answers may be torn.
func TestAnImmutableViewIsDiscardedIfSomebodyWroteMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 10, "PRAGMA journal_mode = WAL")
	db := mustOpen(t, path, Options{})
	sentinel := errors.New("what the reader said")
	err := db.View(t.Context(), func(*Tx) error {
		start(t, "wal", path).ask("add")
		return sentinel
	})
	var stale *StaleError
	if !errors.As(err, &stale) || !errors.Is(err, sentinel) {
		t.Errorf("got %v", err)
	}
}

func TestALiveHandleSeesWhatOthersCommit(t *testing.T) {
	for name, role := range map[string]string{"rollback": "", "wal": "wal"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "chroma.sqlite3")
			build(t, path, 10)
			var add func()
			if role == "wal" {
				p := start(t, role, path)
				p.ask("add")
				add = func() { p.ask("add") }
			} else {
				add = func() {
					db := plain(t, path)
					defer db.Close()
					release, err := Hold(t.Context(), path)
					if err != nil {
						t.Fatal(err)
					}
					defer release()
					mustExec(t, db, "INSERT INTO drawer(body) VALUES ('x')")
				}
			}
			db := mustOpen(t, path, Options{})
			first, stamp := count(t, db), stampNow(t, path)
			add()
			if got := count(t, db); got != first+1 {
				t.Errorf("%d rows, want %d", got, first+1)
			}
			if stampNow(t, path) == stamp {
				t.Error("the stamp did not change")
			}
			if err := db.Stale(t.Context()); err != nil {
				t.Error(err)
			}
			if again := stampNow(t, path); again != stampNow(t, path) {
				t.Error("the stamp changed by itself")
			}
		})
	}
}

func stampNow(t *testing.T, path string) Stamp {
	t.Helper()
	s, err := StampOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestACommitInTheWayIsBusyAndCancellable: waiting is bounded by busyWait, and shorter if the caller says so.
func TestACommitInTheWayIsBusyAndCancellable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 5000)
	db := mustOpen(t, path, Options{})
	p := start(t, "hot", path) // spilled its cache, so it holds EXCLUSIVE
	var e *SQLError
	if err := viewError(t, db); !errors.Is(err, ErrBusy) || !errors.As(err, &e) || e.Path != path || e.Next() == "" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := db.View(ctx, func(*Tx) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	busy := mustOpen(t, path, Options{}) // opening does not wait
	if busy.Access() != AccessRO || busy.Facts().JournalState != InUseJournal {
		t.Errorf("read as %q, journal %q", busy.Access(), busy.Facts().JournalState)
	}
	p.kill()
}

func TestCloseWaitsForViewsAndIsForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 10)
	db := mustOpen(t, path, Options{})
	inside, leave := make(chan struct{}), make(chan struct{})
	var finished bool
	var wg sync.WaitGroup
	wg.Go(func() {
		err := db.View(t.Context(), func(tx *Tx) error {
			close(inside)
			<-leave
			var n int
			err := tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer", nil, &n)
			finished = true
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	closing := make(chan error, 2)
	for range 2 {
		go func() { closing <- db.Close() }()
	}
	for !errors.Is(viewError(t, db), ErrClosed) {
		time.Sleep(time.Millisecond) // until Close has begun; from then on new work is refused
	}
	select {
	case <-closing:
		t.Error("Close came back while a view was running")
	default:
	}
	close(leave)
	for range 2 {
		if err := <-closing; err != nil {
			t.Error(err)
		}
	}
	if !finished {
		t.Error("Close did not wait")
	}
	wg.Wait()
	for name, err := range map[string]error{
		"View": viewError(t, db), "Stale": db.Stale(t.Context()),
		"Snapshot":   func() error { _, err := db.Snapshot(t.Context(), ""); return err }(),
		"QuickCheck": func() error { _, err := db.QuickCheck(t.Context(), 1); return err }(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
