package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pythonMine takes the palace lock the way MemPalace does: create, open
// without truncating, flock, write the identity from byte 1.
const pythonMine = `
import fcntl, os, sys
path = %q
os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
lf = open(path, "r+b")
lf.seek(0)
fcntl.flock(lf, fcntl.LOCK_EX | fcntl.LOCK_NB)
ident = f"{os.getpid()} {' '.join(sys.argv[:3])}".strip().encode()
lf.seek(1)
lf.truncate(1 + len(ident))
lf.write(ident)
lf.flush()
print("ready", 0, flush=True)
sys.stdin.read()
`

func TestALiveMineIsHeldByItsProcess(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to hold the lock")
	}
	h := home(t)
	p := palaceIn(t, h)
	script := filepath.Join(h, "bin", "mempalace")
	write(t, script, fmt.Sprintf(pythonMine, File(Directory(h), Key(p))))
	before := time.Now()
	a := startActor(t, exec.Command(python, script, "mine", "/x", "--llm-api-key", "sk-not-for-eyes"), part{})

	v := view(t, observe(h, Options{}), p)
	if v.Lock.State != Held || v.Lock.Holder == nil {
		t.Fatalf("lock %+v", v.Lock)
	}
	got := v.Lock.Holder
	if got.PID != a.pid || got.Identity != Known || got.Role != RoleMine || got.PPID != os.Getpid() {
		t.Errorf("holder %+v, want pid %d", got, a.pid)
	}
	// What stands before it is up to how python3 is installed.
	if want := " " + script + " mine /x --llm-api-key ***"; !strings.HasSuffix(got.Command, want) {
		t.Errorf("command %q, want ...%q", got.Command, want)
	}
	if got.Name != "mempalace" {
		t.Errorf("named %q", got.Name)
	}
	if d := got.Started.Sub(before).Abs(); d > time.Minute {
		t.Errorf("started %v, %v away", got.Started, d)
	}
	if got.Since.Before(got.Started.Add(-reuseSlack)) {
		t.Errorf("took the lock at %v, before it started at %v", got.Since, got.Started)
	}
	if v.Lock.LastHolder != nil {
		t.Errorf("an earlier holder %+v although the text is the present one's", v.Lock.LastHolder)
	}

	a.stop()
	v = view(t, observe(h, Options{}), p)
	if v.Lock.State != Free || v.Lock.Holder != nil {
		t.Fatalf("after it ended: %+v", v.Lock)
	}
	if l := v.Lock.LastHolder; l == nil || l.PID != a.pid || l.Alive || l.Text != script+" mine /x" {
		t.Errorf("last holder %+v", l)
	}
}

func TestATextThatNamesADeadProcessHoldsNothing(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	gone := act(t, part{}, "mempalace", "mine")
	gone.stop()
	old := time.Now().Add(-365 * 24 * time.Hour)
	for _, c := range []struct {
		body  string
		pid   int
		alive bool
		age   bool
	}{
		{fmt.Sprintf("\x00%d /usr/bin/mempalace mine /x", gone.pid), gone.pid, false, false},
		// The lock of a process that lives, given back.
		{fmt.Sprintf("\x00%d mempalace mine", os.Getpid()), os.Getpid(), true, false},
		// Its pid in a text older than itself: the pid has been used again.
		{fmt.Sprintf("\x00%d mempalace mine", os.Getpid()), os.Getpid(), false, true},
		{"\x00\x1b[31mnobody\x00\xff", 0, false, false},
	} {
		write(t, file, c.body)
		if c.age {
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
		v := view(t, observe(h, Options{}), p)
		if v.Lock.State != Free || v.Lock.Holder != nil {
			t.Errorf("%q: %+v", c.body, v.Lock)
		}
		if l := v.Lock.LastHolder; l == nil || l.PID != c.pid || l.Alive != c.alive {
			t.Errorf("%q: last holder %+v", c.body, l)
		}
	}
}

func TestAForeignTextDoesNotHideTheRealHolder(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	a := act(t, part{Lock: file}, "strange-tool", "--go")
	for _, body := range []string{"", "\x00", "999999999999999999999 x", "\x00{\"pid\": ", fmt.Sprintf("\x00%d mempalace mine", os.Getpid()), strings.Repeat("\xff", 1<<20)} {
		write(t, file, body)
		l := view(t, observe(h, Options{SampleInterval: -1}), p).Lock
		if l.State != Held || l.Holder.PID != a.pid || l.Holder.Identity != Known || !l.Holder.Since.IsZero() {
			t.Errorf("%.40q: %+v", body, l.Holder)
		}
		if l.Holder.Role != RoleOther {
			t.Errorf("role %q", l.Holder.Role)
		}
	}
}

func TestALockLeftToAChildIsHeldByTheChild(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := act(t, part{Lock: lockFile(t, h, p), Body: "PID mempalace mine", Leak: true}, "mempalace", "mine")
	eventually(t, "the child has its own name", func() bool {
		p, ok := observe(h, Options{}).process(a.child)
		return ok && strings.HasPrefix(p.Command, "python3")
	})
	l := view(t, observe(h, Options{}), p).Lock
	if l.State != Held || l.Holder.PID != a.child || l.Holder.Identity != Known {
		t.Fatalf("lock %+v, holder %+v", l, l.Holder)
	}
	if !l.Holder.Orphan {
		t.Error("the process that started the holder is gone, and it is no orphan")
	}
	if l.LastHolder == nil || l.LastHolder.PID != a.pid || l.LastHolder.Alive {
		t.Errorf("last holder %+v", l.LastHolder)
	}
}

func TestALockSharedWithAChildBelongsToWhoTookIt(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := act(t, part{Lock: lockFile(t, h, p), Share: true}, "mempalace", "mine")
	l := view(t, observe(h, Options{}), p).Lock
	if l.State != Held || l.Holder.PID != a.pid || !slices.Equal(l.Holder.SharedWith, []int{a.child}) {
		t.Errorf("holder %+v, want %d shared with %d", l.Holder, a.pid, a.child)
	}
	if l.Holder.Orphan {
		t.Error("its parent is this test, which lives")
	}
}

func TestOurOwnLockIsSeenToo(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	f, err := os.OpenFile(lockFile(t, h, p), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if l := view(t, observe(h, Options{}), p).Lock; l.State != Held || l.Holder.PID != os.Getpid() {
		t.Errorf("%+v", l)
	}
	// A second descriptor conflicts with the first, so looking must not have
	// dropped the lock.
	again, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := syscall.Flock(int(again.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("our lock was lost by looking: %v", err)
	}
}

func TestAHolderInAPIDNamespaceIsFound(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may make a PID namespace")
	}
	h := home(t)
	p := palaceIn(t, h)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: []string{"mempalace-mcp"}, SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}}
	a := startActor(t, cmd, part{Lock: lockFile(t, h, p), Body: "PID mempalace-mcp"})
	l := view(t, observe(h, Options{}), p).Lock
	if l.State != Held || l.Holder.PID != a.pid || l.Holder.Role != RoleMCP {
		t.Fatalf("lock %+v, holder %+v, want pid %d", l, l.Holder, a.pid)
	}
	if l.LastHolder == nil || l.LastHolder.PID != 1 {
		t.Errorf("the text says pid 1, as the holder counts itself: %+v", l.LastHolder)
	}
}

func TestWhoWaitsForALockIsShown(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	a := act(t, part{Lock: file}, "mempalace", "mine")
	w := act(t, part{Await: file}, "other-tool")
	q := act(t, part{Lock: strings.TrimSuffix(file, lockSuffix) + wantSuffix}, "mempalace", "sync")
	o := observe(h, Options{SampleInterval: -1})
	var l PalaceLock
	eventually(t, "both wait", func() bool {
		l = view(t, o, p).Lock
		return len(l.Waiters) == 2
	})
	if l.Holder.PID != a.pid {
		t.Errorf("held by %d, want %d", l.Holder.PID, a.pid)
	}
	var pids []int
	for _, p := range l.Waiters {
		pids = append(pids, p.PID)
	}
	want := []int{w.pid, q.pid}
	slices.Sort(want)
	if !slices.Equal(pids, want) {
		t.Errorf("waiters %v, want %v", pids, want)
	}
	a.stop()
}

func TestAHeldLockFileThatWasRemovedStillCounts(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	first := act(t, part{Lock: file}, "mempalace", "mine")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	o := observe(h, Options{SampleInterval: -1})
	l := view(t, o, p).Lock
	if l.State != Held || !l.Unlinked || l.Holder.PID != first.pid {
		t.Fatalf("%+v", l)
	}
	for _, l := range survey(t, o).PalaceLocks {
		if l.State != Held || l.Palace != "" {
			t.Errorf("without a target: %+v", l)
		}
	}
	second := act(t, part{Lock: file}, "mempalace", "mine")
	v := view(t, o, p)
	if len(v.Others) != 1 || v.Lock.Holder.PID != second.pid || !v.Others[0].Unlinked || v.Others[0].Holder.PID != first.pid {
		t.Errorf("two writers, shown as %+v and %+v", v.Lock, v.Others)
	}
}

func TestALookEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	act(t, part{Lock: lockFile(t, h, p)}, "mempalace", "mine")
	o := observe(h, Options{SampleInterval: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := o.Survey(ctx, []Target{{Path: p}})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
