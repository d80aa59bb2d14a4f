//go:build unix

package dbfile

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestCopiesAreRefusedBeyondTheLimit(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	hot, wal := filepath.Join(dir, "hot.sqlite3"), filepath.Join(dir, "wal.sqlite3")
	makeHot(t, hot)
	orphan(t, wal)
	remove(t, wal+"-shm")
	before := stateOf(t, dir, true)
	for _, limit := range []int64{-1, 1000} {
		var he *HotJournalError
		_, err := Open(t.Context(), hot, Options{CopyLimit: limit, CopyDir: scratch})
		if !errors.As(err, &he) || he.Path != hot || he.Limit != max(limit, 0) || he.Bytes < 1000 {
			t.Errorf("limit %d: got %v", limit, err)
		}
		var we *UnreadWALError
		_, err = Open(t.Context(), wal, Options{CopyLimit: limit, CopyDir: scratch})
		if !errors.As(err, &we) || we.Path != wal || we.Frames < 3 || we.Bytes < 1000 {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
	untouched(t, dir, before, true)
	if left := stateOf(t, scratch, false); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestACraftedJournalCannotFillTheDisk: the length that a rollback gives to the file is a number in the journal.
func TestACraftedJournalCannotFillTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	makeHot(t, path)
	patch(t, path+"-journal", 16, []byte{0xff, 0xff, 0xff, 0xff})
	var e *HotJournalError
	if _, err := Open(t.Context(), path, Options{CopyDir: t.TempDir()}); !errors.As(err, &e) || e.Bytes < 1<<40 {
		t.Errorf("got %v", err)
	}
}

func TestACopyIsPrivateSharedAndRemovedWithItsLastUser(t *testing.T) {
	path, scratch := filepath.Join(t.TempDir(), "chroma.sqlite3"), t.TempDir()
	makeHot(t, path)
	var handles [6]*DB
	var wg sync.WaitGroup
	for i := range handles {
		wg.Go(func() {
			db, err := Open(t.Context(), path, Options{CopyDir: scratch})
			if err != nil {
				t.Error(err)
				return
			}
			handles[i] = db
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	copies := stateOf(t, scratch, false)
	if len(copies) != 1 {
		t.Fatalf("%d copies for %d handles", len(copies), len(handles))
	}
	for name, s := range copies {
		if s.Mode.Perm() != 0o700 {
			t.Errorf("directory has mode %v", s.Mode)
		}
		for inner, s := range stateOf(t, filepath.Join(scratch, name), false) {
			if s.Mode.Perm() != 0o600 {
				t.Errorf("%s has mode %v", inner, s.Mode)
			}
			if strings.HasSuffix(inner, "-journal") {
				t.Error("the copy was not recovered")
			}
		}
	}
	for _, db := range handles {
		if got := count(t, db); got != 5000 {
			t.Errorf("%d rows", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := stateOf(t, scratch, false); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestACopyGoesStaleWhenTheOwnerRecovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	makeHot(t, path)
	db := mustOpen(t, path, Options{CopyDir: t.TempDir()})
	if err := db.Stale(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := plain(t, path)
	var n int
	if err := owner.QueryRow("SELECT count(*) FROM drawer").Scan(&n); err != nil || n != 5000 {
		t.Fatal(n, err)
	}
	owner.Close()
	var stale *StaleError
	if err := db.Stale(t.Context()); !errors.As(err, &stale) {
		t.Errorf("got %v", err)
	}
	again := mustOpen(t, path, Options{})
	if again.Access() != AccessRO {
		t.Errorf("read as %q after the recovery", again.Access())
	}
}

func TestCancellingACopyLeavesNothing(t *testing.T) {
	path, scratch := filepath.Join(t.TempDir(), "chroma.sqlite3"), t.TempDir()
	makeHot(t, path)
	facts, err := Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openCopy(ctx, facts, Options{CopyDir: scratch}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := stateOf(t, scratch, false); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// superRecord is what SQLite appends to the journal of a transaction over several databases.
func superRecord(name string) []byte {
	var sum uint32
	for _, c := range []byte(name) {
		sum += uint32(c)
	}
	b := append([]byte{0, 4, 0, 1}, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	b = binary.BigEndian.AppendUint32(b, sum)
	return append(b, journalMagic...)
}

func appendTo(t *testing.T, name string, b []byte) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	patch(t, name, info.Size(), b)
}

// TestAJournalWhoseSuperJournalIsGoneIsNotRolledBack: its transaction was committed. Rolling back would undo it in one
// of several databases.
func TestAJournalWhoseSuperJournalIsGoneIsNotRolledBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 100)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A journal that would bring back the state with 100 rows, beside the state with 99.
	db := plain(t, path)
	mustExec(t, db, "PRAGMA journal_mode = PERSIST", "DELETE FROM drawer WHERE id = 7")
	db.Close()
	now, err := os.ReadFile(path + "-journal")
	if err != nil {
		t.Fatal(err)
	}
	// The commit zeroed the header. The nonce is what the checksum of a record adds to every 200th byte of its page.
	nonce := binary.BigEndian.Uint32(now[512+4+4096:])
	for i := 4096 - 200; i > 0; i -= 200 {
		nonce -= uint32(now[512+4+i])
	}
	head := append([]byte(nil), journalMagic...)
	for _, word := range []uint32{0xffffffff, nonce, uint32(len(old) / 4096), 512, 4096} { // records by size, nonce, pages before, sector, page
		head = binary.BigEndian.AppendUint32(head, word)
	}
	patch(t, path+"-journal", 0, head)
	super := filepath.Join(dir, "chroma.sqlite3-mj0123459AB")
	appendTo(t, path+"-journal", superRecord(super))

	facts, err := Inspect(t.Context(), path)
	if err != nil || facts.Hot || facts.JournalState != SpentJournal {
		t.Errorf("journal %q, %v", facts.JournalState, err)
	}
	gone := mustOpen(t, path, Options{CopyDir: t.TempDir()})
	if got := count(t, gone); gone.Access() != AccessImmutable || got != 99 {
		t.Errorf("read as %q, %d rows, want 99", gone.Access(), got)
	}
	gone.Close()

	write(t, super, []byte(path+"-journal\x00"))
	facts, err = Inspect(t.Context(), path)
	if err != nil || !facts.Hot {
		t.Errorf("with its super-journal: %q, %v", facts.JournalState, err)
	}
	// C SQLite, or our own build of it, is the judge of what a rollback gives.
	there := mustOpen(t, path, Options{CopyDir: t.TempDir()})
	if got := count(t, there); there.Access() != AccessCopy || got != 100 {
		t.Errorf("read as %q, %d rows, want 100", there.Access(), got)
	}
	if _, err := os.Lstat(super); err != nil {
		t.Error("looking deleted the super-journal")
	}
}

// TestACraftedSuperJournalIsNeverOpened: SQLite opens the file that a journal names, and waits if it is a FIFO.
func TestACraftedSuperJournalIsNeverOpened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	makeHot(t, path)
	fifo := filepath.Join(dir, "x-mj0123459AB")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // one record behind another: taking off the last uncovers the first
		appendTo(t, path+"-journal", superRecord(fifo))
	}
	db := mustOpen(t, path, Options{CopyDir: t.TempDir()})
	if got := count(t, db); db.Access() != AccessCopy || got != 5000 {
		t.Errorf("read as %q, %d rows", db.Access(), got)
	}
}
