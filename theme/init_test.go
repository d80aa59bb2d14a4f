//go:build unix

package theme_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"

	_ "castellan/theme"
)

const probe = "CASTELLAN_THEME_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probe) != "" {
		// Bubble Tea has been linked in and initialised by now.
		fmt.Printf("started %T\n", tea.Quit())
		return
	}
	os.Exit(m.Run())
}

// A program that links Bubble Tea must not ask a terminal that stays silent: it
// would stand still for five seconds before its first line.
func TestStartingAsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	for _, kv := range os.Environ() {
		// CI switches the question off by itself.
		if !strings.HasPrefix(kv, "CI=") && !strings.HasPrefix(kv, "TERM=") && !strings.HasPrefix(kv, "COLORFGBG=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, probe+"=1", "TERM=xterm-256color")
	term, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer term.Close()
	var out bytes.Buffer
	io.Copy(&out, term) // ends with EIO when the child closes its side
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "started") || strings.Contains(got, "\x1b") {
		t.Errorf("a silent terminal was sent %q", got)
	}
}
