package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the program under the process's signals and returns the exit code.
// Whatever a command has started is ended when it returns, also after SIGINT,
// SIGTERM and SIGHUP.
func (p Program) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal ends what runs in good order, the second ends us.
	context.AfterFunc(ctx, stop)
	// A closed pipe shall be an error of the write, so that what was started
	// can be ended; by default it would kill us there and then. Unlike
	// ignoring the signal, this is not inherited by other processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return p.Run(ctx)
}
