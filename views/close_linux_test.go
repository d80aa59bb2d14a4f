package views

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"
)

// startPeer holds a palace in another process, under a home.
func startPeer(t *testing.T, home, palace string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"mempalace", "mine", palace}
	cmd.Env = append(os.Environ(), peerPalace+"="+palace, "HOME="+home)
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

// A holder is made to let go with three keys, and the end is told wherever one is.
func TestAHolderIsClosedFromTheScreens(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fresh")
	holder := startPeer(t, site.home, site.path("fresh"))
	x := startTerminal(t, site.home, 80, 24)
	x.sees("1 held", "c close")
	x.press("c")
	x.sees("Touches", "enter close")
	x.press("enter")
	x.sees("[ Back ]")
	time.Sleep(graceTime)
	x.press("y")
	x.sees("2/2 watch", "running")
	if x.keys > 3 {
		t.Errorf("%d keys, want 3 at most", x.keys)
	}
	if err := holder.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("the holder ended with %v", err)
	}
	x.press("q", "t")
	x.sees("tasks", "done", "nobody came back")
	x.press("enter", "G")
	x.sees("1/2 ask", "2/2 watch")
	x.press("q", "q")
	x.sees("1 palace", "free")
	x.press("q")
	if err := x.ends(); err != nil {
		t.Error(err)
	}
}

// graceTime is longer than a question that opens by itself takes no keys.
const graceTime = 600 * time.Millisecond
