//go:build unix

package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// becomeTrier replaces this program by another one with the same pid.
func becomeTrier(p peer) error {
	raw, err := json.Marshal(part{Peer: &peer{Home: p.Home, Palace: p.Palace, Try: true}})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Setenv(roleVariable, string(raw)); err != nil {
		return err
	}
	return syscall.Exec(self, []string{"castellan", "again"}, os.Environ())
}

func TestTheNextProcessTakesWhatAKilledOneHeld(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	for i, kind := range []peer{{Home: h, Palace: p}, {Home: h, Source: "/p/a.md"}} {
		a := act(t, part{Peer: &kind}, "castellan", "mine")
		if i == 0 {
			refused(t, t.Context(), h, p)
		}
		if err := syscall.Kill(a.pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		a.stop()
	}
	free(t, h, p)
	s, err := TakeSource(t.Context(), "/p/a.md", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(); err != nil {
		t.Error(err)
	}
}

func TestAChildStartsWithoutALease(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	a := act(t, part{Peer: &peer{Home: h, Palace: p, Try: true}}, "castellan", "child")
	if want := fmt.Sprintf("refused: palace %s is held by PID %d (", p, os.Getpid()); !strings.HasPrefix(a.said, want) {
		t.Errorf("the child was told %q, want %q", a.said, want)
	}

	// It has inherited no descriptor either: ours is the only one to give back.
	stay := act(t, part{}, "castellan", "child")
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	free(t, h, p)
	stay.stop()
}

func TestAProgramThatReplacesItselfStartsWithoutALease(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := act(t, part{Peer: &peer{Home: h, Palace: p, Exec: true}}, "castellan", "first")
	// The pid is the same, and the lock is free to be taken anew.
	if want := "taken by " + strconv.Itoa(a.pid); a.said != want {
		t.Errorf("it said %q, want %q", a.said, want)
	}
	free(t, h, p)
}

// A child that has been forked and not come to its exec has our descriptors.
func TestAPalaceIsFreeAlthoughAForkStillHasTheDescriptor(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	s, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*openLock{l.hold.files[0], s.file} {
		dup, err := syscall.Dup(int(f.f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(dup)
	}
	if err := errors.Join(l.Release(), s.Release()); err != nil {
		t.Fatal(err)
	}
	free(t, h, p)
	if f, err := grab(SourceFile(Directory(h), "a")); err != nil {
		t.Errorf("the source is not free: %v", err)
	} else if err := f.drop(); err != nil {
		t.Error(err)
	}
}

// A fork copies the memory, not the lock: what such a copy does is shown on a
// lease with another process's mark.
func TestALeaseOfAnotherProcessIsNone(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	copied := &Lease{hold: &hold{palace: l.hold.palace, home: h, dir: l.hold.dir, keys: l.hold.keys,
		files: l.hold.files, pid: l.hold.pid + 1, shares: 1}}
	ctx := WithLease(t.Context(), copied)
	if _, ok := LeaseFrom(ctx, Target{Path: p}); ok {
		t.Error("it passes")
	}
	refused(t, ctx, h, p)
	if _, err := copied.Acquire(ctx); !errors.Is(err, ErrLeaseEnded) {
		t.Errorf("it gives shares: %v", err)
	}
	if err := copied.Release(); err != nil {
		t.Error(err)
	}
	refused(t, t.Context(), h, p) // unlocking in a child would unlock the parent's
}

func TestNobodyWritesBesideAnybody(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	const each = 40
	for kind, c := range map[string]struct {
		peer
		file string
	}{
		"palace": {peer{Home: h, Palace: p, Count: each}, File(Directory(h), Key(p))},
		"source": {peer{Home: h, Source: "/p/a.md", Count: each}, SourceFile(Directory(h), "/p/a.md")},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			counter := filepath.Join(h, kind)
			write(t, counter, "0")
			c.Counter = counter
			total := 0
			var all []*actor
			for range 2 {
				all = append(all, act(t, part{Peer: &c.peer}, "castellan", "mine"))
				total += each
			}
			if python, err := exec.LookPath("python3"); err != nil {
				t.Log("no python3 beside us")
			} else {
				for range 2 {
					cmd := exec.Command(python, "-c", pythonCount, kind, c.file, counter, strconv.Itoa(each))
					all = append(all, startActor(t, cmd, part{}))
					total += each
				}
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if err := c.peer.count(t.Context()); err != nil {
						t.Error(err)
					}
				})
				total += each
			}
			wg.Wait()
			for _, a := range all {
				a.stop()
			}
			wantCount(t, counter, total)
			_, err := os.Stat(c.file)
			if gone := errors.Is(err, fs.ErrNotExist); gone != (kind == "source") {
				t.Errorf("%s afterwards: %v", c.file, err)
			}
		})
	}
}

func TestTakingLeaksNoDescriptor(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system lists no descriptors")
	}
	h := home(t)
	p := palaceIn(t, h)
	target := Target{Path: p, Spellings: []string{p + "2", p + "3"}}
	for range 50 {
		l, err := Take(t.Context(), target, TakeOptions{Home: h})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Take(t.Context(), target, TakeOptions{Home: h, Wait: firstPause}); err == nil {
			t.Fatal("taken twice")
		}
		s, err := TakeSource(t.Context(), "a", SourceOptions{Home: h})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Release(), s.Release()); err != nil {
			t.Fatal(err)
		}
	}
	links, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if path, err := os.Readlink("/proc/self/fd/" + link.Name()); err == nil && strings.HasPrefix(path, h+"/") {
			t.Errorf("still open: %s", path)
		}
	}
}

func TestAFIFOInPlaceOfALockFileNeitherBlocksNorLocks(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	for _, path := range []string{File(Directory(h), Key(p)), SourceFile(Directory(h), "a")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var lock *LockError
	if _, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h}); !errors.As(err, &lock) {
		t.Errorf("%v", err)
	}
	if _, err := TakeSource(t.Context(), "a", SourceOptions{Home: h}); !errors.As(err, &lock) || lock.Subject != "source a" {
		t.Errorf("%v", err)
	}
}
