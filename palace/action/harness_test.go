package action

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"castellan/locks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// funcAction is an action on the palace its name says.
type funcAction struct {
	subject Subject
	run     func(context.Context, Reporter) (Result, error)
}

func (a funcAction) Subject() Subject                                    { return a.subject }
func (a funcAction) Plan(context.Context) (Plan, error)                  { return planned, nil }
func (a funcAction) Run(ctx context.Context, r Reporter) (Result, error) { return a.run(ctx, r) }

var planned = Plan{Title: "Rebuild the index", Risk: RiskReversible, Backup: "/backups/work-1"}

func on(palace string, run func(context.Context, Reporter) (Result, error)) funcAction {
	return funcAction{Subject{Palace: palace, Keys: []string{palace}, LockPaths: []string{palace}}, run}
}

// untilCancelled is an action that works until it is asked to stop.
func untilCancelled(begun chan<- struct{}) func(context.Context, Reporter) (Result, error) {
	return func(ctx context.Context, _ Reporter) (Result, error) {
		close(begun)
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
}

type leaseKey struct{}

// fakeLocker has the manners of a palace lock.
type fakeLocker struct {
	mu           sync.Mutex
	held         map[string]bool
	taken, given int

	// stranger holds every palace until gone is closed.
	stranger *locks.Holder
	gone     chan struct{}
	asked    chan struct{} // closed by the first wait
	during   func()        // called while the lease is being given
	// how to fail
	takePanics, releasePanics any
	releaseErr                error
	lose                      chan error // a lease is lost with what comes here
}

func (l *fakeLocker) Take(ctx context.Context, paths []string, wait time.Duration, onWait func(locks.Holder)) (func() error, context.Context, error) {
	if l.takePanics != nil {
		panic(l.takePanics)
	}
	if l.stranger != nil {
		if wait == 0 {
			return nil, nil, &locks.HeldError{Palace: paths[0], Holder: *l.stranger}
		}
		onWait(*l.stranger)
		if l.asked != nil {
			close(l.asked)
		}
		limit := time.NewTimer(wait)
		defer limit.Stop()
		select {
		case <-l.gone:
		case <-limit.C:
			return nil, nil, &locks.HeldError{Palace: paths[0], Holder: *l.stranger}
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range paths {
		if l.held[p] {
			return nil, nil, errors.New("two leases at once on " + p)
		}
	}
	if l.held == nil {
		l.held = map[string]bool{}
	}
	for _, p := range paths {
		l.held[p] = true
	}
	l.taken++
	if l.during != nil {
		l.during()
	}
	leased, end := context.WithCancelCause(context.WithValue(ctx, leaseKey{}, paths))
	var lost sync.WaitGroup
	if l.lose != nil {
		lost.Go(func() {
			select {
			case err := <-l.lose:
				end(err)
			case <-leased.Done():
			}
		})
	}
	return func() error {
		end(nil)
		lost.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range paths {
			delete(l.held, p)
		}
		l.given++
		if l.releasePanics != nil {
			panic(l.releasePanics)
		}
		return l.releaseErr
	}, leased, nil
}

// allGivenBack fails when a lease outlives its run.
func (l *fakeLocker) allGivenBack(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) > 0 || l.given != l.taken {
		t.Errorf("%d leases taken, %d given back, still held: %v", l.taken, l.given, l.held)
	}
}

// newTestRunner is shut down with the test.
func newTestRunner(t *testing.T, o Options) *Runner {
	t.Helper()
	r := NewRunner(o)
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func start(t *testing.T, r *Runner, a Action) *Run {
	t.Helper()
	run, err := r.Start(t.Context(), a, planned)
	must(t, err)
	return run
}

// hear listens to the end.
func hear(t *testing.T, run *Run) []Event {
	t.Helper()
	var all []Event
	for sub := run.Subscribe(); ; {
		batch, err := sub.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, batch...)
	}
}

// theEnd checks that there is one Finished and nothing after it.
func theEnd(t *testing.T, run *Run, events []Event) Finished {
	t.Helper()
	n := len(details[Finished](events))
	if n != 1 {
		t.Fatalf("%d Finished in %v", n, events)
	}
	last, ok := events[len(events)-1].Detail.(Finished)
	if !ok {
		t.Fatalf("after Finished: %v", events)
	}
	for _, e := range events {
		if e.Run != run.ID() {
			t.Errorf("an event of run %q under run %q", e.Run, run.ID())
		}
	}
	if s := run.Snapshot(); s.State != last.State || !s.State.Over() || s.Ended.IsZero() || s.Waiting != nil {
		t.Errorf("after %v the snapshot is %+v", last, s)
	}
	return last
}

func details[D Detail](events []Event) []D {
	var list []D
	for _, e := range events {
		if d, ok := e.Detail.(D); ok {
			list = append(list, d)
		}
	}
	return list
}

func states(events []Event) []State {
	var list []State
	for _, c := range details[Changed](events) {
		list = append(list, c.State)
	}
	return append(list, details[Finished](events)[0].State)
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}
