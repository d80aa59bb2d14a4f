package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeProc builds a /proc with the given files and links; the link "self"
// names a process that is not there.
func fakeProc(t *testing.T, files, links map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "1", "stat"), "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0")
	if err := os.Mkdir(filepath.Join(root, "1", "fd"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func statOf(t *testing.T, path string) unix.Stat_t {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st
}

// place is a file as the kernel's lock table names it.
func place(dev, ino uint64) string {
	return fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), ino)
}

const (
	initNS  = initialPIDNamespace
	innerNS = "pid:[4026532178]"
)

func TestALockTableThatCannotBeReadNeverMeansFree(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	lockFile(t, h, p)
	for name, files := range map[string]map[string]string{
		"missing":   nil,
		"garbled":   {"locks": "1: FLOCK  ADVISORY\n"},
		"no number": {"locks": "1: FLOCK  ADVISORY  WRITE who fe:00:12 0 EOF\n"},
		"directory": {"locks/x": ""},
	} {
		o := NewObserver(Options{Home: h, ProcRoot: fakeProc(t, files, map[string]string{"self/ns/pid": initNS})})
		v := view(t, o, p)
		if v.Lock.State != StateUnknown || v.Lock.Why == "" || len(v.Gaps) == 0 {
			t.Errorf("%s: %+v, gaps %v", name, v.Lock, v.Gaps)
		}
		if s := survey(t, o); s.Sources.Known {
			t.Errorf("%s: the per-source locks are said to be known", name)
		}
	}
	o := NewObserver(Options{Home: h, ProcRoot: filepath.Join(h, "no", "proc")})
	if v := view(t, o, p); v.Lock.State != StateUnknown || len(v.Gaps) == 0 {
		t.Errorf("without /proc: %+v", v.Lock)
	}
}

func TestALockTakenInAnotherNamespaceShowsThroughItsDescriptor(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	st := statOf(t, file)
	proc := fakeProc(t, map[string]string{
		"locks":        "", // the taker is outside, so the table omits it
		"77/stat":      "77 (python3) S 1 77 77 0 -1 4194304 0 0 0 0 5 3 0 0 20 0 1 0 900 0 100 0",
		"77/cmdline":   "python3\x00-m\x00mempalace.mcp_server\x00",
		"77/fdinfo/5":  "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nlock:\t1: FLOCK  ADVISORY  WRITE 0 " + place(st.Dev, st.Ino) + " 0 EOF\n",
		"77/fdinfo/6":  "pos:\t0\nflags:\t02100002\n",
		"self/ns/user": "",
		"78/stat":      "78 (python3) S 1 78 78 0 -1 4194304 0 0 0 0 5 3 0 0 20 0 1 0 900 0 100 0",
		"78/fdinfo/4":  "pos:\t0\nflags:\t02100002\n", // a contender that was refused
	}, map[string]string{"self/ns/pid": innerNS, "77/fd/5": file, "77/fd/6": filepath.Join(p, "chroma.sqlite3"), "78/fd/4": file})
	v := view(t, NewObserver(Options{Home: h, ProcRoot: proc, SampleInterval: -1}), p)
	if v.Lock.State != Held || v.Lock.Holder.PID != 77 || v.Lock.Holder.Role != RoleMCP || v.Lock.Holder.Identity != Known {
		t.Fatalf("lock %+v, holder %+v", v.Lock, v.Lock.Holder)
	}
	if len(v.Openers) != 1 || v.Openers[0].PID != 77 || !v.Openers[0].Writer {
		t.Errorf("openers %+v", v.Openers)
	}
}

func TestInsideAContainerASharedLockIsNotFree(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	write(t, file, "\x004711 mempalace mine")
	// No mountinfo: the directory cannot be shown to be the container's own.
	proc := fakeProc(t, map[string]string{"locks": ""}, map[string]string{"self/ns/pid": innerNS})
	l := view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Lock
	if l.State != StateUnknown || !strings.Contains(l.Why, "namespace") || l.LastHolder == nil || l.LastHolder.PID != 4711 {
		t.Errorf("%+v", l)
	}
	proc = fakeProc(t, map[string]string{"locks": ""}, map[string]string{"self/ns/pid": initNS})
	if l := view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Lock; l.State != Free {
		t.Errorf("where every process shows: %+v", l)
	}
}

func TestALockWhoseTakerIsGoneIsHeldByNobodyKnown(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	write(t, file, "\x004711 mempalace mine")
	st := statOf(t, file)
	for _, pid := range []int{4711, 0} {
		table := fmt.Sprintf("1: POSIX  ADVISORY  WRITE 1 %s 0 EOF\n2: FLOCK  ADVISORY  WRITE %d %s 0 EOF\n", place(st.Dev, 1), pid, place(st.Dev, st.Ino))
		proc := fakeProc(t, map[string]string{"locks": table}, map[string]string{"self/ns/pid": initNS})
		l := view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Lock
		if l.State != Held || l.Holder.Identity != Unknown || l.Holder.PID != 0 {
			t.Errorf("pid %d in the table: %+v, holder %+v", pid, l, l.Holder)
		}
	}
	// In a container the recorded process may live outside.
	table := fmt.Sprintf("1: FLOCK  ADVISORY  WRITE 0 %s 0 EOF\n", place(st.Dev, st.Ino))
	proc := fakeProc(t, map[string]string{"locks": table}, map[string]string{"self/ns/pid": innerNS})
	l := view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Lock
	if l.State != Held || l.Holder.Identity != Recorded || l.Holder.PID != 4711 || l.Holder.Role != RoleMine {
		t.Errorf("in a container: %+v, holder %+v", l, l.Holder)
	}
}

func TestRecordLocksAreNotTheLock(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	st := statOf(t, lockFile(t, h, p))
	table := fmt.Sprintf("1: POSIX  ADVISORY  WRITE 1 %s 0 EOF\n2: OFDLCK ADVISORY  WRITE -1 %s 0 EOF\n3: FLOCK  ADVISORY  WRITE 1 %s 0 EOF\n",
		place(st.Dev, st.Ino), place(st.Dev, st.Ino), place(st.Dev+1, st.Ino))
	proc := fakeProc(t, map[string]string{"locks": table}, map[string]string{"self/ns/pid": initNS})
	if l := view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Lock; l.State != Free {
		t.Errorf("record locks and a lock on another device made it %+v", l)
	}
}

// On btrfs and overlayfs the table has the superblock's device, and two files
// of one superblock can have the same number.
func TestASuperblockDeviceNeedsTheDescriptorToConfirm(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	st := statOf(t, file)
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, file, 0, unix.STATX_MNT_ID, &x); err != nil || x.Mask&unix.STATX_MNT_ID == 0 {
		t.Skip("this kernel gives no mount ids")
	}
	other := unix.Mkdev(0, 51)
	files := map[string]string{
		"locks":          fmt.Sprintf("1: FLOCK  ADVISORY  WRITE 77 %s 0 EOF\n", place(other, st.Ino)),
		"self/mountinfo": fmt.Sprintf("%d 1 0:51 /@home / rw - btrfs /dev/vda rw\n", x.Mnt_id),
		"77/stat":        "77 (python3) S 1 77 77 0 -1 4194304 0 0 0 0 5 3 0 0 20 0 1 0 900 0 100 0",
		"77/fdinfo/5":    "flags:\t02\nlock:\t1: FLOCK  ADVISORY  WRITE 77 " + place(other, st.Ino) + " 0 EOF\n",
	}
	here := map[string]string{"self/ns/pid": initNS, "77/fd/5": file}
	l := view(t, NewObserver(Options{Home: h, ProcRoot: fakeProc(t, files, here), SampleInterval: -1}), p).Lock
	if l.State != Held || l.Holder.PID != 77 {
		t.Errorf("confirmed by its descriptor: %+v", l)
	}
	elsewhere := map[string]string{"self/ns/pid": initNS, "77/fd/5": filepath.Join(p, "chroma.sqlite3")}
	l = view(t, NewObserver(Options{Home: h, ProcRoot: fakeProc(t, files, elsewhere), SampleInterval: -1}), p).Lock
	if l.State != Free {
		t.Errorf("the lock is on another file of that number: %+v", l)
	}
}

func TestWithoutALockDirectoryNothingIsMade(t *testing.T) {
	t.Parallel()
	h := realpath(t.TempDir())
	p := filepath.Join(h, "palace")
	o := observe(h, Options{})
	v := view(t, o, p)
	if v.Lock.State != NoDirectory || v.Lock.Path != File(Directory(h), Key(p)) {
		t.Errorf("%+v", v.Lock)
	}
	s := survey(t, o, Target{Path: p})
	if s.Directory != "" || s.Sources.Total != 0 || len(s.HookSlots) != 0 || len(s.Gaps) != 0 {
		t.Errorf("%+v", s)
	}
	entries, err := os.ReadDir(h)
	if err != nil || len(entries) != 0 {
		t.Errorf("looking made %v (%v)", entries, err)
	}
}

// asNobody plays a part as a user who may read no descriptor of ours.
func asNobody(t *testing.T, home string, p part) *actor {
	t.Helper()
	return asUser(t, home, syscall.Credential{Uid: 65534, Gid: 65534}, p, "looker")
}

// asUser plays a part with the rights of somebody else.
func asUser(t *testing.T, home string, who syscall.Credential, p part, argv ...string) *actor {
	t.Helper()
	for dir := home; strings.HasPrefix(dir, realpath(os.TempDir())+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A link rather than a copy: a file just written is busy while any other
	// test forks.
	binary := filepath.Join(home, "looker")
	if err := os.Link(self, binary); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Skipf("the test binary cannot be put where others may run it: %v", err)
	}
	if err := os.Chmod(binary, 0o755); err != nil { // the build goes by the umask
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: binary, Args: argv, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Credential: &who}}
	return startActor(t, cmd, p)
}

// unprivileged looks at a palace as nobody.
func unprivileged(t *testing.T, home, palace string) seen {
	t.Helper()
	a := asNobody(t, home, part{Survey: home + "\x00" + palace})
	var s seen
	if err := json.Unmarshal([]byte(a.said), &s); err != nil {
		t.Fatalf("%q: %v", a.said, err)
	}
	return s
}

func TestAnotherUsersHolderIsNamedAndTheUnseenCounted(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can look as somebody else")
	}
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	// Without the right to look into it, the directory says nothing.
	if s := unprivileged(t, h, p); s.State != string(StateUnknown) || s.Why == "" || len(s.Gaps) == 0 {
		t.Errorf("behind a closed directory: %+v", s)
	}
	for _, dir := range []string{filepath.Join(h, ".mempalace"), Directory(h), p} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	a := act(t, part{Lock: file, Body: "PID mempalace mine", Open: []string{filepath.Join(p, "chroma.sqlite3")}}, "mempalace", "mine", "/x")
	s := unprivileged(t, h, p)
	if s.State != string(Held) || s.PID != a.pid || s.Identity != Known || s.Command != "mempalace mine /x" {
		t.Errorf("%+v, want pid %d", s, a.pid)
	}
	if s.Hidden == 0 || s.Openers != 0 {
		t.Errorf("%d hidden processes, %d openers: nobody may read root's descriptors", s.Hidden, s.Openers)
	}
	a.stop()
	if s := unprivileged(t, h, p); s.State != string(Free) {
		t.Errorf("after it ended: %+v", s)
	}
}

func TestAProcessTableThatHidesOthersIsAGap(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	proc := fakeProc(t, map[string]string{"locks": ""}, map[string]string{"self/ns/pid": initNS})
	o := NewObserver(Options{Home: h, ProcRoot: proc})
	if v := view(t, o, p); len(v.Gaps) != 0 {
		t.Errorf("gaps %v", v.Gaps)
	}
	// hidepid=2: not even init shows.
	if err := os.RemoveAll(filepath.Join(proc, "1")); err != nil {
		t.Fatal(err)
	}
	v := view(t, o, p)
	if v.Lock.State != Free || len(v.Gaps) != 1 || !strings.Contains(v.Gaps[0].Error(), "hidepid") {
		t.Errorf("%+v, gaps %v", v.Lock, v.Gaps)
	}
}
