package action

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// keepRuns is how many runs that are over stay in memory, with all they said.
// Older ones are in their logs.
const keepRuns = 20

// Options make a Runner.
type Options struct {
	// Now is the clock; default: time.Now.
	Now func() time.Time
	// StateDir is Castellan's own directory of state, as StateDir gives it. Logs
	// are kept beneath it; "" = none are.
	StateDir string
	// Locker takes palace locks. Without one no action that needs a lock starts.
	Locker Locker
}

// Runner runs actions, one at a time for each palace. Shutdown ends it.
type Runner struct {
	now    func() time.Time
	dir    string // of the logs; "" = none are kept
	locker Locker

	mu     sync.Mutex
	closed bool
	runs   []*Run // in the order of their start
	busy   map[string]*Run
}

// NewRunner makes a runner. It starts nothing and touches no file.
func NewRunner(o Options) *Runner {
	r := &Runner{now: o.Now, locker: o.Locker, busy: map[string]*Run{}}
	if r.now == nil {
		r.now = time.Now
	}
	if o.StateDir != "" {
		r.dir = filepath.Join(o.StateDir, "runs")
	}
	return r
}

// Start starts an action as planned; everything it has to say is said by the
// Run. When ctx ends, the run is cancelled with its cause.
//
// It fails with the plan's *RefusedError, with a *BusyError while another run
// has a palace of the action, and with ErrShutdown after Shutdown.
func (r *Runner) Start(ctx context.Context, a Action, plan Plan) (*Run, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	subject := a.Subject()
	if len(subject.LockPaths) > 0 && r.locker == nil {
		return nil, fmt.Errorf("%s: %q would run without a lock; this is a defect of Castellan, please report it", subject.Palace, plan.Title)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	run := &Run{
		plan: plan, subject: subject, now: r.now, state: StatePlanned,
		done: make(chan struct{}), idle: make(chan struct{}),
	}
	// Values go down to the action; the end of ctx passes through Run.stop,
	// which knows of phases that cannot stop.
	run.ctx, run.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := r.admit(run); err != nil {
		run.cancel(nil)
		return nil, err
	}
	go r.conduct(ctx, run, a)
	return run, nil
}

// admit gives the run its palaces, or says who has one.
func (r *Runner) admit(run *Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrShutdown
	}
	for _, key := range run.subject.Keys {
		if other := r.busy[key]; other != nil {
			s := other.Snapshot()
			return &BusyError{Palace: s.Subject.Palace, Run: s.ID, Title: s.Plan.Title, State: s.State, Since: s.Started}
		}
	}
	for _, key := range run.subject.Keys {
		r.busy[key] = run
	}
	run.started = r.now()
	run.id = newID(run.started)
	r.runs = append(r.runs, run)
	r.prune()
	return nil
}

// prune forgets the oldest runs that are over.
func (r *Runner) prune() {
	over := 0
	for i, run := range slices.Backward(r.runs) {
		if !run.isIdle() {
			continue
		}
		if over++; over > keepRuns {
			r.runs = slices.Delete(r.runs, i, i+1)
		}
	}
}

// free lets the next run have the palaces.
func (r *Runner) free(run *Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range run.subject.Keys {
		delete(r.busy, key)
	}
}

// Runs are the runs of this process that go on, and the last ones that are
// over, in the order of their start.
func (r *Runner) Runs() []Snapshot {
	var list []Snapshot
	for _, run := range r.known() {
		list = append(list, run.Snapshot())
	}
	return list
}

// Run finds one of Runs; nil when it is none of them.
func (r *Runner) Run(id ID) *Run {
	for _, run := range r.known() {
		if run.id == id {
			return run
		}
	}
	return nil
}

func (r *Runner) known() []*Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.runs)
}

// Shutdown refuses new runs, cancels all that go on, and waits for them, for
// their leases to be given back and for their logs, until ctx ends. Then it
// fails with a *StillRunningError. It may be called again, to wait longer.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	runs := r.known()
	for _, run := range runs {
		run.stop(ErrShutdown)
	}
	var still []string
	for _, run := range runs {
		if run.isIdle() {
			continue
		}
		select {
		case <-run.idle:
		case <-ctx.Done():
			still = append(still, run.plan.Title)
		}
	}
	if len(still) > 0 {
		return &StillRunningError{Titles: still, Err: context.Cause(ctx)}
	}
	return nil
}
