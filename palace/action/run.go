package action

import (
	"context"
	"sync"
	"time"
)

// Run is an action that was started. Its methods may be called from several
// goroutines, and none of them waits for the action or for a disk.
type Run struct {
	id      ID
	plan    Plan
	subject Subject
	started time.Time
	now     func() time.Time

	cancel context.CancelCauseFunc
	done   chan struct{} // closed when Finished has been said
	idle   chan struct{} // closed when the run's goroutines have ended too

	mu    sync.Mutex
	ctx   context.Context // what the action works under
	state State
	phase Phase
	bound bool // phase is one that cannot stop
	// cause is why the run is to stop, from the first request on; nil = it is
	// not.
	cause error

	// kept is everything that is never dropped, each said once and for all.
	// Subscribers hold a position in it, so a slow one costs nothing.
	kept []Event
	// latest is the Progress or Waiting that the next one replaces. It moves
	// to kept when its phase ends.
	latest *Event
	seq    uint64
	// Closed at the next event, or the next that is kept; nil while nobody
	// waits.
	wake, wakeKept chan struct{}

	progress Progress
	waiting  *Waiting
	ended    time.Time
	finished *Finished
	unlogged error
}

// Snapshot is a run as it is at one moment.
type Snapshot struct {
	ID      ID
	Plan    Plan
	Subject Subject
	State   State
	// Started is when the run was, Ended when it was over; zero before.
	Started, Ended time.Time
	Waiting        *Waiting // nil = the run does not wait
	Phase          Phase    // N = 0 before the first
	Progress       Progress // of this phase
	// Result and Err are those of Finished.
	Result Result
	Err    error
	// Unlogged is why the run's log is missing or incomplete; nil when it is
	// neither.
	Unlogged error
}

// ID names the run.
func (r *Run) ID() ID { return r.id }

// Done is closed when the run has finished and its lease is given back.
func (r *Run) Done() <-chan struct{} { return r.done }

// isIdle reports that the run's log is complete too.
func (r *Run) isIdle() bool {
	select {
	case <-r.idle:
		return true
	default:
		return false
	}
}

// Snapshot says how far the run is.
func (r *Run) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{
		ID: r.id, Plan: r.plan, Subject: r.subject, State: r.state,
		Started: r.started, Ended: r.ended,
		Phase: r.phase, Progress: r.progress, Unlogged: r.unlogged,
	}
	if r.waiting != nil {
		w := *r.waiting
		s.Waiting = &w
	}
	if r.finished != nil {
		s.Result, s.Err = r.finished.Result, r.finished.Err
	}
	return s
}

// Cancel asks the run to stop. That takes as long as it takes: the run is
// cancelling until Finished comes, and can still end as done when what was left
// could not stop. Further calls change nothing.
func (r *Run) Cancel() { r.stop(ErrCancelled) }

func (r *Run) stop(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil || r.finished != nil {
		return
	}
	r.cause = cause
	r.change(StateCancelling)
	if !r.bound {
		r.cancel(cause)
	}
}

// change, keep, replace and settle are called with r.mu held.

func (r *Run) change(s State) {
	r.state = s
	r.keep(Changed{s})
}

// keep adds what is never dropped.
func (r *Run) keep(d Detail) {
	r.kept = append(r.kept, r.event(d))
	rouse(&r.wake)
	rouse(&r.wakeKept)
}

// replace is for what the next of its kind makes worthless.
func (r *Run) replace(d Detail) {
	e := r.event(d)
	r.latest = &e
	rouse(&r.wake)
}

// settle keeps the last word of a phase, before anything is said of the next.
func (r *Run) settle() {
	if r.latest != nil {
		r.kept = append(r.kept, *r.latest)
		r.latest = nil
	}
}

func (r *Run) event(d Detail) Event {
	r.seq++
	return Event{Run: r.id, At: r.now(), Detail: d, seq: r.seq}
}

// rouse wakes whoever waits on the channel.
func rouse(wake *chan struct{}) {
	if *wake != nil {
		close(*wake)
		*wake = nil
	}
}

// waitOn gives the channel that rouse will close, made when first asked for: a
// run that nobody listens to pays nothing. It is called with r.mu held.
func waitOn(wake *chan struct{}) <-chan struct{} {
	if *wake == nil {
		*wake = make(chan struct{})
	}
	return *wake
}
