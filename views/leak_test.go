package views

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"castellan/ui/uitest"
)

// Not parallel: the goroutines of other tests would be counted.
func TestNoGoroutineOutlivesTheProgram(t *testing.T) {
	site := newSite(t, "healthy", "fresh")
	for _, c := range []struct {
		how  string
		keys string
		plan func(*stage)
	}{
		{"quit", "jkd/mu\x03", func(*stage) {}},
		{"quit while a palace is silent", "jp\x03", func(s *stage) { s.hang(fakeHome + "/palaces/healthy") }},
		{"end of the context", "d", func(*stage) {}},
	} {
		t.Run(c.how, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			s := newStage(site)
			s.blocked = nil
			c.plan(s)
			in, keys, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			o := Options{Core: s, Theme: uitest.Plain(), In: in, Out: io.Discard, Getenv: func(string) string { return "" }}
			done := make(chan error, 1)
			go func() { done <- run(ctx, o.resolve()) }()
			for _, k := range c.keys {
				time.Sleep(20 * time.Millisecond) // so that each is a key of its own
				if _, err := io.WriteString(keys, string(k)); err != nil {
					t.Fatal(err)
				}
			}
			if c.keys[len(c.keys)-1] != 3 {
				stop()
			}
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if err := errors.Join(keys.Close(), in.Close(), site.manager.Close()); err != nil {
				t.Error(err)
			}
			// The clock of a toast runs out by itself, and touches nothing.
			goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"))
			site = openSite(t, site.home)
		})
	}
}
