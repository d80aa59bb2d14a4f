//go:build unix

package views

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is the program in an in-process terminal.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File
	screen *vt.SafeEmulator
	exited chan error
	keys   int
}

func startTerminal(t *testing.T, home string, w, h int, env ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append([]string{childHome + "=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "SSH_TTY=/dev/pts/9", "EDITOR="}, env...)...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	// Only a descriptor that does not block is really closed while somebody
	// reads from it, and only then the terminal is lost.
	syscall.ForkLock.RLock() // no other child may get it
	fd, err := syscall.Dup(int(tty.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tty.Close(), syscall.SetNonblock(fd, true)); err != nil {
		t.Fatal(err)
	}
	tty = os.NewFile(uintptr(fd), "terminal")
	x := &terminal{t: t, cmd: cmd, tty: tty, screen: vt.NewSafeEmulator(w, h), exited: make(chan error, 1)}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		// Ends with EIO once the program is gone.
		_, _ = io.Copy(x.screen, tty)
	}()
	go func() { _, _ = io.Copy(io.Discard, x.screen) }() // what the terminal would answer
	go func() {
		err := cmd.Wait()
		<-shown
		x.exited <- err
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		// Emulator.Close races with its own Read; closing what it reads from does not.
		if in, ok := x.screen.InputPipe().(io.Closer); ok {
			_ = in.Close()
		}
	})
	return x
}

func (x *terminal) text() string {
	lines := strings.Split(ansi.Strip(x.screen.Render()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.Join(lines, "\n")
}

// sees waits until all texts are on the screen.
func (x *terminal) sees(texts ...string) {
	x.t.Helper()
	x.until("show "+strings.Join(texts, ", "), func(s string) bool {
		for _, want := range texts {
			if !strings.Contains(s, want) {
				return false
			}
		}
		return true
	})
}

func (x *terminal) until(what string, ok func(string) bool) {
	x.t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		s := x.text()
		if ok(s) {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("the screen does not %s:\n%s", what, s)
		}
	}
}

// press presses keys by their names, and counts them.
func (x *terminal) press(names ...string) {
	x.t.Helper()
	bytes := map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ", "ctrl+c": "\x03", "ctrl+z": "\x1a", "ctrl+l": "\x0c",
		"down": "\x1b[B", "up": "\x1b[A"}
	for _, n := range names {
		s, ok := bytes[n]
		if !ok {
			s = n
		}
		x.keys++
		x.write(s)
		// A person's next key comes in a read of its own.
		time.Sleep(15 * time.Millisecond)
	}
}

func (x *terminal) write(s string) {
	x.t.Helper()
	if _, err := io.WriteString(x.tty, s); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end of the program.
func (x *terminal) ends() error {
	x.t.Helper()
	select {
	case err := <-x.exited:
		return err
	case <-time.After(deadline):
		x.t.Fatalf("the program does not end:\n%s", x.text())
		return nil
	}
}
