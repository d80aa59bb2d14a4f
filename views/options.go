package views

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"

	"castellan/theme"
)

// Options is what Run needs. Core and Theme must be given.
type Options struct {
	Core  Core
	Theme theme.Theme
	// ReadOnly hides every command that changes anything, and says so.
	ReadOnly bool
	// Plain is the same program line by line, for screen readers and for what
	// is no terminal.
	Plain bool
	// Start is the palace to open first; empty shows all of them.
	Start string
	// Home is shortened to "~" in paths; empty means that of the user.
	Home    string
	Version string
	// Commands are the castellan commands there are; a remedy that needs
	// another one is told by its reason. nil means those of this version.
	Commands []string
	In       io.Reader
	Out      io.Writer
	Now      func() time.Time
	Getenv   func(string) string

	// still drops every timer, for tests that move time by hand.
	still bool
	// wait is how long the plain form waits for an answer before it goes on.
	wait time.Duration
}

func (o Options) resolve() Options {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.wait == 0 {
		o.wait = slowPalace
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one, paths are shown in full
	}
	if o.Commands == nil {
		o.Commands = []string{"palaces", "status", "doctor", "locks", "drawers", "search", "export", "close", "delete", "undo", "queue", "demo", "version"}
	}
	return o
}

// NoTerminalError says that the screens have nowhere to be drawn.
type NoTerminalError struct {
	// Missing is which end is no terminal: "standard input" or "standard output".
	Missing string
}

func (e *NoTerminalError) Error() string {
	return fmt.Sprintf("%s is not a terminal, so no screens can be drawn; use castellan status or castellan palaces --json, or --plain", e.Missing)
}

// LostTerminalError says that the terminal went away while the screens were on.
type LostTerminalError struct{ Err error }

func (e *LostTerminalError) Error() string {
	return fmt.Sprintf("the terminal is gone (%v); nothing was under way", e.Err)
}

// Unwrap is what reading or writing it said.
func (e *LostTerminalError) Unwrap() error { return e.Err }

// patience is how long the end of the program waits for loads that cannot be
// called off.
const patience = 2 * time.Second

// Run shows the screens until the person quits (nil), ctx ends (its error), or
// the terminal is lost. SIGHUP counts as the end of ctx.
func Run(ctx context.Context, o Options) error {
	o = o.resolve()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	if o.Plain {
		return runPlain(ctx, o)
	}
	if err := needTerminal(o); err != nil {
		return err
	}
	return run(ctx, o)
}

func needTerminal(o Options) error {
	if f, ok := o.In.(*os.File); !ok || !term.IsTerminal(f.Fd()) {
		return &NoTerminalError{"standard input"}
	}
	if f, ok := o.Out.(*os.File); !ok || !term.IsTerminal(f.Fd()) {
		return &NoTerminalError{"standard output"}
	}
	return nil
}

func run(ctx context.Context, o Options) error {
	a := newApp(ctx, o)
	// Signals are the caller's: it ends ctx. Bubble Tea's own handler makes
	// SIGTERM look like a quit.
	p := tea.NewProgram(a, tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithAltScreen(), tea.WithoutSignalHandler())
	// Not WithContext: a killed program does not wait for the goroutine that
	// reads the terminal, which may then never learn that it is over.
	stop := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	stop()
	a.work.end(patience)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.Is(err, tea.ErrProgramPanic):
		return err
	case errors.Is(err, tea.ErrProgramKilled):
		return &LostTerminalError{err}
	}
	return &LostTerminalError{err}
}
