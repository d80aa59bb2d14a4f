package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"castellan/locks"

	"github.com/rogpeppe/go-internal/testscript"
)

// peer stands for MemPalace: mempalace mine PALACE takes the palace lock and
// keeps it until it is ended. PEER says how it takes being asked: deaf does not
// listen; again has a parent that starts it anew.
func peer() {
	if err := keep(os.Args[len(os.Args)-1], os.Getenv("PEER")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func keep(palace, how string) error {
	switch how {
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "again":
		return keepStarting(palace)
	}
	if _, err := locks.Take(context.Background(), locks.Target{Path: palace}, locks.TakeOptions{}); err != nil {
		return err
	}
	fmt.Println("holding")
	time.Sleep(5 * time.Minute) // no test takes as long
	return nil
}

// keepStarting starts a holder whenever there is none, until it is ended.
func keepStarting(palace string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		c := exec.CommandContext(ctx, exe)
		c.Args = []string{"mempalace", "mine", palace}
		c.Env = append(os.Environ(), "PEER=")
		_ = c.Run() // ended by whom and how does not matter
	}
	return nil
}

// held DIR waits until somebody holds a palace.
func held(ts *testscript.TestScript, _ bool, args []string) {
	o := locks.NewObserver(locks.Options{Home: ts.Getenv("HOME"), SampleInterval: -1})
	for range 600 {
		v, err := o.Palace(context.Background(), locks.Target{Path: ts.MkAbs(args[0])})
		ts.Check(err)
		if v.Lock.State == locks.Held {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("nobody holds %s", args[0])
}
