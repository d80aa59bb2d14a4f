package cli_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/views/cli"

	"github.com/creack/pty"
)

// startPeer holds a palace in another process.
func startPeer(t *testing.T, palace, how string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"mempalace", "mine", palace}
	cmd.Env = append(os.Environ(), "PEER="+how)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return cmd
}

// typed runs a command on a terminal, where somebody answers what it asks.
func typed(t *testing.T, answer string, args ...string) (code int, stdout, screen string) {
	t.Helper()
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		b, _ := io.ReadAll(keys) // EIO at the end
		shown <- string(b)
	}()
	if _, err := keys.WriteString(answer); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code = cli.Program{Args: args, In: terminal, Out: &out, Err: terminal, Samples: recorded}.Run(t.Context())
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	screen = <-shown
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	return code, out.String(), screen
}

func TestClosingAsksAndNoIsTheAnswerToEverythingButYes(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	palace := filepath.Join(home, "work")
	if err := os.Mkdir(palace, 0o700); err != nil {
		t.Fatal(err)
	}
	holder := startPeer(t, palace, "deaf")
	for _, answer := range []string{"\n", "n\n", "work\n", "\x04"} {
		code, stdout, screen := typed(t, answer, "close", palace)
		if code != 1 || stdout != "" || !strings.Contains(screen, "[y/N]") || !strings.Contains(screen, "nothing was done") || strings.Contains(screen, "sent to") {
			t.Errorf("%q: exit code %d, %q\n%s", answer, code, stdout, screen)
		}
	}
	for _, answer := range []string{"y\n", "palace\n", "Work\n"} {
		code, _, screen := typed(t, answer, "close", palace, "--kill")
		if code != 1 || !strings.Contains(screen, "Type work") || strings.Contains(screen, "sent to") {
			t.Errorf("%q: exit code %d\n%s", answer, code, screen)
		}
	}
	code, stdout, screen := typed(t, "y\n", "close", palace, "--wait", "300ms", "--watch", "300ms")
	if code != 4 || !strings.Contains(stdout, "still has it") || !strings.Contains(screen, "SIGTERM sent to") {
		t.Errorf("exit code %d, %q\n%s", code, stdout, screen)
	}
	code, stdout, screen = typed(t, "work\n", "close", palace, "--kill", "--wait", "300ms", "--watch", "300ms")
	if code != 0 || !strings.Contains(stdout, "Closed.") || !strings.Contains(screen, "SIGKILL sent to") {
		t.Errorf("exit code %d, %q\n%s", code, stdout, screen)
	}
	if err := holder.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the holder ended with %v", err)
	}
}

func TestInterruptingAWaitTellsWhoWasAsked(t *testing.T) {
	home := t.TempDir()
	palace := filepath.Join(home, "work")
	if err := os.Mkdir(palace, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	startPeer(t, palace, "deaf")
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"castellan", "close", palace, "--yes", "--json"}
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"))
	cmd.WaitDelay = time.Minute
	var out bytes.Buffer
	cmd.Stdout = &out
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "SIGTERM sent to") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(out.String(), `"exited": false`) {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}
