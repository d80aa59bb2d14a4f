//go:build unix

package dbfile

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestClosingAForeignDescriptorDropsOurLock shows the hazard that the table of open files is there for. If it ever
// passes without the lock being lost, the next test proves nothing.
func TestClosingAForeignDescriptorDropsOurLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 100)
	db := mustOpen(t, path, Options{})
	err := db.View(t.Context(), func(*Tx) error {
		if got := exclusive(t, path); got != "busy" {
			t.Errorf("our view holds no lock: another process got %q", got)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		f.Close()
		if got := exclusive(t, path); got != "ok" {
			t.Errorf("another process got %q after a careless close, want ok", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLookingNeverDropsALockOfOurOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 3000)
	db := mustOpen(t, path, Options{})
	looks := map[string]func() error{
		"Inspect":  func() error { _, err := Inspect(t.Context(), path); return err },
		"StampOf":  func() error { _, err := StampOf(path); return err },
		"Identify": func() error { _, err := Identify(path); return err },
		"Snapshot": func() error {
			s, err := db.Snapshot(t.Context(), t.TempDir())
			if err != nil {
				return err
			}
			return s.Close()
		},
		"Open and Close": func() error {
			other, err := Open(t.Context(), path, Options{})
			if err != nil {
				return err
			}
			return other.Close()
		},
		"another View": func() error { return db.View(t.Context(), func(*Tx) error { return nil }) },
		"Hold": func() error {
			release, err := Hold(t.Context(), path)
			if err != nil {
				return err
			}
			release()
			return nil
		},
		"QuickCheck": func() error { _, err := db.QuickCheck(t.Context(), 0); return err },
	}
	for name, look := range looks {
		err := db.View(t.Context(), func(*Tx) error {
			for range 3 {
				if err := look(); err != nil {
					return err
				}
			}
			if got := exclusive(t, path); got != "busy" {
				t.Errorf("after %s another process could take an exclusive lock (%q)", name, got)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := exclusive(t, path); got != "ok" {
		t.Errorf("after the last view another process still finds the database %q", got)
	}
}

// TestLookingNeverDropsAWritersLock: a package that writes announces its connection, and may then be looked at.
func TestLookingNeverDropsAWritersLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 100)
	release, err := Hold(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	writer := plain(t, path)
	mustExec(t, writer, "BEGIN IMMEDIATE", "DELETE FROM drawer WHERE id = 1")
	for range 3 {
		facts, err := Inspect(t.Context(), path)
		if err != nil || facts.JournalState != InUseJournal {
			t.Errorf("journal %q, %v", facts.JournalState, err)
		}
	}
	if got := exclusive(t, path); got != "busy" {
		t.Errorf("looking dropped the writer's lock: another process got %q", got)
	}
	mustExec(t, writer, "COMMIT")
	writer.Close()
	release()
	release() // harmless
	if left := descriptors(t, filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left open: %v", left)
	}
}

// TestAPythonPeerSeesTheSame asks C SQLite instead of our own build of it.
func TestAPythonPeerSeesTheSame(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import sqlite3").Run() != nil {
		t.Skip("no python3 with sqlite3 here to be the other process")
	}
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 3000)
	const script = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
print("ready", flush=True)
for line in sys.stdin:
    try:
        c.execute("BEGIN EXCLUSIVE"); c.execute("ROLLBACK"); print("ok", flush=True)
    except sqlite3.OperationalError as e:
        print("busy" if "locked" in str(e) else e, flush=True)
`
	p := startCommand(t, exec.Command(python, "-c", script, path))
	db := mustOpen(t, path, Options{})
	err = db.View(t.Context(), func(*Tx) error {
		if _, err := Inspect(t.Context(), path); err != nil {
			return err
		}
		snap, err := db.Snapshot(t.Context(), t.TempDir())
		if err != nil {
			return err
		}
		if got := p.ask("try"); got != "busy" {
			t.Errorf("python got %q within our view", got)
		}
		return snap.Close()
	})
	if err != nil {
		t.Error(err)
	}
	if got := p.ask("try"); got != "ok" {
		t.Errorf("python got %q after our view", got)
	}

	// And the other way round: a journal that C SQLite leaves hot.
	const crash = `
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("PRAGMA cache_size=5"); c.execute("BEGIN"); c.execute("UPDATE drawer SET body = NULL")
print("ready", flush=True); sys.stdin.read()
`
	db.Close()
	startCommand(t, exec.Command(python, "-c", crash, path)).kill()
	hot := mustOpen(t, path, Options{CopyDir: t.TempDir()})
	if got := count(t, hot); hot.Access() != AccessCopy || got != 3000 {
		t.Errorf("read as %q, %d rows", hot.Access(), got)
	}
}

// TestAWriterInThisProcessCanWriteBesideViews: SQLite shares -shm within a process, and what a view opened read-only
// is read-only for everybody.
func TestAWriterInThisProcessCanWriteBesideViews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exact.sqlite3")
	build(t, path, 100)
	p := start(t, "wal", path)
	p.ask("add")
	db := mustOpen(t, path, Options{})

	err := db.View(t.Context(), func(*Tx) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Hold(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("Hold did not wait for the view: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	release, err := Hold(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	writer := plain(t, path)
	defer writer.Close()
	for want := 102; want < 105; want++ {
		err := db.View(t.Context(), func(*Tx) error { // a view is open as the writer opens -shm, and as it writes
			_, err := writer.Exec("INSERT INTO drawer(body) VALUES ('ours')")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := count(t, db); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	}
}

// TestAViewThatBeginsWhileAWriterWaitsLeavesTheWriterAbleToWrite: the newcomer would share the -shm of the views that
// the writer waits for, which is read-only, and keep it so after they have gone.
func TestAViewThatBeginsWhileAWriterWaitsLeavesTheWriterAbleToWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exact.sqlite3")
	build(t, path, 100)
	p := start(t, "wal", path)
	p.ask("add")
	db := mustOpen(t, path, Options{})

	view := func() (begun, end chan struct{}, done chan error) {
		begun, end, done = make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			done <- db.View(t.Context(), func(*Tx) error { close(begun); <-end; return nil })
		}()
		return begun, end, done
	}
	begun, end, first := view()
	<-begun
	written := make(chan error, 1)
	go func() {
		release, err := Hold(t.Context(), path)
		if err != nil {
			written <- err
			return
		}
		defer release()
		writer := plain(t, path)
		defer writer.Close()
		_, err = writer.Exec("INSERT INTO drawer(body) VALUES ('ours')")
		written <- err
	}()
	for deadline := time.Now().Add(10 * time.Second); !db.file.held(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the writer never came")
		}
	}
	begunToo, endToo, second := view()
	select {
	case <-begunToo: // it may have begun beside the first
	case <-time.After(100 * time.Millisecond):
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
	<-begunToo
	if err := <-written; err != nil {
		t.Errorf("writing beside the second view: %v", err)
	}
	close(endToo)
	if err := <-second; err != nil {
		t.Error(err)
	}
}
