package palace

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"castellan/locks"
)

// reversedDo is the seam with its two steps the wrong way round.
func reversedDo(s *seam, ctx context.Context, write func(*locks.Lease) error) error {
	l, err := s.take(ctx, 0)
	if err != nil {
		return err
	}
	defer l.Release()
	if err := s.handle.enter(ctx); err != nil {
		return err
	}
	defer s.handle.leave()
	return write(l)
}

func seamOf(t *testing.T, wait time.Duration) (s *seam, lease func(context.Context) (*locks.Lease, error)) {
	home, target := t.TempDir(), locks.Target{Path: t.TempDir()}
	s = &seam{handle: newGate(), wait: wait, take: func(ctx context.Context, wait time.Duration) (*locks.Lease, error) {
		return locks.Take(ctx, target, locks.TakeOptions{Home: home, Wait: wait})
	}}
	return s, func(ctx context.Context) (*locks.Lease, error) { return s.take(ctx, 0) }
}

// watched is a context that tells when somebody begins to wait for its end.
type watched struct {
	context.Context
	waits chan struct{}
	once  *sync.Once
}

func watch(ctx context.Context) watched { return watched{ctx, make(chan struct{}), new(sync.Once)} }

func (w watched) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}

// lateWrite plays the schedule that the order of the seam is about: a run's
// first write is in the engine, a second one of the same run waits for the
// handle, the run ends and gives its lease back, the first write returns. It
// gives what the second one was told, and whether it wrote.
func lateWrite(t *testing.T, do func(*seam, context.Context, func(*locks.Lease) error) error) (err error, wrote bool) {
	s, take := seamOf(t, 0)
	owner, err := take(t.Context())
	must(t, err)
	run := locks.WithLease(t.Context(), owner)

	inside, goOn := make(chan struct{}), make(chan struct{})
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		first <- do(s, run, func(*locks.Lease) error { close(inside); <-goOn; return nil })
	}()
	<-inside
	late := watch(run)
	go func() {
		second <- do(s, late, func(*locks.Lease) error { wrote = true; return nil })
	}()
	<-late.waits
	must(t, owner.Release())
	close(goOn)
	must(t, <-first)
	err = <-second
	if l, err := take(context.Background()); err != nil {
		t.Errorf("the palace was not given back: %v", err)
	} else {
		must(t, l.Release())
	}
	return err, wrote
}

func TestNobodyWritesAfterTheLeasesOwnerIsDone(t *testing.T) {
	t.Parallel()
	if err, wrote := lateWrite(t, (*seam).do); wrote || !errors.Is(err, locks.ErrLeaseEnded) {
		t.Errorf("the late write: wrote %v, %v; want ErrLeaseEnded", wrote, err)
	}
	// The schedule does tell the two orders apart.
	if err, wrote := lateWrite(t, reversedDo); !wrote || err != nil {
		t.Errorf("the reversed seam: wrote %v, %v; the schedule shows nothing", wrote, err)
	}
}

// A writer that waits for the palace with the handle in hand would stop the
// very run it waits for.
func TestWhoWaitsForThePalaceDoesNotStopTheRunThatHoldsIt(t *testing.T) {
	t.Parallel()
	s, take := seamOf(t, time.Minute)
	owner, err := take(t.Context())
	must(t, err)
	run := locks.WithLease(t.Context(), owner)
	stranger := watch(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- s.do(stranger, func(*locks.Lease) error { return nil }) }()
	<-stranger.waits // it sleeps for the lock now
	for range 3 {
		must(t, s.do(run, func(*locks.Lease) error { return nil }))
	}
	select {
	case err := <-waited:
		t.Errorf("the stranger did not wait: %v", err)
	default:
	}
	must(t, owner.Release())
	must(t, <-waited)
}

func TestAHeldPalaceRefusesAtOnceByDefault(t *testing.T) {
	t.Parallel()
	s, take := seamOf(t, 0)
	owner, err := take(t.Context())
	must(t, err)
	defer owner.Release()
	var held *locks.HeldError
	err = s.do(t.Context(), func(*locks.Lease) error { t.Error("wrote"); return nil })
	if !errors.As(err, &held) || !held.Self {
		t.Errorf("%v, want a HeldError that names this process", err)
	}
	if len(s.handle) != 0 {
		t.Error("the handle was not given back")
	}
}

func TestABoundedWaitEndsInARefusal(t *testing.T) {
	t.Parallel()
	s, take := seamOf(t, 5*time.Millisecond)
	owner, err := take(t.Context())
	must(t, err)
	defer owner.Release()
	var held *locks.HeldError
	if err := s.do(t.Context(), func(*locks.Lease) error { t.Error("wrote"); return nil }); !errors.As(err, &held) {
		t.Errorf("%v, want a HeldError", err)
	}
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	for _, part := range []string{"handle", "lock"} {
		s, take := seamOf(t, time.Minute)
		var giveBack func() error
		if part == "handle" {
			must(t, s.handle.enter(t.Context()))
			giveBack = func() error { s.handle.leave(); return nil }
		} else {
			owner, err := take(t.Context())
			must(t, err)
			giveBack = owner.Release
		}
		inner, cancel := context.WithCancelCause(t.Context())
		ctx := watch(inner)
		got := make(chan error, 1)
		go func() { got <- s.do(ctx, func(*locks.Lease) error { t.Error("wrote"); return nil }) }()
		<-ctx.waits
		cancel(why)
		if err := <-got; !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
			t.Errorf("waiting for the %s: %v", part, err)
		}
		must(t, giveBack())
		must(t, s.do(t.Context(), func(*locks.Lease) error { return nil }))
	}
}

func TestAWriteThatPanicsGivesEverythingBack(t *testing.T) {
	t.Parallel()
	s, _ := seamOf(t, 0)
	if v := panics(func() { s.do(t.Context(), func(*locks.Lease) error { panic("the engine broke") }) }); v != "the engine broke" {
		t.Errorf("the panic became %v", v)
	}
	ended := make(chan struct{})
	go func() { // like t.FailNow on the way
		defer close(ended)
		s.do(t.Context(), func(*locks.Lease) error { goexit(); return nil })
	}()
	<-ended
	broken := errors.New("broken")
	if err := s.do(t.Context(), func(*locks.Lease) error { return broken }); err != broken {
		t.Errorf("%v, want the engine's own error", err)
	}
	must(t, s.do(t.Context(), func(*locks.Lease) error { return nil }))
}

func TestWritesOfOneHandleComeOneByOne(t *testing.T) {
	t.Parallel()
	s, take := seamOf(t, 0)
	owner, err := take(t.Context())
	must(t, err)
	defer owner.Release()
	run := locks.WithLease(t.Context(), owner)
	n := 0 // guarded by the seam; the race detector watches
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				must(t, s.do(run, func(*locks.Lease) error { n++; return nil }))
			}
		})
	}
	wg.Wait()
	if n != 400 {
		t.Errorf("%d writes, want 400", n)
	}
}
