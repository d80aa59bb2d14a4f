package views

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/health"
	"castellan/theme"
)

// childHome makes the test binary be the program itself, in a terminal of ours.
const childHome = "CASTELLAN_VIEWS_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(childHome); home != "" {
		os.Exit(child(home))
	}
	code := m.Run()
	if madeBig != "" {
		if err := os.RemoveAll(madeBig); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
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
	th, err := theme.New(theme.Options{Name: "none", Glyphs: "unicode"})
	if err == nil {
		err = Run(ctx, Options{Core: NewCore(CoreOptions{Manager: m, Observer: o, Examiner: x}), Theme: th, Home: home})
	}
	err = errors.Join(err, m.Close())
	fmt.Println("ended:", err)
	if err != nil {
		return 1
	}
	return 0
}
