package closing

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"castellan/locks"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// proc is a process table of our own making, in which a real process holds the
// lock.
type proc struct {
	t     *testing.T
	root  string
	pid   int
	stage stage
}

func newProc(t *testing.T, s stage, pid int) *proc {
	p := &proc{t: t, root: t.TempDir(), pid: pid, stage: s}
	lock := locks.File(locks.Directory(s.home), locks.Key(s.palace))
	must(t, os.WriteFile(lock, nil, 0o600))
	var st unix.Stat_t
	must(t, unix.Stat(lock, &st))
	entry := fmt.Sprintf("1: FLOCK  ADVISORY  WRITE %d %02x:%02x:%d 0 EOF\n", pid, unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	p.write("stat", "cpu 0\nbtime 1700000000\n")
	p.write("locks", entry)
	p.write("1/stat", "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0")
	must(t, os.Mkdir(filepath.Join(p.root, "1", "fd"), 0o700))
	p.born(900)
	p.write(itoa(pid)+"/cmdline", "python3\x00-m\x00mempalace.mcp_server\x00")
	p.write(itoa(pid)+"/fdinfo/5", "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nlock:\t"+entry)
	must(t, os.MkdirAll(filepath.Join(p.root, itoa(pid), "fd"), 0o700))
	must(t, os.Symlink(lock, filepath.Join(p.root, itoa(pid), "fd", "5")))
	must(t, os.MkdirAll(filepath.Join(p.root, "self", "ns"), 0o700))
	must(t, os.Symlink("pid:[4026531836]", filepath.Join(p.root, "self", "ns", "pid")))
	return p
}

func (p *proc) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(p.t, os.WriteFile(path, []byte(text), 0o600))
}

// born sets when the process started, in ticks since boot.
func (p *proc) born(ticks int) {
	p.write(itoa(p.pid)+"/stat", fmt.Sprintf("%d (python3) S 1 %d %d 0 -1 4194304 0 0 0 0 5 3 0 0 20 0 1 0 %d 0 100 0", p.pid, p.pid, p.pid, ticks))
}

func (p *proc) letGo() {
	p.write("locks", "")
	must(p.t, os.Remove(filepath.Join(p.root, itoa(p.pid), "fd", "5")))
	must(p.t, os.Remove(filepath.Join(p.root, itoa(p.pid), "fdinfo", "5")))
}

func (p *proc) observer() *locks.Observer {
	return locks.NewObserver(locks.Options{Home: p.stage.home, ProcRoot: p.root, SampleInterval: -1, Getenv: func(string) string { return "" }})
}

// A pid that is used again, or a lock that is let go, between the look and the
// signal must cost nobody's life.
func TestNobodyIsSignalledWhoIsNotTheHolderAtThatMoment(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*proc){
		"the pid is used again":  func(p *proc) { p.born(901) },
		"the lock has been left": (*proc).letGo,
		"nothing":                nil, // or this test could not fail
	} {
		for _, when := range []string{"after the plan", "after the grip"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, t.TempDir())
				victim := s.start(t, "bystander")
				p := newProc(t, s, victim.pid)
				a := s.closer(t, Options{Observer: p.observer(), Wait: time.Second})
				plan := plan(t, a)
				grips := 0
				a.grip = func(pid int) (grip, error) {
					g, err := openGrip(pid)
					if grips++; change != nil && when == "after the grip" && grips == 1 {
						change(p)
					}
					return g, err
				}
				if change != nil && when == "after the plan" {
					change(p)
				}
				o, f := conduct(t, a, plan)
				if change == nil {
					<-victim.ended
					if o == nil || len(o.Asked) != 1 || o.Asked[0].PID != victim.pid {
						t.Errorf("%+v, %+v", o, f)
					}
					return
				}
				if o != nil && len(o.Asked) != 0 {
					t.Errorf("asked: %+v", o.Asked)
				}
				if !victim.alive() {
					t.Error("ended")
				}
			})
		}
	}
}

func TestAHolderThatOnlyTheLockFileNamesIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	victim := s.start(t, "bystander")
	p := newProc(t, s, victim.pid)
	// Taken by somebody in another PID namespace: the table shows no pid.
	lock := locks.File(locks.Directory(s.home), locks.Key(s.palace))
	must(t, os.WriteFile(lock, []byte("\x00"+itoa(victim.pid)+" mempalace mine"), 0o600))
	table := filepath.Join(p.root, "locks")
	must(t, os.WriteFile(table, []byte(strings.Replace(text(t, table), "WRITE "+itoa(victim.pid), "WRITE 0", 1)), 0o600))
	must(t, os.RemoveAll(filepath.Join(p.root, itoa(victim.pid), "fd")))
	must(t, os.RemoveAll(filepath.Join(p.root, itoa(victim.pid), "fdinfo")))
	if r := refusal(t, s.closer(t, Options{Observer: p.observer()})); r.Kind != HolderUnseen || r.Next == "" {
		t.Errorf("%v", r)
	}
}

func TestAnotherUsersHolderIsRefusedBeforeAnythingHappens(t *testing.T) {
	const again = "CASTELLAN_CLOSING_NOBODY"
	if dir := os.Getenv(again); dir != "" {
		s := stage{home: dir, palace: filepath.Join(dir, "work")}
		if r := refusal(t, s.closer(t, Options{})); r.Kind != PermissionDenied && r.Kind != HolderUnseen {
			t.Errorf("%v", r)
		} else {
			t.Logf("%s: %v", r.Kind, r)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "castellan-closing-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	s := newStage(t, dir)
	holder := s.start(t, "holder")
	must(t, os.Chmod(filepath.Join(dir, ".mempalace"), 0o755))
	must(t, os.Chmod(locks.Directory(dir), 0o755))
	must(t, os.Chmod(locks.File(locks.Directory(dir), locks.Key(s.palace)), 0o644))
	must(t, os.Chmod("/proc/self/exe", 0o755)) // the build goes by the umask
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), again+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) || !strings.Contains(string(out), PermissionDenied+":") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	if !holder.alive() {
		t.Error("the holder was ended")
	}
}
