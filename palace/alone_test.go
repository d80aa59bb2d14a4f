package palace

import (
	"context"
	"errors"
	"os"
	"testing"

	"castellan/locks"
	"castellan/palace/backend"
)

// sighting is a watcher that has seen something.
type sighting struct {
	view locks.PalaceView
	err  error
}

func (s sighting) Palace(context.Context, locks.Target) (locks.PalaceView, error) {
	return s.view, s.err
}

func TestWhoeverCannotBeSeenHasThePalaceOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p, _ := h.store(&fakeStore{}, nil)
	broken := errors.New("broken")
	// Alone only where the machine lets it be told: not in a container whose
	// temporary directory is shared.
	private := remoteType(p.ref.Real) == "" && !sharedOutside(p.ref.Real)
	for _, c := range []struct {
		name  string
		watch Watcher
		alone bool
		err   error
	}{
		{name: "nobody watches"},
		{name: "nobody there", watch: sighting{}, alone: private},
		{name: "an opener", watch: sighting{view: locks.PalaceView{Openers: []locks.Opener{{}}}}},
		{name: "hidden processes", watch: sighting{view: locks.PalaceView{Hidden: 1}}},
		{name: "a gap", watch: sighting{view: locks.PalaceView{Gaps: []error{broken}}}},
	} {
		p.manager.writes.watch = c.watch
		alone, err := p.alone(t.Context())
		if alone != c.alone || err != nil {
			t.Errorf("%s: alone %v, %v; want %v", c.name, alone, err, c.alone)
		}
	}
	if private {
		p.manager.writes.watch = sighting{err: broken}
		if alone, err := p.alone(t.Context()); alone || !errors.Is(err, broken) {
			t.Errorf("a look that fails: %v, %v", alone, err)
		}
	}
}

func TestAWriteWhoseLockWasLostIsStoppedBeforeItsCommit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	f := &fakeStore{}
	p, w := h.store(f, nil)
	f.write = func(ctx context.Context, _ string) error {
		must(t, os.RemoveAll(locks.Directory(h.dir)))
		_, err := p.alone(ctx)
		return err
	}
	if err := w.Upsert(t.Context(), nil); !errors.Is(err, locks.ErrLeaseLost) {
		t.Errorf("%v, want ErrLeaseLost", err)
	}
}

func TestAnObserverOfLocksIsAWatcher(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	p := h.open(m, h.palace("p", "fresh"))
	m.writes.watch = locks.NewObserver(locks.Options{Home: h.dir, SampleInterval: -1})
	if _, err := p.alone(t.Context()); err != nil {
		t.Error(err)
	}
	// Ourselves are nobody else.
	v, err := m.writes.watch.Palace(t.Context(), p.LockTarget())
	must(t, err)
	if len(v.Openers) != 0 {
		t.Errorf("openers %v", v.Openers)
	}
	if p.Kind() != backend.Chroma {
		t.Error(p.Kind())
	}
}
