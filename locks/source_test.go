package locks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestASourceIsLockedUnderItsNameAsWritten(t *testing.T) {
	t.Parallel()
	h := realpath(t.TempDir())
	s, err := TakeSource(t.Context(), "/home/u/p/a.md", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(Directory(h), "57e7a5db2e479ac5.lock")
	if got := SourceFile(Directory(h), "/home/u/p/a.md"); got != file {
		t.Errorf("%s, want %s", got, file)
	}
	if f, err := grab(file); !errors.Is(err, errBusy) {
		t.Errorf("it is not locked: %v, %v", f, err)
	}
	// MemPalace writes nothing into it.
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
	other, err := TakeSource(t.Context(), "/home/u/p/./a.md", SourceOptions{Home: h})
	if err != nil {
		t.Fatalf("another spelling is another lock: %v", err)
	}
	for _, s := range []*SourceLease{s, other, s} {
		if err := s.Release(); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(Directory(h))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestWaitingForASourceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	h := home(t)
	s, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := TakeSource(ctx, "a", SourceOptions{Home: h})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestASourceGoesToWhoWaitedForIt(t *testing.T) {
	t.Parallel()
	h := home(t)
	s, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		next, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
		if err == nil {
			err = next.Release()
		}
		done <- err
	}()
	if err := s.Release(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The file that our lock is on may be gone, and another one in its place may
// be locked by somebody else: theirs must stay.
func TestOnlyOurOwnSourceLockFileIsRemoved(t *testing.T) {
	t.Parallel()
	h := home(t)
	file := SourceFile(Directory(h), "a")
	s, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Skipf("an open file cannot be removed here: %v", err)
	}
	theirs, err := grab(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(); err != nil {
		t.Error(err)
	}
	if current, err := theirs.current(); !current || err != nil {
		t.Errorf("the lock file of somebody else was removed (%v)", err)
	}
	if err := theirs.drop(); err != nil {
		t.Error(err)
	}
}

func TestASourceLockFileThatSomebodyTookAtOnceStays(t *testing.T) {
	t.Parallel()
	h := home(t)
	file := SourceFile(Directory(h), "a")
	mine, err := grab(file)
	if err != nil {
		t.Fatal(err)
	}
	// Release, with a newcomer between its two steps.
	if err := unlock(mine.f); err != nil {
		t.Fatal(err)
	}
	theirs, err := grab(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Error("removed while locked")
	}
	if err := theirs.drop(); err != nil {
		t.Error(err)
	}
}
