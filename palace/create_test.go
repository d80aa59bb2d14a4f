package palace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/specimen"
)

// makes is a manager whose maker copies a palace without collections.
func (h *fakeHome) makes(mk maker) *Manager {
	m := h.manager()
	if mk == nil {
		mk = func(_ context.Context, dir string) error {
			return specimen.CopyFS(os.DirFS("../testdata/palaces"), "empty", dir)
		}
	}
	m.makers = map[backend.Kind]maker{backend.Chroma: mk}
	return closing(h.t, m)
}

func TestCreateMakesAPalaceUnderItsFutureLock(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, os.Symlink(h.mkdir("real"), h.path("link")))
	asked := false
	m := h.makes(func(ctx context.Context, dir string) error {
		asked = true
		for _, path := range []string{h.path("link/a/b"), h.path("real/a/b")} {
			_, err := locks.Take(context.Background(), locks.Target{Path: path}, locks.TakeOptions{Home: h.dir})
			if !errors.As(err, new(*locks.HeldError)) {
				t.Errorf("%s is not locked: %v", path, err)
			}
		}
		return specimen.CopyFS(os.DirFS("../testdata/palaces"), "empty", dir)
	})
	p, err := m.Create(t.Context(), h.path("link/a/b"), backend.Chroma)
	must(t, err)
	if state, err := p.State(t.Context()); state != Uninitialised || err != nil || !asked {
		t.Errorf("%s, %v, want uninitialised", state, err)
	}
	info, err := os.Stat(h.path("real/a/b"))
	must(t, err)
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("the new directory has mode %o", mode)
	}
	must(t, h.stranger(p))
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := h.makes(func(context.Context, string) error { t.Error("asked to make one"); return nil })
	torn := h.mkdir("torn")
	must(t, os.Mkdir(filepath.Join(torn, "0b7c2e1a-0000-4000-8000-000000000001"), 0o700))
	for name, path := range map[string]string{
		"a palace":            h.palace("p", "fresh"),
		"vectors, no rows":    torn,
		"an empty database":   filepath.Dir(h.write("bare/chroma.sqlite3", "")),
		"a file":              h.write("file", "text"),
		"another's remainder": filepath.Dir(h.write("q/qdrant_backend.json", "{}")),
	} {
		before, err := specimen.HashTree(h.dir)
		must(t, err)
		if p, err := m.Create(t.Context(), path, backend.Chroma); err == nil {
			t.Errorf("%s: made %s", name, p.Ref().Path)
		} else {
			t.Log(err)
		}
		after, err := specimen.HashTree(h.dir)
		must(t, err)
		for _, line := range specimen.Diff(before, after) {
			t.Errorf("%s: %s", name, line)
		}
	}
	var occupied *OccupiedError
	if _, err := m.Create(t.Context(), h.path("p"), backend.Chroma); !errors.As(err, &occupied) {
		t.Errorf("%v, want an OccupiedError", err)
	}
	if _, err := m.Create(t.Context(), h.path("new"), backend.Milvus); !errors.As(err, new(*NotWritableError)) {
		t.Errorf("%v, want a NotWritableError", err)
	}
}

func TestCreateThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	broken := errors.New("broken")
	calls := 0
	m := h.makes(func(context.Context, string) error {
		if calls++; calls == 2 {
			panic("the engine broke")
		}
		return broken
	})
	h.mkdir("here")
	if _, err := m.Create(t.Context(), h.path("here/a/b"), backend.Chroma); !errors.Is(err, broken) {
		t.Error(err)
	}
	if panics(func() { m.Create(t.Context(), h.path("here/a/b"), backend.Chroma) }) == nil {
		t.Error("the panic was swallowed")
	}
	if left, err := os.ReadDir(h.path("here")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	held, err := locks.Take(t.Context(), locks.Target{Path: h.path("here/a/b")}, locks.TakeOptions{Home: h.dir})
	must(t, err)
	defer held.Release()
	if _, err := m.Create(t.Context(), h.path("here/a/b"), backend.Chroma); !errors.As(err, new(*locks.HeldError)) {
		t.Errorf("%v, want a HeldError", err)
	}
	if calls != 2 {
		t.Error("made although the palace is held")
	}
}

func TestOfTwoWhoCreateOneIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	inside, goOn := make(chan struct{}), make(chan struct{})
	calls := 0
	m := h.makes(func(_ context.Context, dir string) error {
		calls++
		close(inside)
		<-goOn
		return specimen.CopyFS(os.DirFS("../testdata/palaces"), "empty", dir)
	})
	first := make(chan error, 1)
	go func() { first <- second(m.Create(t.Context(), h.path("new"), backend.Chroma)) }()
	<-inside
	if _, err := m.Create(t.Context(), h.path("new"), backend.Chroma); !errors.As(err, new(*locks.HeldError)) {
		t.Errorf("meanwhile: %v, want a HeldError", err)
	}
	close(goOn)
	must(t, <-first)
	if _, err := m.Create(t.Context(), h.path("new"), backend.Chroma); !errors.As(err, new(*OccupiedError)) {
		t.Errorf("afterwards: %v, want an OccupiedError", err)
	}
	if calls != 1 {
		t.Errorf("made %d times", calls)
	}
}

func TestAnInterruptedCreateCanBeRepeated(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	dir := h.path("p")
	for _, kind := range []backend.Kind{backend.Chroma, backend.SQLiteExact} {
		h.mkdir("p") // all that is there when the power goes before the database's name
		if kind == backend.SQLiteExact {
			h.write("p/sqlite_exact.sqlite3", "")
		}
		p, err := m.Create(t.Context(), dir, kind)
		must(t, err)
		if p.Kind() != kind {
			t.Errorf("made a palace of %s, want %s", p.Kind(), kind)
		}
		must(t, p.Close())
		must(t, os.RemoveAll(dir))
	}
}
