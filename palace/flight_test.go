package palace

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"castellan/palace/backend"
)

// fake is a backend whose every step the test decides.
type fake struct {
	collections func(context.Context) ([]backend.CollectionInfo, error)
	closed      atomic.Int32
	closePanics bool
}

func (f *fake) Kind() backend.Kind { return backend.Chroma }

func (f *fake) Collections(ctx context.Context) ([]backend.CollectionInfo, error) {
	if f.collections == nil {
		return nil, nil
	}
	return f.collections(ctx)
}

func (f *fake) Collection(context.Context, string) (backend.Collection, error) {
	return nil, &backend.CollectionNotFoundError{}
}

func (f *fake) Close() error {
	f.closed.Add(1)
	if f.closePanics {
		panic("the engine broke while closing")
	}
	return nil
}

// with makes a manager that opens palaces by way of open.
func (h *fakeHome) with(open opener) (m *Manager, dir string) {
	m = h.manager()
	m.openers = map[backend.Kind]opener{backend.Chroma: open}
	return m, h.palace("p", "fresh")
}

func TestTwentyWhoOpenAtOnceShareOneOpening(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var opened atomic.Int32
	started, goOn := make(chan struct{}), make(chan struct{})
	m, dir := h.with(func(context.Context, string) (backend.Backend, error) {
		if opened.Add(1) == 1 {
			close(started)
		}
		<-goOn
		return &fake{}, nil
	})
	closing(t, m)
	got := make(chan *Palace, 20)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			p, err := m.Open(t.Context(), backend.Ref{Path: dir})
			if err != nil {
				t.Error(err)
			}
			got <- p
		})
	}
	<-started
	close(goOn)
	wg.Wait()
	first := <-got
	for range 19 {
		if p := <-got; p != first {
			t.Error("two handles for one palace")
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("opened %d times", n)
	}
}

func TestALeaderWhoGivesUpLeavesTheOpeningToOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	started := make(chan struct{})
	var calls atomic.Int32
	m, dir := h.with(func(ctx context.Context, _ string) (backend.Backend, error) {
		if calls.Add(1) > 1 {
			return &fake{}, nil
		}
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	closing(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := m.Open(ctx, backend.Ref{Path: dir}); !errors.Is(err, context.Canceled) {
			t.Errorf("the leader: %v", err)
		}
	})
	<-started
	wg.Go(func() {
		if _, err := m.Open(t.Context(), backend.Ref{Path: dir}); err != nil {
			t.Errorf("who waited: %v", err)
		}
	})
	impatient, leave := context.WithCancel(t.Context())
	leave()
	if _, err := m.Open(impatient, backend.Ref{Path: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait: %v", err)
	}
	cancel()
	wg.Wait()
}

func TestAFailureToOpenIsToldToEverybodyAndKeptByNobody(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	broken := errors.New("broken")
	var calls atomic.Int32
	m, dir := h.with(func(context.Context, string) (backend.Backend, error) {
		if calls.Add(1) == 1 {
			return nil, broken
		}
		return &fake{}, nil
	})
	closing(t, m)
	if _, err := m.Open(t.Context(), backend.Ref{Path: dir}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
	if _, err := m.Open(t.Context(), backend.Ref{Path: dir}); err != nil {
		t.Errorf("once it is mended: %v", err)
	}
}

func TestClosingTheManagerCutsAnOpeningShort(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	started := make(chan struct{})
	m, dir := h.with(func(ctx context.Context, _ string) (backend.Backend, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := m.Open(t.Context(), backend.Ref{Path: dir}); !errors.Is(err, backend.ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
	})
	<-started
	must(t, m.Close())
	wg.Wait()
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
}

func TestCloseRefusesNewWorkAndWaitsForWorkInFlight(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fake{}
	m, dir := h.with(func(context.Context, string) (backend.Backend, error) { return f, nil })
	closing(t, m)
	p := h.open(m, dir)
	running, goOn := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	f.collections = func(context.Context) ([]backend.CollectionInfo, error) {
		if asked.Add(1) > 1 {
			return nil, nil // by one who came before Close
		}
		close(running)
		<-goOn
		if f.closed.Load() > 0 {
			t.Error("closed while a question was running")
		}
		return []backend.CollectionInfo{{Name: "late"}}, nil
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if list, err := p.Collections(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("the question in flight: %v, %v", list, err)
		}
	})
	<-running
	shut := make(chan error, 2)
	for range 2 {
		go func() { shut <- p.Close() }()
	}
	// The refusal does not wait for the question in flight.
	for {
		if _, err := p.State(t.Context()); errors.Is(err, backend.ErrClosed) {
			break
		}
	}
	select {
	case err := <-shut:
		t.Fatalf("Close did not wait: %v", err)
	default:
	}
	if f.closed.Load() > 0 {
		t.Error("closed under a question")
	}
	close(goOn)
	must(t, errors.Join(<-shut, <-shut))
	wg.Wait()
	if n := f.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

func TestOpenWaitsUntilTheOldHandleIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var open, most atomic.Int32
	m, dir := h.with(nil)
	m.openers[backend.Chroma] = func(context.Context, string) (backend.Backend, error) {
		most.Store(max(most.Load(), open.Add(1)))
		return &counted{&open}, nil
	}
	closing(t, m)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				p, err := m.Open(t.Context(), backend.Ref{Path: dir})
				if err != nil {
					t.Error(err)
					return
				}
				must(t, p.Close())
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 || open.Load() != 0 {
		t.Errorf("%d handles of one palace at once, %d left", most.Load(), open.Load())
	}
}

type counted struct{ open *atomic.Int32 }

func (c *counted) Kind() backend.Kind { return backend.Chroma }
func (c *counted) Collections(context.Context) ([]backend.CollectionInfo, error) {
	return nil, nil
}
func (c *counted) Collection(context.Context, string) (backend.Collection, error) {
	return nil, &backend.CollectionNotFoundError{}
}
func (c *counted) Close() error { c.open.Add(-1); return nil }

// panics runs f and gives what it panicked with.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestAPanickingBackendLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fake{}
	m, dir := h.with(nil)
	m.openers[backend.Chroma] = func(context.Context, string) (backend.Backend, error) { panic("the engine broke while opening") }
	if panics(func() { m.Open(t.Context(), backend.Ref{Path: dir}) }) == nil {
		t.Error("the panic was swallowed")
	}
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
	m.openers[backend.Chroma] = func(context.Context, string) (backend.Backend, error) { return f, nil }
	p := h.open(m, dir)
	f.collections = func(context.Context) ([]backend.CollectionInfo, error) { panic("the engine broke") }
	if panics(func() { p.Collections(t.Context()) }) == nil {
		t.Error("the panic was swallowed")
	}
	f.closePanics = true
	if panics(func() { p.Close() }) == nil {
		t.Error("the panic was swallowed")
	}
	must(t, p.Close()) // and does not wait for the one that never finished
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
	f.closePanics, f.collections = false, nil
	h.open(m, dir)
	must(t, m.Close())
}
