package ui

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/atotto/clipboard"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// osc52Limit is how much is sent through the terminal, in bytes before base64:
// many terminals drop a sequence of more than 100,000.
const osc52Limit = 74_000

// clipboardTimeout is how long the local tool may take.
const clipboardTimeout = 2 * time.Second

// TooLongError says that a text does not go through the terminal.
type TooLongError struct{ Bytes int }

// Error says how much is too much, and what else to do.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s are too much for the terminal's clipboard, which takes %s: select the text on the screen, or export it",
		humanize.Bytes(uint64(e.Bytes)), humanize.Bytes(osc52Limit))
}

// OSC52 is the escape sequence that puts s into the clipboard of the terminal a
// person sits at, also through ssh. GNU screen must be told to pass it on; tmux
// understands it by itself.
func OSC52(s string, getenv func(string) string) (string, error) {
	if len(s) > osc52Limit {
		return "", &TooLongError{len(s)}
	}
	seq := ansi.SetSystemClipboard(s)
	if getenv("STY") != "" && getenv("TMUX") == "" {
		seq = ansi.ScreenPassthrough(seq, 700)
	}
	return seq, nil
}

// Clipboard copies text in every way there is: by a local tool (xclip, wl-copy,
// pbcopy, Windows), and by OSC 52 through the terminal. Over ssh only the
// terminal is near the person, and the tool would fill a clipboard nobody sees.
type Clipboard struct {
	out    io.Writer
	getenv func(string) string
	local  func(string) error
	// patience is how long the local tool may take.
	patience time.Duration

	mu      sync.Mutex
	hanging bool
}

// NewClipboard writes escape sequences to out, the terminal.
func NewClipboard(out io.Writer, getenv func(string) string) *Clipboard {
	return &Clipboard{out: out, getenv: getenv, local: clipboard.WriteAll, patience: clipboardTimeout}
}

// CopiedMsg tells what became of a copy.
type CopiedMsg struct {
	What  string // "id"
	Bytes int
	// Tool tells that a local tool took it; Terminal that it was sent to the
	// terminal, which does not answer and may ignore it.
	Tool, Terminal bool
	// Err is why neither worked.
	Err error
}

// String says it for a toast.
func (m CopiedMsg) String() string {
	size := humanize.Comma(int64(m.Bytes)) + " bytes"
	switch {
	case m.Err != nil:
		return fmt.Sprintf("%s was not copied: %v", m.What, m.Err)
	case m.Tool:
		return fmt.Sprintf("Copied %s, %s.", m.What, size)
	}
	return fmt.Sprintf("Sent %s, %s, to the terminal's clipboard. If it does not arrive, the terminal does not allow it.", m.What, size)
}

// Copy copies s; what names it for the report, which is a CopiedMsg.
func (c *Clipboard) Copy(what, s string) tea.Cmd {
	return func() tea.Msg {
		m := CopiedMsg{What: what, Bytes: len(s)}
		var errs []error
		if !c.remote() {
			if err := c.tool(s); err != nil {
				errs = append(errs, err)
			} else {
				m.Tool = true
			}
		}
		if seq, err := OSC52(s, c.getenv); err != nil {
			errs = append(errs, err)
		} else if _, err := io.WriteString(c.out, seq); err != nil {
			errs = append(errs, fmt.Errorf("the terminal: %w", err))
		} else {
			m.Terminal = true
		}
		if !m.Tool && !m.Terminal {
			m.Err = errors.Join(errs...)
		}
		return m
	}
}

func (c *Clipboard) remote() bool {
	return c.getenv("SSH_TTY") != "" || c.getenv("SSH_CONNECTION") != ""
}

var errClipboardHangs = errors.New("the clipboard tool does not answer")

// tool runs the local tool, at most one at a time: the library cannot end one
// that hangs, so a second is not started until the first is back.
func (c *Clipboard) tool(s string) error {
	c.mu.Lock()
	if c.hanging {
		c.mu.Unlock()
		return errClipboardHangs
	}
	c.hanging = true
	c.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		err := c.local(s)
		c.mu.Lock()
		c.hanging = false
		c.mu.Unlock()
		done <- err
	}()
	timeout := time.NewTimer(c.patience)
	defer timeout.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("the clipboard tool: %w", err)
		}
		return nil
	case <-timeout.C:
		return errClipboardHangs
	}
}
