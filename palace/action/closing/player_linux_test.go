package closing

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"castellan/locks"

	"go.uber.org/goleak"
)

// part names the part that this test binary plays as another process.
const part = "CASTELLAN_CLOSING_PART"

func TestMain(m *testing.M) {
	if p := os.Getenv(part); p != "" {
		if err := play(p, os.Getenv("CASTELLAN_CLOSING_HOME"), os.Getenv("CASTELLAN_CLOSING_PALACE")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// play goes on until standard input ends or a signal does its work.
func play(p, home, palace string) error {
	ready := func() { fmt.Println("ready", os.Getpid()) }
	stay := func() error { _, err := io.Copy(io.Discard, os.Stdin); return err }
	take := func() error {
		_, err := locks.Take(context.Background(), locks.Target{Path: palace}, locks.TakeOptions{Home: home})
		return err
	}
	open := func(flag int) error {
		_, err := os.OpenFile(filepath.Join(palace, "chroma.sqlite3"), flag, 0)
		return err
	}
	var err error
	switch p {
	case "holder":
		err = take()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		err = take()
	case "server": // as a Chroma server is: SIGTERM does nothing
		signal.Ignore(syscall.SIGTERM)
		err = open(os.O_RDWR)
	case "opener":
		err = open(os.O_RDWR)
	case "reader":
		err = open(os.O_RDONLY)
	case "bystander":
	case "supervisor": // starts its holder again whenever that is ended
		for {
			c := exec.Command("/proc/self/exe")
			c.Args = []string{"mempalace", "mine", "/x"}
			c.Env = append(os.Environ(), part+"=holder")
			c.Stdin, c.Stdout = os.Stdin, os.Stdout
			if err := c.Run(); err == nil {
				return nil
			}
		}
	}
	if err != nil {
		return err
	}
	ready()
	return stay()
}

// actor is another process that plays a part.
type actor struct {
	pid   int // of who has the palace, which may be a child
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
	ended chan struct{}
}

// stage is a home with a palace in it.
type stage struct{ home, palace string }

func newStage(t *testing.T, dir string) stage {
	t.Helper()
	s := stage{home: dir, palace: filepath.Join(dir, "work")}
	must(t, os.MkdirAll(locks.Directory(s.home), 0o755))
	must(t, os.MkdirAll(s.palace, 0o755))
	must(t, os.WriteFile(filepath.Join(s.palace, "chroma.sqlite3"), []byte("SQLite format 3\x00"), 0o644))
	return s
}

func (s stage) start(t *testing.T, p string, args ...string) *actor {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	if len(args) == 0 {
		args = []string{"mempalace", "mine", "/x"}
	}
	cmd.Args = args
	cmd.Env = append(os.Environ(), part+"="+p, "CASTELLAN_CLOSING_HOME="+s.home, "CASTELLAN_CLOSING_PALACE="+s.palace)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	a := &actor{cmd: cmd, stdin: stdin, lines: bufio.NewReader(stdout), ended: make(chan struct{})}
	a.pid = a.ready(t)
	go func() { // ends with the process, which Cleanup waits for
		_, _ = cmd.Process.Wait()
		close(a.ended)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		<-a.ended
		_ = stdout.Close()
	})
	return a
}

// ready waits for the next one who has done what its part says.
func (a *actor) ready(t *testing.T) int {
	t.Helper()
	line, err := a.lines.ReadString('\n')
	pid, found := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	n, convErr := strconv.Atoi(pid)
	if err != nil || !found || convErr != nil {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return n
}

func (a *actor) alive() bool {
	select {
	case <-a.ended:
		return false
	default:
		return true
	}
}
