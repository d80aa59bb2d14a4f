package views

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/health"
	"castellan/theme"
)

// childHome makes the test binary be the program itself, in a terminal of ours.
const childHome = "CASTELLAN_VIEWS_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(childHome); home != "" {
		os.Exit(child(home))
	}
	if palace := os.Getenv(peerPalace); palace != "" {
		os.Exit(peer(palace))
	}
	code := m.Run()
	if madeBig != "" {
		if err := os.RemoveAll(madeBig); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// peerPalace makes the test binary be a process that holds a palace.
const peerPalace = "CASTELLAN_VIEWS_TEST_PEER"

// peer takes the palace lock and keeps it until it is ended.
func peer(palace string) int {
	if _, err := locks.Take(context.Background(), locks.Target{Path: palace}, locks.TakeOptions{}); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("holding")
	time.Sleep(5 * time.Minute) // no test takes as long
	return 0
}

// child is the program: the real core on a home, in the terminal it was given.
func child(home string) int {
	none := func(name string) string {
		if strings.HasPrefix(name, "MEMPAL") || strings.HasPrefix(name, "XDG_") {
			return ""
		}
		return os.Getenv(name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	m := palace.NewManager(palace.Options{Home: home, Env: none})
	o := locks.NewObserver(locks.Options{Home: home, Getenv: none})
	x := health.NewExaminer(health.Options{Manager: m, Observer: o})
	state := filepath.Join(home, ".local", "state", "castellan")
	r := action.NewRunner(action.Options{StateDir: state, Locker: action.PalaceLocks{Home: home}})
	th, err := theme.New(theme.Options{Name: "none", Glyphs: "unicode"})
	if err == nil {
		err = Run(ctx, Options{Core: NewCore(CoreOptions{Manager: m, Observer: o, Examiner: x, Runner: r, StateDir: state}), Theme: th, Home: home})
	}
	over, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	err = errors.Join(err, r.Shutdown(over))
	err = errors.Join(err, m.Close())
	fmt.Println("ended:", err)
	if err != nil {
		return 1
	}
	return 0
}
