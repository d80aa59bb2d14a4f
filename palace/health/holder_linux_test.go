package health

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"castellan/locks"
	"castellan/palace"
)

// roleVariable makes the test binary play a part in another process.
const roleVariable = "CASTELLAN_HEALTH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role, arg, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "hold":
		os.Exit(hold(arg))
	case "open":
		os.Exit(keepOpen(arg))
	case "look":
		os.Exit(look(arg))
	}
	os.Exit(m.Run())
}

// hold takes a lock file the way MemPalace does and keeps it until its input
// ends.
func hold(path string) int {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return 1
	}
	f.WriteAt(fmt.Appendf(nil, "%d mempalace mine /x", os.Getpid()), 1)
	return waitForEnd()
}

func keepOpen(path string) int {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 1
	}
	defer f.Close()
	return waitForEnd()
}

func waitForEnd() int {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// look prints what a user without rights is told.
func look(dir string) int {
	home, err := os.MkdirTemp("", "castellan-look-")
	if err != nil {
		return 1
	}
	defer os.RemoveAll(home)
	m := palace.NewManager(palace.Options{Home: home, Env: func(string) string { return "" }, WorkDir: home})
	defer m.Close()
	e := NewExaminer(Options{Manager: m, Observer: locks.NewObserver(locks.Options{Home: home, SampleInterval: -1})})
	site := m.Examine(context.Background(), dir)
	r := e.Report(context.Background(), palace.Found{Ref: site.Ref}, Sampled)
	fmt.Println(r.Palace.State, r.Verdict, codesOf(r), r.Error != nil)
	for _, f := range r.Findings {
		fmt.Println(f.Evidence)
	}
	return 0
}

// start runs the test binary in a role, ready when it says so, ended by the
// test's end.
func start(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%s: %q %v", role, line, err)
	}
	return cmd
}

func reportAt(t *testing.T, home, dir string) *Report {
	t.Helper()
	e := examinerIn(t, home)
	site := e.opts.Manager.Examine(context.Background(), dir)
	return e.Report(context.Background(), palace.Found{Ref: site.Ref}, Sampled)
}

func TestAHeldPalaceNamesItsHolder(t *testing.T) {
	home, dir := t.TempDir(), makeSpecimen(t, "never-flushed")
	lockDir := filepath.Join(home, ".mempalace", "locks")
	if err := os.MkdirAll(lockDir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(lockDir, "mine_palace_"+locks.Key(dir)+".lock")
	holder := start(t, "hold "+path)
	r := reportAt(t, home, dir)
	h := r.Lock.Holder
	if r.Lock.State != "held" || h == nil || h.PID == nil || *h.PID != holder.Process.Pid || h.Identity != "known" || h.Started == nil {
		t.Fatalf("%+v %+v", r.Lock, h)
	}
	if !slices.Contains(codesOf(r), LockHeld) || r.Verdict != VerdictOK {
		t.Fatal(codesOf(r), r.Verdict)
	}
}

func TestADeadHoldersNameInTheFileMeansFree(t *testing.T) {
	home, dir := t.TempDir(), makeSpecimen(t, "never-flushed")
	lockDir := filepath.Join(home, ".mempalace", "locks")
	if err := os.MkdirAll(lockDir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf("\x00%d mempalace mine /x", dead.Process.Pid)
	if err := os.WriteFile(filepath.Join(lockDir, "mine_palace_"+locks.Key(dir)+".lock"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	r := reportAt(t, home, dir)
	if r.Lock.State != "free" || r.Lock.Holder != nil || r.Lock.LastHolder == nil || *r.Lock.LastHolder.PID != dead.Process.Pid || *r.Lock.LastHolder.Alive {
		t.Fatalf("%+v", r.Lock)
	}
	if !slices.Contains(codesOf(r), LockLastHolderDead) {
		t.Fatal(codesOf(r))
	}
}

func TestSeveralWritersAndLeftBehindOnesAreNamed(t *testing.T) {
	home, dir := t.TempDir(), makeSpecimen(t, "never-flushed")
	db := filepath.Join(dir, "chroma.sqlite3")
	one, two := start(t, "open "+db), start(t, "open "+db)
	r := reportAt(t, home, dir)
	if len(r.Openers) != 2 || !slices.Contains(codesOf(r), SeveralWriters) {
		t.Fatalf("%v %+v", codesOf(r), r.Openers)
	}
	// Deleted and made again under the same path, as a rebuild does.
	data, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r = reportAt(t, home, dir)
	var named []int
	for _, f := range r.Findings {
		if f.Code == DatabaseMovedWhileOpen {
			named = append(named, f.Evidence["pid"].(int))
		}
	}
	slices.Sort(named)
	want := []int{one.Process.Pid, two.Process.Pid}
	slices.Sort(want)
	if !slices.Equal(named, want) {
		t.Fatalf("named %v, want %v: %v", named, want, codesOf(r))
	}
}

func TestForbiddenPalacesAreNotCalledMissingOrEmpty(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make what another user may not read")
	}
	for _, name := range []string{"directory-forbidden", "database-forbidden"} {
		base, err := os.MkdirTemp("/tmp", "castellan-forbidden-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(base) })
		made := makeSpecimen(t, name)
		dir := filepath.Join(base, "palace")
		if err := os.Rename(made, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(base, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod("/proc/self/exe", 0o755); err != nil { // the build goes by the umask
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe")
		cmd.Dir = "/"
		cmd.Env = []string{roleVariable + "=look " + dir, "TMPDIR=/tmp"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if s := string(out); !strings.HasPrefix(s, "unreadable error [permission-denied") || !strings.Contains(s, "true\n") || !strings.Contains(s, "owner:root") && !strings.Contains(s, "problem:permission-denied") {
			t.Errorf("%s: %s", name, s)
		}
	}
}
