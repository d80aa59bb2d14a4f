package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace/specimen"
)

// aPalace is a copy of a recorded palace in a home of its own.
func aPalace(t *testing.T) (dir string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "work")
	if err := specimen.CopyFS(recorded, "healthy", dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	return dir
}

func TestDeletingAsksAndAWingWantsItsName(t *testing.T) {
	dir := aPalace(t)
	before, err := specimen.HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	source := []string{"delete", dir, "--source", "/home/u/notes/file_001.md"}
	wing := []string{"delete", dir, "--wing", "wing_code"}
	for _, answer := range []string{"\n", "n\n", "\x04"} {
		code, stdout, screen := typed(t, answer, source...)
		if code != 1 || stdout != "" || !strings.Contains(screen, "[y/N]") || !strings.Contains(screen, "nothing was done") || !strings.Contains(screen, "7 of the 1,500 rows") {
			t.Errorf("%q: exit code %d, %q\n%s", answer, code, stdout, screen)
		}
	}
	for _, answer := range []string{"y\n", "yes\n", "work\n", "Wing_code\n", "\n"} {
		code, stdout, screen := typed(t, answer, wing...)
		if code != 1 || stdout != "" || !strings.Contains(screen, "Type wing_code") || strings.Contains(screen, "cannot be undone") {
			t.Errorf("%q: exit code %d, %q\n%s", answer, code, stdout, screen)
		}
	}
	after, err := specimen.HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := specimen.Diff(before, after); len(d) > 0 {
		t.Errorf("nobody has agreed, and it has changed:\n%s", strings.Join(d, "\n"))
	}
	for answer, args := range map[string][]string{"y\n": source, "wing_code\n": wing} {
		if code, stdout, screen := typed(t, answer, args...); code != 0 || !strings.Contains(stdout, "deleted") {
			t.Errorf("%q: exit code %d, %q\n%s", answer, code, stdout, screen)
		}
	}
	if code, stdout, screen := typed(t, "y\n", "undo", dir); code != 0 || !strings.Contains(stdout, "put back") || !strings.Contains(screen, "Put them back? [y/N]") {
		t.Errorf("exit code %d, %q\n%s", code, stdout, screen)
	}
}

func TestADeleteThatWaitsCanBeInterrupted(t *testing.T) {
	dir := aPalace(t)
	startPeer(t, dir, "")
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"castellan", "delete", dir, "--wing", "wing_code", "--yes", "--json", "--wait", "10m"}
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
		if strings.Contains(lines.Text(), "waits for PID") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(out.String(), `"interrupted"`) || !strings.Contains(out.String(), `"result": null`) {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}
