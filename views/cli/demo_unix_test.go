//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"castellan/locks"
	"castellan/palace/specimen"
	"castellan/views/cli"

	"golang.org/x/sys/unix"
)

// writerFunc calls a function with what is written.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// runDemo runs the demo with its temporary files in a folder of their own.
func runDemo(t *testing.T, ctx context.Context, out io.Writer) (code int, stderr, tmp string) {
	t.Helper()
	tmp = t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var errs bytes.Buffer
	code = cli.Program{
		Args: []string{"demo"}, In: strings.NewReader(""), Out: out, Err: &errs, Samples: recorded,
	}.Run(ctx)
	return code, errs.String(), tmp
}

// secondProcess finds the holder's pid in what the tour says.
func secondProcess(t *testing.T, told string) int {
	t.Helper()
	m := regexp.MustCompile(`second process, PID\s+(\d+)`).FindStringSubmatch(told)
	if m == nil {
		t.Fatalf("the tour names no second process:\n%s", told)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestInterruptedDemoLeavesNothingBehind(t *testing.T) {
	for _, tc := range []struct {
		name string
		// stop ends the demo from inside its first write.
		stop func(cancel func()) error
		code int
	}{
		{"signal", func(cancel func()) error { cancel(); return nil }, 130},
		{"closed pipe", func(func()) error { return syscall.EPIPE }, 0},
		{"full disk", func(func()) error { return syscall.ENOSPC }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid := 0
			code, stderr, tmp := runDemo(t, ctx, writerFunc(func(p []byte) (int, error) {
				if pid == 0 {
					pid = secondProcess(t, string(p))
					if err := syscall.Kill(pid, 0); err != nil {
						t.Errorf("the second process is not there: %v", err)
					}
				}
				if err := tc.stop(cancel); err != nil {
					return 0, err
				}
				return len(p), nil
			}))
			if code != tc.code {
				t.Errorf("exit code %d, want %d: %s", code, tc.code, stderr)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the second process, %d, is still there: %v", pid, err)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// startHolder starts this program as the demo's second process, and returns
// when it holds the lock of a palace.
func startHolder(t *testing.T) (cmd *exec.Cmd, stdin io.Closer, lockFile string) {
	t.Helper()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "palace")
	if err := specimen.CopyFS(recorded, "fresh", dir); err != nil {
		t.Fatal(err)
	}
	lockFile = locks.File(locks.Directory(home), locks.Key(dir))
	if err := os.MkdirAll(filepath.Dir(lockFile), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(os.Args[0], "demo-holder")
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
	t.Cleanup(func() { _ = in.Close() })
	orders := map[string]string{"lock": lockFile, "database": filepath.Join(dir, specimen.Database)}
	if err := json.NewEncoder(in).Encode(orders); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("%q %v", line, err)
	}
	return cmd, in, lockFile
}

func TestHolderHoldsUntilItsStarterIsGone(t *testing.T) {
	cmd, stdin, file := startHolder(t)
	lock, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("the lock is not held: %v", err)
	}
	body, err := os.ReadFile(file)
	if want := "\x00" + strconv.Itoa(cmd.Process.Pid) + " castellan demo-holder"; err != nil || string(body) != want {
		t.Errorf("lock file says %q, want %q (%v)", body, want, err)
	}
	// What the kernel does when the starter dies, however it dies.
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("the lock outlives its holder: %v", err)
	}
}

func TestSignalsEndACommandInGoodOrder(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, _, _ := startHolder(t)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%v, want exit code 130", err)
			}
		})
	}
}
