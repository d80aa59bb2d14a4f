package locks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestARefusalNamesWhoeverTheKernelShows(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	gone := act(t, part{}, "mempalace", "mine")
	gone.stop()
	for name, c := range map[string]struct {
		text  string
		since bool
	}{
		"signed by it":      {"PID /usr/bin/mempalace mine /x", true},
		"of a dead process": {fmt.Sprint(gone.pid, " mempalace mine"), false},
		"of a living one":   {fmt.Sprint(os.Getpid(), " castellan"), false},
		"hostile":           {"\x1b[31m\xff{", false},
	} {
		before := time.Now()
		a := act(t, part{Lock: lockFile(t, h, p), Body: c.text}, "mempalace", "mine", "/x", "--token", "s3cret", "\x1b[2J")
		held := refused(t, t.Context(), h, p)
		want := fmt.Sprintf("palace %s is held by PID %d (mempalace mine /x --token ***); wait for it to finish or stop the holder before retrying", p, a.pid)
		if held.Error() != want {
			t.Errorf("%s:\n got %q\nwant %q", name, held.Error(), want)
		}
		if held.Self || held.Holder.PID != a.pid || held.Holder.Identity != Known || held.Holder.Role != RoleMine {
			t.Errorf("%s: %+v", name, held)
		}
		if c.since && held.Holder.Since.Before(before.Add(-reuseSlack)) || !c.since && !held.Holder.Since.IsZero() {
			t.Errorf("%s: held since %v", name, held.Holder.Since)
		}
		a.stop()
		if err := os.Remove(File(Directory(h), Key(p))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALostPalaceNamesWhoHasItNow(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	file := File(Directory(h), Key(p))
	remove(t, file)
	a := act(t, part{Lock: file}, "mempalace", "mine", "/x")
	var lost *LostError
	if err := l.Check(t.Context()); !errors.As(err, &lost) || lost.Holder == nil || lost.Holder.PID != a.pid {
		t.Fatalf("%v", err)
	}
	if want := fmt.Sprintf("PID %d (mempalace mine /x) holds the new one", a.pid); !strings.Contains(lost.Error(), want) {
		t.Errorf("%q lacks %q", lost.Error(), want)
	}
}

func TestARefusalAmongManyNeverNamesAnotherProcess(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	stranger := act(t, part{}, "mempalace", "mine")
	write(t, File(Directory(h), Key(p)), fmt.Sprintf("\x00%d mempalace mine", stranger.pid))
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 20 {
				l, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h})
				var held *HeldError
				switch {
				case err == nil:
					err = l.Release()
				case errors.As(err, &held) && (held.Self && held.Holder.PID == os.Getpid() || held.Holder.Identity == Unknown):
					continue
				}
				if err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
}

// What the text says where the kernel's tables show nobody.
func TestATextIsBelievedOnlyWhereNothingSpeaksAgainstIt(t *testing.T) {
	t.Parallel()
	h := home(t)
	gone, lives := act(t, part{}, "mempalace"), act(t, part{}, "mempalace", "sync")
	gone.stop()
	path := File(Directory(h), "00000000000000aa")
	k := newLooker(h)
	for _, c := range []struct {
		pid     int
		outside bool // the holder may be where it does not show
		want    int
		command string
		self    bool
	}{
		{gone.pid, false, 0, "", false},
		{gone.pid, true, gone.pid, "the text", false},
		{lives.pid, false, lives.pid, "mempalace sync", false},
		{lives.pid, true, lives.pid, "mempalace sync", false},
		{os.Getpid(), false, os.Getpid(), "", true},
		// Another container's process: ours would show.
		{os.Getpid(), true, os.Getpid(), "the text", false},
	} {
		write(t, path, fmt.Sprintf("\x00%d the text", c.pid))
		got, self := k.recorded(path, c.outside)
		if got.PID != c.want || self != c.self || c.command != "" && got.Command != c.command || (got.Identity == Unknown) != (c.want == 0) {
			t.Errorf("%+v: %+v, self %v", c, got, self)
		}
	}
	old := time.Now().Add(-24 * 365 * time.Hour)
	write(t, path, fmt.Sprintf("\x00%d the text", lives.pid))
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if got, _ := k.recorded(path, false); got.PID != 0 {
		t.Errorf("a pid that was used again: %+v", got)
	}
	for _, text := range []string{"", "\x00", "\x00no pid"} {
		write(t, path, text)
		if got, _ := k.recorded(path, true); got.PID != 0 || got.named() != unnamed {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestAnotherUsersLockFileSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can take as somebody else")
	}
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	for _, dir := range []string{filepath.Join(h, ".mempalace"), Directory(h)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, palace := range map[string]string{"a file of root's": p, "none, in a directory of root's": p + "2"} {
		a := asNobody(t, h, part{Peer: &peer{Home: h, Palace: palace, Try: true}})
		for _, want := range []string{"refused: palace " + palace + " cannot be locked: ", "permission denied; make it readable and writable for this user", Key(palace)} {
			if !strings.Contains(a.said, want) {
				t.Errorf("%s: %q lacks %q", name, a.said, want)
			}
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAFullDiskDoesNotKeepAnybodyFromLocking(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can fill a disk of its own")
	}
	h := home(t)
	a := startFull(t, peer{Home: h, Palace: h + "/palace", Full: true})
	if strings.HasPrefix(a.said, "skip") {
		t.Skip(a.said)
	}
	// Locked, and no text rather than half a one.
	if a.said != `locked with "\x00"` {
		t.Error(a.said)
	}
	if names, err := os.ReadDir(Directory(h)); err != nil || len(names) != 0 {
		t.Errorf("it was not a disk of its own: %v, %v", names, err)
	}
}

func TestAWaitShowsTheHolderAndIsSeen(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := act(t, part{Peer: &peer{Home: h, Palace: p}}, "castellan", "repair")
	calls := 0
	l, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h, Wait: long, OnWait: func(holder Holder) {
		if holder.PID != a.pid || holder.Role != RoleCastellan || holder.Since.IsZero() {
			t.Errorf("waiting for %+v, want %d", holder, a.pid)
		}
		v := view(t, observe(h, Options{SampleInterval: -1}), p)
		if !slices.ContainsFunc(v.Lock.Waiters, func(w Process) bool { return w.PID == os.Getpid() }) {
			t.Errorf("our wait does not show: %+v", v.Lock.Waiters)
		}
		if calls++; calls == 2 {
			a.stop()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if calls < 2 {
		t.Errorf("shown %d times, and it was still held", calls)
	}
	if err := l.Check(t.Context()); err != nil {
		t.Error(err)
	}
	wantLowered(t, h, p)
}
