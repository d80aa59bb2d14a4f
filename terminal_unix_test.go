//go:build unix

package main_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Bubble Tea asks the terminal for its background colour when its package is
// initialised, and waits five seconds for one that stays mute: every start
// would stall, that of "version" too. The deadline below is what is tested.
func TestMuteTerminalDoesNotStallTheStart(t *testing.T) {
	const stall = 5 * time.Second
	path := binary(t)
	for _, tc := range []struct{ arg, want string }{{"version", "SQLite"}, {"--help", "castellan [command]"}} {
		t.Run(tc.arg, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), stall-time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, tc.arg)
			cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+t.TempDir())
			// A terminal that shows what it is sent and never answers.
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			shown := make(chan string)
			go func() {
				// The read ends with EIO once the program is gone.
				text, _ := io.ReadAll(tty)
				shown <- string(text)
			}()
			err = cmd.Wait()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Fatalf("still waiting for the terminal to answer")
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := <-shown; !strings.Contains(text, tc.want) {
				t.Errorf("shown:\n%s", text)
			}
		})
	}
}
