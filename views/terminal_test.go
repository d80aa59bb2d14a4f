//go:build unix

package views

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"castellan/locks"
)

// hold takes the palace's lock as MemPalace does, until the test ends.
func hold(t *testing.T, home, palacePath string) {
	t.Helper()
	dir := locks.Directory(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(locks.File(dir, locks.Key(palacePath)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "\x00%d mempalace mine /src", os.Getpid()); err != nil {
		t.Fatal(err)
	}
}

func TestTheCommonestTasksTakeFewKeys(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "quarantine-holds-more")
	hold(t, site.home, site.path("healthy"))
	other := newSite(t, "fresh")
	for _, task := range []struct {
		what string
		most int
		do   func(*terminal)
	}{
		{"see whether all is well, and where not", 0, func(x *terminal) { x.sees("2 palaces · 1 held · 1 needs you", "error") }},
		{"see what is in a palace", 1, func(x *terminal) {
			x.press("enter")
			x.sees("wing_people", "Last writes", "upsert")
		}},
		{"see who holds which palace", 1, func(x *terminal) {
			x.press("p")
			x.sees(fmt.Sprint(os.Getpid()), "other writers are refused")
		}},
		{"see what is wrong, how we know, what to do", 3, func(x *terminal) {
			x.press("j", "f", "enter")
			x.sees("vectors-missing", "what now", "The index can be built again")
		}},
		{"check everything", 2, func(x *terminal) {
			x.press("f", "d")
			x.sees("everything checked")
		}},
		{"find a drawer by a word", 2 + len("kernel clock paper"), func(x *terminal) {
			x.press("d")
			x.sees("1,500 drawers")
			x.press("/")
			for _, r := range "kernel clock paper" {
				x.press(string(r))
			}
			x.sees("Chunk 1499", "/1,500")
		}},
		{"read a drawer from beginning to end", 2, func(x *terminal) {
			x.press("d")
			x.sees("Chunk 1499")
			x.press("enter")
			x.sees("clock paper.", "text, 1-7")
		}},
		{"read the oldest drawer", 2, func(x *terminal) {
			x.press("d")
			x.sees("Chunk 1499")
			x.press("S")
			x.sees("Chunk 0:", "oldest first")
		}},
		{"go through a wing room by room", 4, func(x *terminal) {
			x.press("enter")
			x.sees("wing_people")
			x.press("tab", "enter")
			x.sees("general", "94")
			x.press("enter")
			x.sees("94 drawers")
		}},
		{"copy the id of a drawer", 3, func(x *terminal) {
			x.press("d")
			x.sees("id           drawer_")
			x.press("y")
			x.sees("path of the source")
			x.press("i")
			x.sees("Sent id, ")
		}},
		{"open a palace that is not in the list", 3, func(x *terminal) {
			x.press("o")
			x.sees("Open the palace at")
			x.keys++ // the paste
			x.write("\x1b[200~" + other.path("fresh") + "\x1b[201~")
			x.sees("palaces/fresh")
			x.press("enter")
			x.sees("All 5 drawers can be found")
		}},
		{"learn the keys and go", 3, func(x *terminal) {
			x.press("?")
			x.sees("Help: castellan")
			x.press("q")
			x.until("close the help", func(s string) bool { return !strings.Contains(s, "Help: castellan") })
			x.press("q")
			if err := x.ends(); err != nil {
				x.t.Errorf("q ended with %v", err)
			}
		}},
	} {
		t.Run(task.what, func(t *testing.T) {
			t.Parallel()
			x := startTerminal(t, site.home, 80, 24)
			x.sees("1 needs you", "1 held")
			task.do(x)
			if x.keys > task.most {
				t.Errorf("%d keys, want %d at most", x.keys, task.most)
			}
		})
	}
}

func TestTheTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fresh")
	x := startTerminal(t, site.home, 80, 24)
	x.sees("1 palace")
	if !x.screen.IsAltScreen() {
		t.Error("the screens are not on the alternate screen")
	}
	x.press("ctrl+z")
	x.until("be given back for a suspension", func(string) bool { return !x.screen.IsAltScreen() })
	// The screen is given back some time before the process stops, and one that
	// has not stopped yet takes no notice of being continued.
	x.until("come back", func(s string) bool {
		if err := x.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		return x.screen.IsAltScreen() && strings.Contains(s, "1 palace")
	})
	x.press("ctrl+c")
	if err := x.ends(); err != nil {
		t.Error(err)
	}
	if x.screen.IsAltScreen() || !strings.Contains(x.text(), "ended: <nil>") {
		t.Errorf("the terminal was not given back:\n%s", x.text())
	}
}

func TestHangUpAndTerminationEndInGoodOrder(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fresh")
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		x := startTerminal(t, site.home, 80, 24)
		x.sees("1 palace")
		if err := x.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := x.ends()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%v: ended with %v", sig, err)
		}
		if x.screen.IsAltScreen() || !strings.Contains(x.text(), "ended: ") {
			t.Errorf("%v: the terminal was not given back:\n%s", sig, x.text())
		}
	}
}

func TestALostTerminalEndsTheProgram(t *testing.T) {
	t.Parallel()
	x := startTerminal(t, newSite(t, "fresh").home, 80, 24)
	x.sees("1 palace")
	if err := x.tty.Close(); err != nil {
		t.Fatal(err)
	}
	_ = x.ends() // with an error or by a signal: it must only not stay
}

func TestResizingPastingAndJoinedKeysInATerminal(t *testing.T) {
	t.Parallel()
	x := startTerminal(t, newSite(t, "healthy", "fresh").home, 80, 24)
	x.sees("2 palaces", "1,500", "  5 ")
	x.write("\x1b[200~qqq\x1b[201~")
	x.write("jkd") // in one read
	x.sees("1,500 drawers")
	x.screen.Resize(40, 12)
	if err := pty.Setsize(x.tty, &pty.Winsize{Rows: 12, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	x.sees("healthy › mempalace_drawers", "? help")
	x.screen.Resize(24, 5)
	if err := pty.Setsize(x.tty, &pty.Winsize{Rows: 5, Cols: 24}); err != nil {
		t.Fatal(err)
	}
	x.sees("needs 30x8, has 24x5")
	x.screen.Resize(120, 40)
	if err := pty.Setsize(x.tty, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	x.sees("Chunk 1499", "live")
	x.press("q", "q")
	if err := x.ends(); err != nil {
		t.Error(err)
	}
}

func TestTheEditorGetsTheTerminalAndTheFile(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	// The editor writes down what it was called with.
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	script := "#!/bin/sh\nfor a in \"$@\"; do echo \"[$a]\"; done\necho editing\nread x\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "so; touch x")
	if err := os.WriteFile(source, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	setMetadata(t, site.path("healthy"), "source_file", source)
	x := startTerminal(t, site.home, 120, 40, "VISUAL="+editor+" -x")
	x.sees("1,500")
	x.press("d")
	x.sees("e edit source")
	x.press("e")
	x.sees("[-x]", "["+source+"]", "editing")
	x.press("enter")
	x.sees("1,500 drawers", "live")
	x.press("ctrl+c")
	if err := x.ends(); err != nil {
		t.Error(err)
	}
}
