package action

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"castellan/locks"
)

var errDisk = errors.New("no space left on device")

// Whatever becomes of a run: one Finished, the lease back, the palace free for
// the next, and one end in the log.
func TestEveryEndHasOneFinishedAndLeavesNothingHeld(t *testing.T) {
	t.Parallel()
	fail := func(err error) func(context.Context, Reporter) (Result, error) {
		return func(context.Context, Reporter) (Result, error) { return Result{}, err }
	}
	for name, c := range map[string]struct {
		locker *fakeLocker
		run    func(context.Context, Reporter) (Result, error)
		state  State
		err    error // errors.Is
		text   string
	}{
		"done":   {run: fail(nil), state: StateDone},
		"failed": {run: fail(errDisk), state: StateFailed, err: errDisk},
		"a panic": {
			run:   func(context.Context, Reporter) (Result, error) { panic("index out of range") },
			state: StateFailed, text: "index out of range",
		},
		"a panic with an error": {
			run:   func(context.Context, Reporter) (Result, error) { panic(errDisk) },
			state: StateFailed, err: errDisk,
		},
		"its goroutine ended": {
			run:   func(context.Context, Reporter) (Result, error) { runtime.Goexit(); return Result{}, nil },
			state: StateFailed, err: errGone,
		},
		"refused under the lease": {
			run: fail(&RefusedError{Kind: "disk-low", Reason: "1 GB is missing", Subject: "/p", Next: "free some"}), state: StateFailed,
			text: "/p: 1 GB is missing; free some",
		},
		"the palace is held": {
			locker: &fakeLocker{stranger: &locks.Holder{Process: locks.Process{PID: 77}}}, run: fail(nil),
			state: StateFailed, text: "PID 77",
		},
		"the locker panics":       {locker: &fakeLocker{takePanics: errDisk}, run: fail(nil), state: StateFailed, err: errDisk},
		"the lock does not go":    {locker: &fakeLocker{releaseErr: fs.ErrClosed}, run: fail(nil), state: StateFailed, err: fs.ErrClosed, text: "all is done"},
		"nor after a failure":     {locker: &fakeLocker{releaseErr: fs.ErrClosed}, run: fail(errDisk), state: StateFailed, err: errDisk, text: fs.ErrClosed.Error()},
		"giving it back panics":   {locker: &fakeLocker{releasePanics: errDisk}, run: fail(nil), state: StateFailed, err: errDisk},
		"nobody cancelled it":     {run: fail(context.Canceled), state: StateFailed, err: context.Canceled},
		"an inner limit ran out":  {run: fail(context.DeadlineExceeded), state: StateFailed, err: context.DeadlineExceeded},
		"a panic after a panic":   {locker: &fakeLocker{releasePanics: "again"}, run: func(context.Context, Reporter) (Result, error) { panic(errDisk) }, state: StateFailed, err: errDisk, text: "again"},
		"a panic without a value": {run: func(context.Context, Reporter) (Result, error) { panic(nil) }, state: StateFailed, text: "nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := c.locker
			if l == nil {
				l = &fakeLocker{}
			}
			dir := t.TempDir()
			r := newTestRunner(t, Options{Locker: l, StateDir: dir})
			run := start(t, r, on("work", c.run))
			end := theEnd(t, run, hear(t, run))
			if end.State != c.state || c.err != nil && !errors.Is(end.Err, c.err) || c.text != "" && !strings.Contains(end.Err.Error(), c.text) {
				t.Errorf("%s: %v", end.State, end.Err)
			}
			if (end.Err == nil) != (end.State == StateDone) {
				t.Errorf("%s with error %v", end.State, end.Err)
			}
			l.allGivenBack(t)
			l.takePanics, l.releasePanics, l.releaseErr, l.stranger = nil, nil, nil, nil
			next := start(t, r, on("work", fail(nil)))
			if end := theEnd(t, next, hear(t, next)); end.State != StateDone {
				t.Errorf("the next run: %v", end.Err)
			}
			must(t, r.Shutdown(t.Context()))
			logged, err := NewRunner(Options{StateDir: dir}).Transcript(t.Context(), run.ID())
			must(t, err)
			if got := details[Finished](logged.Events); len(got) != 1 || got[0].State != c.state {
				t.Errorf("the log's end: %v", got)
			}
		})
	}
}

func TestThePanicsStackIsInTheLog(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	run := start(t, r, funcAction{run: func(context.Context, Reporter) (Result, error) { return explode() }})
	events := hear(t, run)
	var p *PanicError
	if end := theEnd(t, run, events); !errors.As(end.Err, &p) || p.Run != run.ID() || strings.Contains(end.Err.Error(), "goroutine") {
		t.Errorf("%v", end.Err)
	}
	logs := details[Log](events)
	if len(logs) != 1 || logs[0].Level != LevelError || !strings.Contains(logs[0].Text, "action.explode") {
		t.Errorf("%v", logs)
	}
}

//go:noinline
func explode() (Result, error) {
	var list []string
	return Result{Summary: list[len(list)]}, nil
}

func TestTheLeaseIsHeldFromBeforeTheFirstReadToTheEnd(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := newTestRunner(t, Options{Locker: l})
	a := on("work", nil)
	a.subject = a.subject.And(Subject{Palace: "other", Keys: []string{"other"}, LockPaths: []string{"other"}})
	a.run = func(ctx context.Context, report Reporter) (Result, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.held["work"] || !l.held["other"] || ctx.Value(leaseKey{}) == nil {
			t.Errorf("held %v, lease %v", l.held, ctx.Value(leaseKey{}))
		}
		if report.Plan().Backup != planned.Backup {
			t.Errorf("another plan than was agreed to: %+v", report.Plan())
		}
		return Result{Summary: "2 rows", Detail: 2}, nil
	}
	run := start(t, r, a)
	events := hear(t, run)
	end := theEnd(t, run, events)
	if s := run.Snapshot(); end.Result.Detail != 2 || s.Result != end.Result {
		t.Errorf("%+v, %+v", end, s.Result)
	}
	same(t, "states", states(events), []State{StateRunning, StateDone})
	l.allGivenBack(t)
}

func TestNothingIsSaidAfterFinished(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	var kept Reporter
	run := start(t, r, funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		kept = report
		report.Progress(1, 2, "rows")
		return Result{}, nil
	}})
	before := hear(t, run)
	kept.Log(LevelInfo, "late")
	kept.Progress(2, 2, "rows")
	kept.Finding("late")
	if err := kept.Phase(Phase{N: 2, Name: "late"}); err == nil {
		t.Error("a phase began after the end")
	}
	run.Cancel()
	after := hear(t, run)
	theEnd(t, run, after)
	if len(after) != len(before) || run.Snapshot().State != StateDone || run.Snapshot().Progress.Done != 1 {
		t.Errorf("%v", after)
	}
}

func TestWithoutALockerNothingThatNeedsALockStarts(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	if _, err := r.Start(t.Context(), on("work", nil), planned); err == nil || len(r.Runs()) != 0 {
		t.Errorf("%v, %v", err, r.Runs())
	}
}

func TestARunThatIsOverStillTellsWhenItWas(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now := at
	r := newTestRunner(t, Options{Now: func() time.Time { return now }})
	run := start(t, r, funcAction{run: func(context.Context, Reporter) (Result, error) {
		now = now.Add(time.Minute)
		return Result{}, nil
	}})
	events := hear(t, run)
	s := run.Snapshot()
	if !s.Started.Equal(at) || s.Ended.Sub(at) != time.Minute || !events[0].At.Equal(at) || !strings.HasPrefix(string(s.ID), "20260304-050607.000-") {
		t.Errorf("%+v", s)
	}
}
