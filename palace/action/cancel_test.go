package action

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"castellan/locks"
)

func stranger() *fakeLocker {
	return &fakeLocker{
		stranger: &locks.Holder{Process: locks.Process{PID: 4711, Command: "mempalace mine"}},
		gone:     make(chan struct{}), asked: make(chan struct{}),
	}
}

func waiting(palace string, run func(context.Context, Reporter) (Result, error)) funcAction {
	a := on(palace, run)
	a.subject.Wait = time.Minute
	return a
}

func neverRun(t *testing.T) func(context.Context, Reporter) (Result, error) {
	return func(context.Context, Reporter) (Result, error) {
		t.Error("it ran")
		return Result{}, nil
	}
}

func TestACancelledWaitNeverBegins(t *testing.T) {
	t.Parallel()
	l := stranger()
	r := newTestRunner(t, Options{Locker: l})
	run := start(t, r, waiting("work", neverRun(t)))
	<-l.asked
	if s := run.Snapshot(); s.State != StateWaiting || s.Waiting.Holder.PID != 4711 || s.Waiting.Deadline.Sub(s.Waiting.Since) != time.Minute {
		t.Errorf("%+v", s)
	}
	run.Cancel()
	events := hear(t, run)
	end := theEnd(t, run, events)
	if end.State != StateCancelled || !errors.Is(end.Err, ErrCancelled) || !errors.Is(end.Err, context.Canceled) {
		t.Errorf("%+v", end)
	}
	same(t, "states", states(events), []State{StateWaiting, StateCancelling, StateCancelled})
	if w := details[Waiting](events); len(w) != 1 || w[0].Holder.Command != "mempalace mine" {
		t.Errorf("who was waited for: %v", w)
	}
	l.allGivenBack(t)
}

// The cancel comes while the lease is being given: too late for the locker,
// soon enough for the work.
func TestACancelBeforeTheWorkGivesTheLeaseBackUnused(t *testing.T) {
	t.Parallel()
	var r *Runner
	l := &fakeLocker{during: func() { r.known()[0].Cancel() }}
	r = newTestRunner(t, Options{Locker: l})
	run := start(t, r, on("work", neverRun(t)))
	if end := theEnd(t, run, hear(t, run)); end.State != StateCancelled {
		t.Errorf("%+v", end)
	}
	if l.taken != 1 {
		t.Error("the lease was not taken: this test shows nothing")
	}
	l.allGivenBack(t)
}

func TestAWaitEndsWithItsDeadlineOrWithTheHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := stranger()
		r := NewRunner(Options{Locker: l})
		run := start(t, r, waiting("work", neverRun(t)))
		var held *locks.HeldError
		if end := theEnd(t, run, hear(t, run)); !errors.As(end.Err, &held) || end.State != StateFailed {
			t.Errorf("%+v", end)
		}
		if s := run.Snapshot(); s.Ended.Sub(s.Started) != time.Minute {
			t.Errorf("it waited %v", s.Ended.Sub(s.Started))
		}
		l = stranger()
		r = NewRunner(Options{Locker: l})
		run = start(t, r, waiting("work", func(context.Context, Reporter) (Result, error) { return Result{}, nil }))
		<-l.asked
		close(l.gone)
		events := hear(t, run)
		theEnd(t, run, events)
		same(t, "states", states(events), []State{StateWaiting, StateRunning, StateDone})
		l.allGivenBack(t)
	})
}

func TestACancelReachesThePhaseThatCanStop(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := newTestRunner(t, Options{Locker: l})
	begun := make(chan struct{})
	run := start(t, r, on("work", func(ctx context.Context, report Reporter) (Result, error) {
		if err := report.Phase(Phase{N: 1, Of: 2, Name: "gather", CanStop: true}); err != nil {
			return Result{}, err
		}
		close(begun)
		<-ctx.Done()
		return Result{Summary: "12 of 30 files"}, ctx.Err()
	}))
	<-begun
	run.Cancel()
	run.Cancel()
	events := hear(t, run)
	run.Cancel()
	end := theEnd(t, run, events)
	if end.State != StateCancelled || !errors.Is(end.Err, ErrCancelled) || end.Result.Summary != "12 of 30 files" {
		t.Errorf("%+v", end)
	}
	same(t, "states", states(events), []State{StateRunning, StateCancelling, StateCancelled})
	l.allGivenBack(t)
}

func TestACancelWaitsForThePhasesThatCannotStop(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	swapping, cancelled := make(chan struct{}), make(chan struct{})
	run := start(t, r, funcAction{run: func(ctx context.Context, report Reporter) (Result, error) {
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		must(report.Phase(Phase{N: 1, Of: 3, Name: "swap"}))
		close(swapping)
		<-cancelled
		must(ctx.Err())
		must(report.Phase(Phase{N: 2, Of: 3, Name: "check the swap"}))
		must(ctx.Err())
		err := report.Phase(Phase{N: 3, Of: 3, Name: "measure", CanStop: true})
		if !errors.Is(err, ErrCancelled) || !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("the phase that can stop began: %v, %v", err, ctx.Err())
		}
		return Result{}, err
	}})
	<-swapping
	run.Cancel()
	if s := run.Snapshot(); s.State != StateCancelling || s.Phase.CanStop {
		t.Errorf("%+v", s)
	}
	close(cancelled)
	events := hear(t, run)
	if end := theEnd(t, run, events); end.State != StateCancelled || end.Err != ErrCancelled {
		t.Errorf("%+v", end)
	}
	if got := details[Phase](events); len(got) != 2 {
		t.Errorf("phases %v", got)
	}
}

func TestACancelThatComesTooLateIsDone(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	swapping, cancelled := make(chan struct{}), make(chan struct{})
	run := start(t, r, funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		err := report.Phase(Phase{N: 1, Of: 1, Name: "swap"})
		close(swapping)
		<-cancelled
		return Result{}, err
	}})
	<-swapping
	run.Cancel()
	close(cancelled)
	events := hear(t, run)
	if end := theEnd(t, run, events); end.State != StateDone || end.Err != nil {
		t.Errorf("%+v", end)
	}
	same(t, "states", states(events), []State{StateRunning, StateCancelling, StateDone})
}

func TestAfterACancelNoPhaseThatCannotStopBegins(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	begun := make(chan struct{})
	run := start(t, r, funcAction{run: func(ctx context.Context, report Reporter) (Result, error) {
		close(begun)
		<-ctx.Done()
		err := report.Phase(Phase{N: 2, Of: 2, Name: "swap"})
		if err == nil {
			t.Error("the swap began")
		}
		return Result{}, err
	}})
	<-begun
	run.Cancel()
	if end := theEnd(t, run, hear(t, run)); end.State != StateCancelled {
		t.Errorf("%+v", end)
	}
}

func TestAFailureWhileCancellingIsNotCalledCancelled(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	begun := make(chan struct{})
	run := start(t, r, funcAction{run: func(ctx context.Context, _ Reporter) (Result, error) {
		close(begun)
		<-ctx.Done()
		return Result{}, errDisk
	}})
	<-begun
	run.Cancel()
	if end := theEnd(t, run, hear(t, run)); end.State != StateFailed || end.Err != errDisk {
		t.Errorf("%+v", end)
	}
}

func TestALostLeaseIsAFailureThatNamesIt(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{lose: make(chan error)}
	r := newTestRunner(t, Options{Locker: l})
	begun := make(chan struct{})
	run := start(t, r, on("work", untilCancelled(begun)))
	<-begun
	l.lose <- locks.ErrLeaseLost
	if end := theEnd(t, run, hear(t, run)); end.State != StateFailed || !errors.Is(end.Err, locks.ErrLeaseLost) {
		t.Errorf("%+v", end)
	}
	l.allGivenBack(t)
}

func TestTheEndOfTheCallersContextCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(Options{})
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, 7), time.Hour)
		defer cancel()
		run, err := r.Start(ctx, funcAction{run: func(ctx context.Context, _ Reporter) (Result, error) {
			if ctx.Value(key{}) != 7 {
				t.Error("the values of the context were lost")
			}
			<-ctx.Done()
			return Result{}, ctx.Err()
		}}, planned)
		must(t, err)
		if end := theEnd(t, run, hear(t, run)); end.State != StateCancelled || !errors.Is(end.Err, context.DeadlineExceeded) {
			t.Errorf("%+v", end)
		}
		if _, err := r.Start(ctx, funcAction{}, planned); !errors.Is(err, context.DeadlineExceeded) || len(r.Runs()) != 1 {
			t.Errorf("started under a context that has ended: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		begun := make(chan struct{})
		run, err = r.Start(ctx, funcAction{run: untilCancelled(begun)}, planned)
		must(t, err)
		<-begun
		cancel()
		if end := theEnd(t, run, hear(t, run)); end.State != StateCancelled || !errors.Is(end.Err, ErrCancelled) {
			t.Errorf("%+v", end)
		}
	})
}
