package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/health"
	"castellan/palace/search"

	"github.com/charmbracelet/x/term"
)

// Program is what a process hands to the commands.
type Program struct {
	// Args are the arguments without the program's name.
	Args     []string
	In       io.Reader
	Out, Err io.Writer
	// Samples are the recorded palaces that the demo lays out, as
	// NAME/palace/....
	Samples fs.FS
	// Screens starts the terminal UI; nil where it is not built in.
	Screens func(context.Context, ScreenOptions) error
}

// ScreenOptions are what the terminal UI gets: the global flags, and what to
// look with.
type ScreenOptions struct {
	Manager  *palace.Manager
	Observer *locks.Observer
	Examiner *health.Examiner
	// Runner does what changes a palace; whoever started the screens waits for
	// its runs when they have ended.
	Runner *action.Runner
	// StateDir is where what outlives the program is kept; empty: nowhere.
	StateDir string
	// Embedder makes vectors of what is searched for; nil where there is no place
	// for a model.
	Embedder search.Embedder
	// Palace is the one that was named; empty shows all that are found.
	Palace string
	// Home is whose palaces they are.
	Home            string
	Theme, Version  string
	ReadOnly, Plain bool
	In              io.Reader
	Out             io.Writer
	Log             *slog.Logger
}

// app is one run of the program.
type app struct {
	Program
	flags globals
	// out is flushed once, at the end: its first write error stays.
	out   *bufio.Writer
	ink   ink
	log   *slog.Logger
	now   func() time.Time
	width int
	// ran is set once a command's arguments have been accepted; an error
	// before that is wrong usage.
	ran bool
}

// Run does what the arguments ask and returns the exit code.
func (p Program) Run(ctx context.Context) int {
	a := &app{
		Program: p,
		out:     bufio.NewWriterSize(answerWriter{p.Out}, 64<<10),
		log:     slog.New(slog.DiscardHandler),
		now:     time.Now,
		width:   terminalWidth(p.Out),
	}
	root := a.rootCommand()
	root.SetArgs(p.Args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.ran {
		err = &UsageError{Err: err}
	}
	return a.finish(ctx, err)
}

// finish turns an error into words, or into the error document, and an exit
// code.
func (a *app) finish(ctx context.Context, err error) int {
	if flushErr := a.out.Flush(); err == nil || isClosedPipe(flushErr) {
		err = flushErr
	}
	if err == nil || isClosedPipe(err) {
		// Whoever reads has had enough (head, less): nothing has failed.
		return exitOK
	}
	f := describe(ctx, err)
	a.log.Error("command failed", "kind", f.kind, "error", err, "exit", f.code)
	if f.silent {
		return f.code
	}
	if a.wantsJSON() {
		// The document is small and the pipe was just writable: what is left
		// to go wrong here has nobody to be told to.
		_ = writeJSON(a.Out, errorDocument{Error: f.document()})
	} else {
		a.complain(f)
	}
	return f.code
}

// wantsJSON looks at the raw arguments too: when they are wrong, the flags
// behind the wrong one have not been read.
func (a *app) wantsJSON() bool {
	if a.flags.json {
		return true
	}
	if a.ran {
		return false
	}
	for _, arg := range a.Args {
		switch arg {
		case "--json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// answerWriter marks the errors of standard output as such.
type answerWriter struct{ w io.Writer }

func (a answerWriter) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if err != nil {
		err = &OutputError{Err: err}
	}
	return n, err
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || isWindowsClosedPipe(err)
}

// isWindowsClosedPipe knows ERROR_BROKEN_PIPE and ERROR_NO_DATA, which Windows
// answers instead of EPIPE.
func isWindowsClosedPipe(err error) bool {
	var errno syscall.Errno
	return os.PathSeparator == '\\' && errors.As(err, &errno) && (errno == 109 || errno == 232)
}

// isTerminal reports whether a stream is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// terminalWidth is 0 where the output is no terminal: then nothing is cut.
func terminalWidth(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return 0
	}
	w, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return w
}
