package action

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"castellan/locks"
)

var errOver = errors.New("the run is over; nothing may be done under its lease any more")

// errGone is how a run ends whose goroutine was ended under it.
var errGone = errors.New("its goroutine was ended")

// outcome is how a run ends, before that has been told.
type outcome struct {
	result Result
	err    error
}

// conduct is the run's goroutine.
func (r *Runner) conduct(ctx context.Context, run *Run, a Action) {
	defer close(run.idle)
	var keeper sync.WaitGroup
	defer keeper.Wait()
	if r.dir != "" {
		keeper.Go(func() { r.keepLog(run) })
	}
	defer context.AfterFunc(ctx, func() { run.stop(whyEnded(ctx)) })()

	// Deferred, so that a panic, and also runtime.Goexit, passes through all of
	// it: lease back, then Finished.
	o := outcome{err: &PanicError{Run: run.id, Title: run.plan.Title, Value: errGone}}
	defer func() { r.finish(run, o) }()
	var release func() error
	defer func() { o.err = run.giveBack(release, o.err) }()
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: run.panicked(v)}
		}
	}()
	var err error
	if release, err = run.take(r.locker); err == nil {
		err = run.begin()
	}
	if err != nil {
		o.err = err
		return
	}
	o.result, o.err = a.Run(run.ctx, reporter{run})
}

// whyEnded gives an end that says nothing of its reason the words of a cancel.
func whyEnded(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause
	}
	return ErrCancelled
}

// take takes the lease, before anything is read.
func (r *Run) take(l Locker) (func() error, error) {
	if len(r.subject.LockPaths) == 0 {
		return nil, nil
	}
	since := r.now()
	release, ctx, err := l.Take(r.ctx, r.subject.LockPaths, r.subject.Wait, func(h locks.Holder) {
		r.wait(Waiting{Holder: h, Since: since, Deadline: since.Add(r.subject.Wait)})
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = ctx
	return release, nil
}

func (r *Run) wait(w Waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished != nil {
		return
	}
	if r.state == StatePlanned {
		r.change(StateWaiting)
	}
	r.waiting = &w
	r.replace(w)
}

// begin starts the work, unless a cancel came first.
func (r *Run) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = nil
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	r.settle()
	r.change(StateRunning)
	return nil
}

func (r *Run) panicked(value any) error {
	e := &PanicError{Run: r.id, Title: r.plan.Title, Value: value, Stack: debug.Stack()}
	r.say(Log{LevelError, fmt.Sprintf("panic: %v\n\n%s", value, e.Stack)})
	return e
}

// giveBack ends the lease. A failure is not kept quiet: others may find the
// palace locked.
func (r *Run) giveBack(release func() error, err error) (all error) {
	if release == nil {
		return err
	}
	all = err
	defer func() {
		if v := recover(); v != nil {
			all = errors.Join(err, r.panicked(v))
		}
	}()
	back := release()
	switch {
	case back == nil:
		return err
	case err == nil:
		return fmt.Errorf("all is done, but the lock was not given back: %w", back)
	}
	return fmt.Errorf("%w; and the lock was not given back: %w", err, back)
}

// finish tells the outcome, as the last thing of the run. The palace is free by
// then: whoever hears it may start the next.
func (r *Runner) finish(run *Run, o outcome) {
	r.free(run)
	run.mu.Lock()
	defer run.mu.Unlock()
	run.waiting = nil
	run.settle()
	run.ended = run.now()
	f := Finished{Result: o.result}
	f.State, f.Err = run.judge(o.err)
	run.state, run.finished = f.State, &f
	run.keep(f)
	run.cancel(nil)
	close(run.done)
}

// judge tells a run that was cancelled from one that failed while it was being
// cancelled, which people have to hear of. It is called with run.mu held.
func (r *Run) judge(err error) (State, error) {
	if err == nil {
		return StateDone, nil
	}
	if r.ctx.Err() == nil {
		return StateFailed, err
	}
	cause := context.Cause(r.ctx)
	gaveIn := errors.Is(err, context.Canceled) || errors.Is(err, cause)
	if gaveIn && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if gaveIn && r.cause != nil && errors.Is(cause, r.cause) {
		return StateCancelled, err
	}
	return StateFailed, err
}
