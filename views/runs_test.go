package views

import (
	"context"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/theme"
	"castellan/ui/uitest"
)

// started is a run that goes on, shown by its guide.
func started(t *testing.T, run func(*rehearsal) func(context.Context, action.Reporter) error) (*rehearsal, *driver) {
	t.Helper()
	r := newRehearsal(t, newSite(t, "healthy"), run)
	d := newDriver(t, r, uitest.Plain(), 80, 24)
	d.keys("c")
	d.agree()
	r.paused(d)
	return r, d
}

// unstoppable is a run in a phase that cannot be left half-way.
func unstoppable(free <-chan struct{}) func(*rehearsal) func(context.Context, action.Reporter) error {
	return func(r *rehearsal) func(context.Context, action.Reporter) error {
		return func(_ context.Context, say action.Reporter) error {
			if err := say.Phase(action.Phase{N: 1, Of: 2, Name: "swap"}); err != nil {
				return err
			}
			r.reached <- struct{}{}
			<-free
			return say.Phase(action.Phase{N: 2, Of: 2, Name: "verify", CanStop: true})
		}
	}
}

func TestQuittingAsksWhileSomethingRuns(t *testing.T) {
	t.Parallel()
	r, d := started(t, halfway)
	d.keys("q q")
	d.shows("Stop 1 task and quit", "Close ~/palaces/healthy: running")
	d.keys("esc")
	if d.quits != 0 || d.app.overlay.Top() != nil {
		t.Fatal("esc is no")
	}
	d.keys("ctrl+c")
	d.shows("Stop 1 task and quit")
	d.keys("ctrl+c") // once more is yes
	if d.quits != 0 {
		t.Fatal("the program did not wait for its run")
	}
	d.shows("Stopping 1 task")
	r.ended(d)
	if d.quits != 1 {
		t.Error("the program did not quit when its run had ended")
	}
	if s := r.Runner().Runs()[0].State; s != action.StateCancelled {
		t.Errorf("the run is %s", s)
	}
}

func TestQuittingDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	_, d := started(t, unstoppable(free))
	d.keys("ctrl+c")
	d.shows("cannot be left in the middle of swap")
	d.keys("y d") // keys after that do nothing
	if d.quits != 0 || len(d.app.stack) != 2 {
		t.Fatalf("%d quits, %d screens", d.quits, len(d.app.stack))
	}
	d.send(quitMsg{})
	if d.quits != 1 {
		t.Error("the time is over and the program is still there")
	}
	close(free)
}

func TestCancellingIsAStateUntilTheEnd(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	r, d := started(t, unstoppable(free))
	d.keys("x")
	d.shows("It stops")
	d.keys("y")
	d.hear()
	d.shows("cancelling: swap cannot be left half-way")
	d.keys("x") // it cannot be cancelled twice
	if d.app.overlay.Top() != nil {
		t.Error("it asks again")
	}
	close(free)
	r.ended(d)
	d.shows("cancelled after")
}

func TestTheEndOfARunIsToldWhateverScreenIsUp(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	r, d := started(t, unstoppable(free))
	d.keys("q enter d")
	d.shows("1 task running")
	close(free)
	r.ended(d)
	d.shows("Close ~/palaces/healthy: closed; nobody has it")
	d.hides("task running")
}

func TestAProgramWithARunIsNotSuspended(t *testing.T) {
	t.Parallel()
	_, d := started(t, halfway)
	d.send(tea.KeyMsg{Type: tea.KeyCtrlZ})
	if d.app.paused {
		t.Error("suspended with a run that holds a palace")
	}
	d.shows("Not suspended")
}

func TestAPlanThatComesTooLateIsDropped(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	d := newDriver(t, r, uitest.Plain(), 80, 24)
	d.keys("c")
	g := d.app.top().(*guide)
	old := plannedMsg{g, g.gen, r.script, action.Plan{Title: "an older plan", Risk: action.RiskNone}, nil}
	d.keys("r")
	d.send(old)
	d.hides("an older plan")
}

func TestTheQuestionOfAPlanHasAMomentOfGrace(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	d := newDriver(t, r, uitest.Plain(), 80, 24)
	d.keys("c enter y")
	if n := len(r.Runner().Runs()); n != 0 {
		t.Fatalf("%d runs were started by a key that was typed too early", n)
	}
	d.keys("esc esc")
	d.agree()
	if n := len(r.Runner().Runs()); n != 1 {
		t.Errorf("%d runs", n)
	}
	r.ended(d)
}

func TestAPasteStartsNothing(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	d := newDriver(t, r, uitest.Plain(), 80, 24)
	d.keys("c enter")
	d.now = d.now.Add(graceMoment)
	for _, s := range []string{"y", "yes\n", "\r\ny\r\n"} {
		d.send(uitest.Paste(s))
	}
	if n := len(r.Runner().Runs()); n != 0 {
		t.Errorf("a paste started %d runs", n)
	}
}

func TestTheGuideFitsEverySize(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		r := newRehearsal(t, site, halfway)
		d := newDriver(t, r, th, 80, 24)
		fits := func(what string) {
			for _, size := range append(reversed(sizes), sizes...) {
				d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				uitest.Check(t, d.frame(), size[0], size[1])
				if t.Failed() {
					t.Fatalf("%s at %dx%d", what, size[0], size[1])
				}
			}
			d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		}
		d.keys("c")
		fits("the plan")
		d.keys("enter")
		fits("the question")
		d.keys("esc")
		d.now = d.now.Add(graceMoment)
		d.keys("esc")
		d.agree()
		r.paused(d)
		fits("the run")
		d.keys("tab")
		fits("the plan of the run")
		d.keys("tab ctrl+c")
		fits("quitting")
		d.keys("esc x y")
		r.ended(d)
		fits("the result")
		d.keys("q t")
		fits("the tasks")
	}
}

// graceMoment is longer than a question takes no keys.
const graceMoment = 2e9

func TestACommandSaysWhyItCannotRun(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	for _, c := range []struct{ keys, want string }{
		{"c", "nobody holds it"}, {"K", "nobody holds it"}, {"enter w", "no write waits for this palace"}, {"q t x", "there is no task here"},
	} {
		d.keys(c.keys)
		if got := d.app.toasts.Current(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestForceIsOfferedOnlyAfterAskingInVain(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	r.result = action.Result{Summary: "not closed: PID 4121 still has it", Detail: &closing.Outcome{Remaining: []locks.Holder{*busyMine()}, Lock: locks.PalaceLock{State: locks.Held}}}
	d := newDriver(t, r, uitest.Plain(), 80, 24)
	d.keys("K")
	d.hides("end by force")
	d.keys("c")
	d.agree()
	r.ended(d)
	d.shows("K kill", "Still has it")
	r.plan.Risk, r.plan.TypedName = action.RiskDestructive, "healthy"
	d.keys("K")
	d.shows("end by force", "healthy to be typed")
	d.keys("enter")
	d.now = d.now.Add(graceMoment)
	d.keys("y enter")
	d.shows("Not the name")
	if n := len(r.Runner().Runs()); n != 1 {
		t.Errorf("%d runs", n)
	}
}
