package views

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"castellan/palace/action"
	"castellan/ui/uitest"
)

// Not parallel: the goroutines of other tests would be counted.
func TestNoGoroutineOutlivesTheProgram(t *testing.T) {
	site := newSite(t, "healthy", "fresh")
	running := func(s *stage) {
		r := newRehearsal(t, s.Core, halfway)
		r.plan.Risk = action.RiskNone
		s.act, s.runner, s.holder = r.script, r.stage.runner, r.stage.holder
	}
	for _, c := range []struct {
		how  string
		keys string
		plan func(*stage)
	}{
		{"quit", "jkd/mu\x03", func(*stage) {}},
		{"quit while a palace is silent", "jp\x03", func(s *stage) { s.hang(fakeHome + "/palaces/healthy") }},
		{"end of the context", "d", func(*stage) {}},
		{"quit while a run goes on", "\x03\x03", running},
		{"end of the context while a run goes on", "q", running},
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
			press := func(k string) {
				time.Sleep(20 * time.Millisecond) // so that each is a key of its own
				if _, err := io.WriteString(keys, k); err != nil {
					t.Fatal(err)
				}
			}
			if act, ok := s.act.(*script); ok {
				for act.looks.Load() == 0 {
					press("c")
				}
				for len(s.runner.Runs()) == 0 {
					press("\r") // once there is a plan; during a run it does nothing
				}
			}
			for _, k := range c.keys {
				press(string(k))
			}
			if c.keys[len(c.keys)-1] != 3 {
				stop()
			}
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if s.runner != nil {
				for _, run := range s.runner.Runs() {
					<-s.runner.Run(run.ID).Done()
				}
				if err := s.runner.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			}
			if err := errors.Join(keys.Close(), in.Close(), site.manager.Close()); err != nil {
				t.Error(err)
			}
			// The clock of a toast runs out by itself, and touches nothing; nor
			// does who waits for it together with other commands.
			goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"),
				goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).execBatchMsg"))
			site = openSite(t, site.home)
		})
	}
}
