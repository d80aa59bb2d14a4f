package views

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui/uitest"
)

// earlier runs scripts with a runner of its own and leaves their logs in a
// directory of state: one that was done, one that failed, and one whose process
// was killed.
func earlier(t testing.TB) (state string) {
	t.Helper()
	state = t.TempDir()
	now := noon.Add(-48 * time.Hour)
	path := fakeHome + "/palaces/healthy"
	runner := action.NewRunner(action.Options{Now: func() time.Time { return now }, StateDir: state})
	for _, s := range []struct {
		title string
		err   error
		cut   bool
	}{{"Mine /home/u/src", nil, false}, {"Rebuild the search index of healthy", nil, true}, {"Close healthy", errors.New("PID 3990 cannot be asked: not permitted"), false}} {
		now = now.Add(7 * time.Hour)
		act := &script{subject: action.Subject{Palace: path}, plan: action.Plan{Title: s.title, Risk: action.RiskNone, Steps: []string{"do it"}},
			result: action.Result{Summary: "1,200 drawers filed"}, run: func(_ context.Context, say action.Reporter) error {
				if err := say.Phase(action.Phase{N: 1, Of: 2, Name: "first half", CanStop: true}); err != nil {
					return err
				}
				say.Log(action.LevelInfo, "a word about "+s.title)
				return s.err
			}}
		run, err := runner.Start(context.Background(), act, act.plan)
		if err != nil {
			t.Fatal(err)
		}
		<-run.Done()
		if err := runner.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		runner = action.NewRunner(action.Options{Now: func() time.Time { return now }, StateDir: state})
		if s.cut {
			log := filepath.Join(state, "runs", string(run.ID())+".jsonl")
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			whole := bytes.TrimSuffix(b, []byte("\n"))
			if err := os.WriteFile(log, b[:bytes.LastIndexByte(whole, '\n')+1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return state
}

func TestFramesOfTheTasks(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	state := earlier(t)
	for _, sc := range []scene{
		{name: "tasks-entries", keys: "t"},
		{name: "tasks-cut-off", keys: "t j"},
		{name: "task-failed", keys: "t enter"},
		{name: "task-cut-off", keys: "t j enter"},
	} {
		t.Run(sc.name, func(t *testing.T) {
			uitest.Frames(t, sc.name, func(th theme.Theme, w, h int) string {
				s := newStage(site)
				s.runner = action.NewRunner(action.Options{Now: func() time.Time { return noon }, StateDir: state})
				d := newDriver(t, s, th, w, h)
				d.keys(sc.keys)
				return d.frame()
			})
		})
	}
}

func TestALateHistoryIsDropped(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("t")
	s := d.app.top().(*tasks)
	old := historyMsg{s, s.gen, []task{{Record: action.Record{ID: "x", Title: "an older answer"}}}, nil}
	d.keys("r")
	d.send(old)
	d.hides("an older answer")
}

func TestWhoStillRunsIsToldByAgeToo(t *testing.T) {
	t.Parallel()
	core := newSite(t)
	self := os.Getppid()
	p, ok := core.Process(self)
	if !ok || p.Started.IsZero() {
		t.Skip("this system does not tell of processes")
	}
	r := action.Record{State: action.StateUnfinished, PID: self, Started: p.Started.Add(time.Second)}
	if got := mateOf(core, r); got != mateThere {
		t.Errorf("a process older than its run: %v", got)
	}
	r.Started = p.Started.Add(-time.Hour)
	if got := mateOf(core, r); got != mateGone {
		t.Errorf("a process younger than the run: %v", got)
	}
	r.State = action.StateDone
	if got := mateOf(core, r); got != mateUnknown {
		t.Errorf("a run that has an end: %v", got)
	}
}
