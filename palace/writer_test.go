package palace

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// fakeStore is an engine that can be written to, whose every step the test
// decides.
type fakeStore struct {
	fake
	write func(ctx context.Context, what string) error
	read  func() error
}

func (f *fakeStore) do(ctx context.Context, what string) error {
	if f.write == nil {
		return nil
	}
	return f.write(ctx, what)
}

func (f *fakeStore) Collection(context.Context, string) (backend.Collection, error) {
	return &fakeWriter{f}, nil
}
func (f *fakeStore) CreateCollection(ctx context.Context, c backend.NewCollection) (backend.Writer, error) {
	return &fakeWriter{f}, f.do(ctx, "create "+c.Name)
}
func (f *fakeStore) DeleteCollection(ctx context.Context, name string) error {
	return f.do(ctx, "delete "+name)
}

type fakeWriter struct{ store *fakeStore }

func (w *fakeWriter) question() error {
	if w.store.read == nil {
		return nil
	}
	return w.store.read()
}
func (w *fakeWriter) Info() backend.CollectionInfo { return backend.CollectionInfo{Name: "drawers"} }
func (w *fakeWriter) Count(context.Context, backend.Filter) (int64, error) {
	return 7, w.question()
}
func (w *fakeWriter) Get(context.Context, backend.Query) (backend.Page, error) {
	return backend.Page{}, w.question()
}
func (w *fakeWriter) Facets(context.Context, backend.Filter, ...string) ([]backend.Facet, error) {
	return nil, w.question()
}
func (w *fakeWriter) Add(ctx context.Context, _ []backend.Record) error {
	return w.store.do(ctx, "add")
}
func (w *fakeWriter) Upsert(ctx context.Context, _ []backend.Record) error {
	return w.store.do(ctx, "upsert")
}
func (w *fakeWriter) Update(ctx context.Context, _ []backend.Change) error {
	return w.store.do(ctx, "update")
}
func (w *fakeWriter) Delete(ctx context.Context, _ backend.Filter) (int64, error) {
	return 3, w.store.do(ctx, "delete")
}

// store opens a palace that f keeps.
func (h *fakeHome) store(f *fakeStore, change func(*Manager)) (*Palace, backend.Writer) {
	h.t.Helper()
	m, dir := h.with(func(context.Context, string) (backend.Backend, error) { return f, nil })
	if change != nil {
		change(m)
	}
	closing(h.t, m)
	p := h.open(m, dir)
	w, err := p.Writer(h.t.Context(), "drawers")
	must(h.t, err)
	return p, w
}

// every kind of write.
func everyWrite(ctx context.Context, p *Palace, w backend.Writer) map[string]error {
	return map[string]error{
		"add":    w.Add(ctx, nil),
		"upsert": w.Upsert(ctx, nil),
		"update": w.Update(ctx, nil),
		"delete": second(w.Delete(ctx, backend.Filter{IDs: []string{"a"}})),
		"create": second(p.CreateCollection(ctx, backend.NewCollection{Name: "new"})),
		"drop":   p.DeleteCollection(ctx, "old"),
	}
}

func everyRead(ctx context.Context, w backend.Writer) map[string]error {
	return map[string]error{
		"count":  second(w.Count(ctx, backend.Filter{})),
		"get":    second(w.Get(ctx, backend.Query{})),
		"facets": second(w.Facets(ctx, backend.Filter{}, "wing")),
	}
}

// stranger tries the palace's lock as any other program would.
func (h *fakeHome) stranger(p *Palace) error {
	l, err := locks.Take(context.Background(), p.LockTarget(), locks.TakeOptions{Home: h.dir})
	if err != nil {
		return err
	}
	return l.Release()
}

func TestEveryWriteHoldsThePalaceUnderAllItsKeys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{}
	p, w := h.store(f, nil)
	must(t, os.Symlink(p.Ref().Path, h.path("link")))
	h.open(p.manager, h.path("link"))
	var seen atomic.Int32
	f.write = func(ctx context.Context, what string) error {
		seen.Add(1)
		for _, path := range p.LockPaths() {
			var held *locks.HeldError
			_, err := locks.Take(context.Background(), locks.Target{Path: path}, locks.TakeOptions{Home: h.dir})
			if !errors.As(err, &held) || !held.Self {
				t.Errorf("%s: a stranger takes %s: %v", what, path, err)
			}
		}
		// What the engine does under the write's own context passes.
		l, err := locks.Take(ctx, p.LockTarget(), locks.TakeOptions{Home: h.dir})
		if err != nil {
			return err
		}
		return l.Release()
	}
	for what, err := range everyWrite(t.Context(), p, w) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := seen.Load(); n != 6 {
		t.Errorf("%d writes reached the engine, want 6", n)
	}
	must(t, h.stranger(p))
}

func TestAHeldPalaceRefusesWritersBeforeTheEngineAndReadersNever(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{write: func(_ context.Context, what string) error { t.Errorf("%s reached the engine", what); return nil }}
	p, w := h.store(f, nil)
	l, err := locks.Take(t.Context(), p.LockTarget(), locks.TakeOptions{Home: h.dir})
	must(t, err)
	for what, err := range everyWrite(t.Context(), p, w) {
		var held *locks.HeldError
		if !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
			t.Errorf("%s: %v, want a HeldError with our pid", what, err)
		}
	}
	for what, err := range everyRead(t.Context(), w) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.write = nil
	for what, err := range everyWrite(locks.WithLease(t.Context(), l), p, w) {
		if err != nil {
			t.Errorf("under the lease, %s: %v", what, err)
		}
	}
	must(t, l.Release())
	for what, err := range everyWrite(locks.WithLease(t.Context(), l), p, w) {
		if !errors.Is(err, locks.ErrLeaseEnded) {
			t.Errorf("under a lease that has ended, %s: %v", what, err)
		}
	}
}

func TestReadersPassAWriteThatIsUnderWay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{}
	_, w := h.store(f, nil)
	f.write = func(ctx context.Context, _ string) error {
		return errors.Join(everyRead(ctx, w)["count"], everyRead(ctx, w)["get"])
	}
	must(t, w.Upsert(t.Context(), nil))
}

func TestAPanickingEngineGivesThePalaceBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{write: func(context.Context, string) error { panic("the engine broke") }}
	p, w := h.store(f, nil)
	if v := panics(func() { w.Upsert(t.Context(), nil) }); v != "the engine broke" {
		t.Errorf("the panic became %v", v)
	}
	if panics(func() { p.CreateCollection(t.Context(), backend.NewCollection{}) }) == nil {
		t.Error("the panic was swallowed")
	}
	must(t, h.stranger(p))
	f.write = nil
	must(t, w.Upsert(t.Context(), nil))
	must(t, p.Close()) // nothing is in flight
}

func TestAWriterKeptPastCloseFailsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{}
	p, w := h.store(f, nil)
	must(t, p.Close())
	f.write = func(_ context.Context, what string) error { t.Errorf("%s reached the engine", what); return nil }
	again := h.open(p.manager, p.Ref().Path)
	for range 2 {
		for what, err := range everyWrite(t.Context(), p, w) {
			if !errors.Is(err, backend.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", what, err)
			}
		}
		for what, err := range everyRead(t.Context(), w) {
			if !errors.Is(err, backend.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", what, err)
			}
		}
	}
	f.write = nil
	w, err := again.Writer(t.Context(), "drawers")
	must(t, err)
	must(t, w.Upsert(t.Context(), nil))
}

func TestCloseLetsAWriteEndAndTurnsAwayWhoWaitsForOne(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"handle", "lock"} {
		h := newHome(t)
		inside, goOn := make(chan struct{}), make(chan struct{})
		var wrote atomic.Int32
		f := &fakeStore{write: func(ctx context.Context, _ string) error {
			if wrote.Add(1) == 1 {
				close(inside)
				<-goOn
			}
			return ctx.Err() // a write under way is not cancelled by Close
		}}
		p, w := h.store(f, func(m *Manager) { m.writes.wait = time.Minute })
		ctx := t.Context()
		if busy == "lock" {
			l, err := locks.Take(ctx, p.LockTarget(), locks.TakeOptions{Home: h.dir})
			must(t, err)
			defer l.Release()
			ctx = locks.WithLease(ctx, l)
		}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- w.Upsert(ctx, nil) }()
		<-inside
		waiting := watch(t.Context())
		go func() { second <- w.Upsert(waiting, nil) }()
		<-waiting.waits // it is in, and no longer refused at the door
		closed := make(chan error, 1)
		go func() { closed <- p.Close() }()
		if err := <-second; !errors.Is(err, backend.ErrClosed) {
			t.Errorf("who waited for the %s: %v, want ErrClosed", busy, err)
		}
		select {
		case <-closed:
			t.Error("Close did not wait for the write")
		default:
		}
		close(goOn)
		must(t, <-first)
		must(t, <-closed)
		if n := wrote.Load(); n != 1 {
			t.Errorf("%d writes, want 1", n)
		}
	}
}

func TestAWriterKeptPastARestoreFailsForEver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	stale := &dbfile.StaleError{Path: "chroma.sqlite3", Reason: "another file has taken its place"}
	var now atomic.Pointer[fakeStore]
	old, new := &fakeStore{}, &fakeStore{}
	now.Store(old)
	m, dir := h.with(func(context.Context, string) (backend.Backend, error) { return now.Load(), nil })
	closing(t, m)
	p := h.open(m, dir)
	w, err := p.Writer(t.Context(), "drawers")
	must(t, err)
	other, err := p.Writer(t.Context(), "drawers")
	must(t, err)

	now.Store(new)
	old.write = func(context.Context, string) error { return stale }
	old.collections = func(context.Context) ([]backend.CollectionInfo, error) { return nil, stale }
	var replaced *ReplacedError
	if err := w.Upsert(t.Context(), nil); !errors.As(err, &replaced) || !errors.Is(err, backend.ErrClosed) {
		t.Errorf("the first write: %v, want a ReplacedError that is ErrClosed", err)
	}
	// Even when the old file comes back: whoever had the error has moved on.
	old.write, old.collections = nil, nil
	if err := w.Upsert(t.Context(), nil); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("the second write: %v", err)
	}
	old.collections = func(context.Context) ([]backend.CollectionInfo, error) { return nil, stale }
	var created []string
	new.write = func(_ context.Context, what string) error { created = append(created, what); return nil }
	if _, err := p.CreateCollection(t.Context(), backend.NewCollection{Name: "x"}); err != nil || len(created) != 1 {
		t.Errorf("the palace itself goes on with the new database: %v, %q", err, created)
	}
	if old.closed.Load() != 1 {
		t.Error("the old database was not closed")
	}
	for what, err := range map[string]error{"write": other.Add(t.Context(), nil), "read": second(other.Count(t.Context(), backend.Filter{}))} {
		if !errors.Is(err, backend.ErrClosed) {
			t.Errorf("a writer that slept through it, %s: %v", what, err)
		}
	}
}

func TestADirectoryThatWasReplacedIsNotWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{write: func(_ context.Context, what string) error { t.Errorf("%s reached the engine", what); return nil }}
	p, w := h.store(f, nil)
	must(t, os.Rename(p.Ref().Path, h.path("away")))
	h.palace("p", "fresh")
	var moved *MovedError
	if err := w.Upsert(t.Context(), nil); !errors.As(err, &moved) {
		t.Errorf("%v, want a MovedError", err)
	}
}

func TestALinkTurnedElsewhereDoesNotLockAnotherPalaceInstead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{}
	m, real := h.with(func(context.Context, string) (backend.Backend, error) { return f, nil })
	closing(t, m)
	link := h.path("link")
	must(t, os.Symlink(real, link))
	p := h.open(m, link)
	w, err := p.Writer(t.Context(), "drawers")
	must(t, err)
	must(t, os.Remove(link))
	must(t, os.Symlink(h.palace("other", "fresh"), link))
	f.write = func(context.Context, string) error {
		_, err := locks.Take(context.Background(), locks.Target{Path: real}, locks.TakeOptions{Home: h.dir})
		if !errors.As(err, new(*locks.HeldError)) {
			t.Errorf("the palace that is written is not locked: %v", err)
		}
		return nil
	}
	must(t, w.Upsert(t.Context(), nil))
}

func TestOnLockWaitNamesWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	told := make(chan locks.Holder, 1)
	p, w := h.store(&fakeStore{}, func(m *Manager) {
		m.writes = writes{wait: time.Minute, onWait: func(_ backend.Ref, who locks.Holder) {
			select {
			case told <- who:
			default:
			}
		}}
	})
	l, err := locks.Take(t.Context(), p.LockTarget(), locks.TakeOptions{Home: h.dir})
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- w.Upsert(t.Context(), nil) }()
	if who := <-told; who.PID != os.Getpid() {
		t.Errorf("told of %d, want ourselves", who.PID)
	}
	must(t, l.Release())
	must(t, <-done)
}
