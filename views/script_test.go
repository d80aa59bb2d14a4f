package views

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui/uitest"
)

// script is an action whose run is written down in a test.
type script struct {
	plan    action.Plan
	result  action.Result
	run     func(context.Context, action.Reporter) error
	subject action.Subject
	looks   atomic.Int32 // how many plans were made
}

func (s *script) Subject() action.Subject { return s.subject }

func (s *script) Plan(context.Context) (action.Plan, error) {
	s.looks.Add(1)
	return s.plan, nil
}

func (s *script) Run(ctx context.Context, r action.Reporter) (action.Result, error) {
	return s.result, s.run(ctx, r)
}

// rehearsal is a stage on which a script is played, at its own time.
type rehearsal struct {
	*stage
	*script
	clock   atomic.Int64 // after noon
	reached chan struct{}
}

func (r *rehearsal) now() time.Time         { return noon.Add(time.Duration(r.clock.Load())) }
func (r *rehearsal) pass(by time.Duration)  { r.clock.Add(int64(by)) }
func (r *rehearsal) Runner() *action.Runner { return r.stage.Runner() }

// gate tells that the script is here, and stays until the run is cancelled.
func (r *rehearsal) gate(ctx context.Context) error {
	r.reached <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

// newRehearsal plays on the first palace of a site, held by a mine.
func newRehearsal(t testing.TB, core Core, run func(*rehearsal) func(context.Context, action.Reporter) error) *rehearsal {
	t.Helper()
	r := &rehearsal{stage: newStage(core), reached: make(chan struct{}, 8)}
	path := fakeHome + "/palaces/healthy"
	r.stage.holder[path] = busyMine()
	r.script = &script{
		subject: action.Subject{Palace: path, Keys: []string{path}},
		plan: action.Plan{
			Title: "Close " + path, Risk: action.RiskReversible, Reason: "PID 4121, mine: mining stops; what was filed stays, and the next mine goes on from there",
			Steps:   []string{"ask PID 4121 (mempalace mine /home/u/src) to end, with SIGTERM", "wait up to 15s until they have let go", "watch for 10s whether somebody comes back"},
			Touches: []string{"PID 4121 (mempalace mine /home/u/src)"}, Leaves: []string{"every file of the palace", "the lock file"},
			Holders: []locks.Holder{*busyMine()},
		},
		result: action.Result{Summary: "closed; nobody has it, and nobody came back"},
	}
	r.script.run = run(r)
	r.stage.act = r.script
	r.stage.runner = action.NewRunner(action.Options{Now: r.now, StateDir: t.TempDir()})
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := r.stage.runner.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// hear lets the screens hear what runs have said so far.
func (d *driver) hear() {
	now, stop := context.WithCancel(context.Background())
	stop()
	for id, sub := range d.app.runs.subs {
		for {
			events, err := sub.Next(now)
			if len(events) == 0 && err != nil && !errors.Is(err, context.Canceled) {
				d.send(runMsg{id: id, end: true})
			}
			if len(events) == 0 {
				break
			}
			d.send(runMsg{id: id, events: events})
		}
	}
}

// agree starts what the guide on the screen has a plan for.
func (d *driver) agree() {
	d.keys("enter")
	d.now = d.now.Add(time.Second) // the question's moment of grace
	d.keys("y")
}

// halfway is a run in its second phase.
func halfway(r *rehearsal) func(context.Context, action.Reporter) error {
	return func(ctx context.Context, say action.Reporter) error {
		if err := say.Phase(action.Phase{N: 1, Of: 3, Name: "back up", CanStop: true}); err != nil {
			return err
		}
		say.Log(action.LevelInfo, "copied to /home/u/palaces/healthy.castellan-20261201-1200")
		r.pass(3 * time.Second)
		if err := say.Phase(action.Phase{N: 2, Of: 3, Name: "build", CanStop: true}); err != nil {
			return err
		}
		say.Log(action.LevelWarn, "12 vectors have no drawer; they are left out")
		r.pass(8 * time.Second)
		say.Progress(900, 1500, "vectors")
		return r.gate(ctx)
	}
}

// done is a run that ends well.
func done(r *rehearsal) func(context.Context, action.Reporter) error {
	return func(_ context.Context, say action.Reporter) error {
		if err := say.Phase(action.Phase{N: 1, Of: 1, Name: "ask", CanStop: true}); err != nil {
			return err
		}
		say.Log(action.LevelInfo, "SIGTERM sent to PID 4121 (mempalace mine /home/u/src)")
		r.pass(2 * time.Second)
		return nil
	}
}

// ended waits for the end of all runs, and lets the screens hear of it.
func (r *rehearsal) ended(d *driver) {
	for _, run := range d.app.runs.live {
		<-run.Done()
	}
	d.now = r.now()
	d.hear()
}

// paused waits until the script is at its gate.
func (r *rehearsal) paused(d *driver) {
	<-r.reached
	d.now = r.now()
	d.hear()
}

func TestFramesOfTheGuide(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for _, c := range []struct {
		name string
		run  func(*rehearsal) func(context.Context, action.Reporter) error
		set  func(*rehearsal)
		then func(*rehearsal, *driver)
	}{
		{"guide-plan", done, nil, func(_ *rehearsal, d *driver) { d.keys("c") }},
		{"guide-refused", done, func(r *rehearsal) {
			r.plan.Refusal = &action.RefusedError{Kind: "permission-denied", Subject: r.subject.Palace, Reason: "PID 4121 (mempalace mine) belongs to another user", Next: "ask that user, or run castellan close as that user"}
		}, func(_ *rehearsal, d *driver) { d.keys("c enter") }},
		{"guide-confirm", done, nil, func(_ *rehearsal, d *driver) { d.keys("c enter") }},
		{"guide-confirm-name", done, func(r *rehearsal) {
			r.plan.Risk, r.plan.TypedName = action.RiskDestructive, "healthy"
			need, free := int64(6_200_000), int64(38_000_000_000)
			r.plan.BytesNeeded, r.plan.BytesFree, r.plan.Estimate = &need, &free, 90*time.Second
		}, func(_ *rehearsal, d *driver) { d.keys("c enter") }},
		{"guide-running", halfway, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.paused(d) }},
		{"guide-cancelling", halfway, nil, func(r *rehearsal, d *driver) {
			d.keys("c")
			d.agree()
			r.paused(d)
			d.send(runMsg{id: d.app.runs.list[0].id, events: []action.Event{{At: d.now, Detail: action.Changed{State: action.StateCancelling}}}})
		}},
		{"guide-waiting", halfway, nil, func(r *rehearsal, d *driver) {
			d.keys("c")
			d.agree()
			<-r.reached
			d.now = noon.Add(12 * time.Second)
			id := d.app.runs.list[0].id
			d.send(runMsg{id: id, events: []action.Event{{At: d.now, Detail: action.Changed{State: action.StateWaiting}},
				{At: d.now, Detail: action.Waiting{Holder: *busyMine(), Since: noon, Deadline: noon.Add(time.Minute)}}}})
		}},
		{"guide-result", done, func(r *rehearsal) { r.result.Detail = figures{} }, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.ended(d) }},
		{"guide-result-plan", done, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.ended(d); d.keys("tab") }},
		{"guide-failed", func(*rehearsal) func(context.Context, action.Reporter) error {
			return func(context.Context, action.Reporter) error {
				return &action.RefusedError{Kind: "holder-changed", Subject: fakeHome + "/palaces/healthy", Reason: "PID 4188 has it now, and not whom the plan names", Next: "look again: castellan close"}
			}
		}, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.ended(d) }},
		{"task-running", halfway, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.paused(d); d.keys("q t") }},
		{"task-elsewhere", halfway, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.paused(d); d.keys("q") }},
		{"quit-asks", halfway, nil, func(r *rehearsal, d *driver) { d.keys("c"); d.agree(); r.paused(d); d.keys("q q") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			uitest.Frames(t, c.name, func(th theme.Theme, w, h int) string {
				r := newRehearsal(t, site, c.run)
				if c.set != nil {
					c.set(r)
				}
				d := newDriver(t, r, th, w, h)
				c.then(r, d)
				return d.frame()
			})
		})
	}
}

// figures are a detail with all that a result may tell.
type figures struct{}

func (figures) Compared() [][3]string {
	return [][3]string{{"drawers", "1,500", "1,500"}, {"searchable", "15", "1,500"}}
}
func (figures) UndoHint() string { return "castellan undo puts the copy back" }
