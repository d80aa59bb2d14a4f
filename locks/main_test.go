package locks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleVariable makes this test binary play another program's part.
const roleVariable = "LOCKS_TEST_ROLE"

func TestMain(m *testing.M) {
	if raw := os.Getenv(roleVariable); raw != "" {
		var p part
		if err := json.Unmarshal([]byte(raw), &p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := p.play(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// part is what a second process does until its standard input ends.
type part struct {
	Lock   string   // take this lock, not waiting
	Await  string   // wait for this lock
	Body   string   // write this into the lock file behind the sentinel; "PID" stands for its own
	Open   []string // have these files open for writing
	Burn   bool     // use processor time
	Leak   bool     // leave the lock to a child and exit
	Share  bool     // share the lock with a child
	Linger bool     // nothing but live (a child that inherited the lock)
	Survey string   // print the view of a palace: home and palace, joined by a NUL
	Peer   *peer    // take locks through this package
}

// actor is a running part.
type actor struct {
	pid   int
	child int // of Leak and Share
	said  string
	stop  func() // ends it and its child
}

// act starts a process with any argv and waits until it has done its part.
func act(t testing.TB, p part, argv ...string) *actor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: argv, SysProcAttr: ownSession()}
	return startActor(t, cmd, p)
}

func startActor(t testing.TB, cmd *exec.Cmd, p part) *actor {
	t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Environ(), roleVariable+"="+string(raw))
	cmd.Stderr = os.Stderr
	// Of our own making: Wait would close a StdinPipe while a child still
	// depends on it.
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = in, say
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	say.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the second process said nothing: %v", err)
	}
	a := &actor{pid: cmd.Process.Pid, said: strings.TrimSpace(line)}
	fmt.Sscanf(line, "ready %d", &a.child)
	stopped := false
	a.stop = func() {
		if stopped {
			return
		}
		stopped = true
		hold.Close()
		// Its end of the pipe closes when it and its children are gone.
		io.Copy(io.Discard, out)
		out.Close()
		if !p.Leak {
			cmd.Wait()
		}
	}
	if p.Leak {
		cmd.Wait()
	}
	t.Cleanup(a.stop)
	return a
}

// home is a scratch home with a lock directory.
func home(t testing.TB) string {
	t.Helper()
	h := realpath(t.TempDir())
	if err := os.MkdirAll(Directory(h), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// palaceIn makes a palace directory with files that look like one.
func palaceIn(t testing.TB, home string) string {
	t.Helper()
	p := filepath.Join(home, ".mempalace", "palace")
	write(t, filepath.Join(p, "chroma.sqlite3"), "database")
	write(t, filepath.Join(p, "0b7c2e1a-0000-4000-8000-000000000001", "data_level0.bin"), "vectors")
	return p
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lockFile is the lock file of a palace, made when missing as MemPalace does.
func lockFile(t testing.TB, home, palace string) string {
	t.Helper()
	path := File(Directory(home), Key(palace))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return path
}

// observe makes an observer that believes it sees every process, wherever the
// tests run: the processes of the tests are all in its own namespace.
func observe(home string, opt Options) *Observer {
	opt.Home = home
	o := NewObserver(opt)
	o.outside = func(string) string { return "" }
	return o
}

func survey(t testing.TB, o *Observer, targets ...Target) Survey {
	t.Helper()
	s, err := o.Survey(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func view(t testing.TB, o *Observer, palace string) PalaceView {
	t.Helper()
	v, err := o.Palace(t.Context(), Target{Path: palace})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// eventually waits for what another process is about to do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}
