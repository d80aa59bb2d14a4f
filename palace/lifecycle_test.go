package palace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/specimen"
)

func (h *fakeHome) open(m *Manager, path string) *Palace {
	h.t.Helper()
	p, err := m.Open(h.t.Context(), backend.Ref{Path: path})
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func closing(t *testing.T, m *Manager) *Manager {
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// rows counts everything, so that every file a palace needs has been open.
func rows(t *testing.T, p *Palace) int64 {
	t.Helper()
	list, err := p.Collections(t.Context())
	must(t, err)
	var sum int64
	for _, info := range list {
		c, err := p.Collection(t.Context(), info.Name)
		must(t, err)
		n, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		if _, err := c.Get(t.Context(), backend.Query{Limit: 3, Include: backend.Documents | backend.Metadatas | backend.Embeddings}); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// descriptors counts what this process has open under dir, deleted or not.
func descriptors(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	var list []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, dir) {
			list = append(list, target)
		}
	}
	return list
}

// The sequence that ended in SQLite's error 1032, "attempt to write a readonly
// database", when handles were dropped by forgetting them (MemPalace #1067).
func TestCloseDeleteRecreateReopenWorksAnyNumberOfTimes(t *testing.T) {
	for _, sample := range []struct {
		name string
		rows int64
	}{{"healthy", 1600}, {"exact", 71}} {
		t.Run(sample.name, func(t *testing.T) {
			h := newHome(t)
			m := closing(t, h.manager())
			for range 12 {
				dir := h.palace("p", sample.name)
				p := h.open(m, dir)
				if n := rows(t, p); n != sample.rows {
					t.Fatalf("%d rows, want %d", n, sample.rows)
				}
				must(t, p.Close())
				if left := descriptors(t, dir); len(left) > 0 {
					t.Fatalf("still open after Close: %q", left)
				}
				must(t, os.RemoveAll(dir))
			}
		})
	}
}

// Without a close in between, the new directory must not be taken for the old
// one, whose inode number the file system would give away at once.
func TestAPalaceMadeAgainAtItsPathGetsAFreshHandle(t *testing.T) {
	h := newHome(t)
	m := closing(t, h.manager())
	dir := h.palace("p", "healthy")
	old := h.open(m, dir)
	c, err := old.Collection(t.Context(), "mempalace_drawers")
	must(t, err)
	for range 5 {
		must(t, os.RemoveAll(dir))
		h.palace("p", "fresh")
		var moved *MovedError
		if _, err := c.Count(t.Context(), backend.Filter{}); !errors.As(err, &moved) {
			t.Errorf("the old handle answers %v, want a MovedError", err)
		}
		if _, _, err := old.Changed(t.Context(), Stamp{}); !errors.As(err, &moved) {
			t.Errorf("Changed answers %v, want a MovedError", err)
		}
		p := h.open(m, dir)
		if p == old || rows(t, p) != 5 {
			t.Fatal("the old handle was given for the new palace")
		}
		if _, err := old.Collections(t.Context()); !errors.Is(err, backend.ErrClosed) {
			t.Errorf("the old handle is not closed: %v", err)
		}
		if left := descriptors(t, dir); strings.Contains(strings.Join(left, " "), "(deleted)") {
			t.Errorf("files of the deleted palace are still open: %q", left)
		}
		old = p
		c, err = p.Collection(t.Context(), "mempalace_drawers")
		must(t, err)
	}
}

func TestSpellingsShareOneHandle(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	dir := h.palace("d/p", "fresh")
	must(t, os.Symlink(dir, h.path("link")))
	must(t, os.Symlink(h.path("d"), h.path("up")))
	p := h.open(m, dir)
	for _, spelling := range []string{h.path("link"), h.path("up/p"), dir + "/.", dir + "/../p", "~/link"} {
		if other := h.open(m, spelling); other != p {
			t.Errorf("%s gets a handle of its own", spelling)
		}
	}
	want := []string{h.path("link"), h.path("up/p")}
	if got := p.Aliases(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("aliases %q, want %q", got, want)
	}
	must(t, p.Close())
	if again := h.open(m, h.path("link")); again == p {
		t.Error("a closed handle is given out")
	}
}

func TestALinkTurnedElsewhereLeavesThePalaceOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	a, b, link := h.palace("a", "fresh"), h.palace("b", "healthy"), h.path("link")
	must(t, os.Symlink(a, link))
	pa := h.open(m, link)
	must(t, os.Remove(link))
	must(t, os.Symlink(b, link))
	pb := h.open(m, link)
	if pb == pa || rows(t, pb) != 1600 {
		t.Error("the link's new palace is not opened")
	}
	if rows(t, pa) != 5 || h.open(m, a) != pa {
		t.Error("the palace itself is still in its place, but was closed")
	}
}

func TestARestoredDatabaseIsReadThroughTheSameHandle(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	p := h.open(m, h.palace("p", "healthy"))
	c, err := p.Collection(t.Context(), "mempalace_drawers")
	must(t, err)
	fresh := h.palace("other", "fresh")
	must(t, os.Rename(filepath.Join(fresh, "chroma.sqlite3"), h.path("p/chroma.sqlite3")))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			n, err := c.Count(t.Context(), backend.Filter{})
			if err != nil || n != 5 {
				t.Errorf("%d, %v, want the 5 rows of the new file", n, err)
			}
		})
	}
	wg.Wait()
}

func TestUseAfterCloseFailsAtOnceAndForEver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	for _, sample := range []string{"fresh", "exact"} {
		p := h.open(m, h.palace(sample, sample))
		c, err := p.Collection(t.Context(), "mempalace_drawers")
		must(t, err)
		must(t, p.Close())
		must(t, p.Close())
		for range 2 {
			for name, err := range map[string]error{
				"Collections": second(p.Collections(t.Context())),
				"Collection":  second(p.Collection(t.Context(), "mempalace_drawers")),
				"State":       second(p.State(t.Context())),
				"With":        p.With(t.Context(), func(backend.Backend) error { t.Error("ran"); return nil }),
				"Changed":     func() error { _, _, err := p.Changed(t.Context(), Stamp{}); return err }(),
				"Count":       second(c.Count(t.Context(), backend.Filter{})),
				"Get":         second(c.Get(t.Context(), backend.Query{})),
				"Facets":      second(c.Facets(t.Context(), backend.Filter{}, "wing")),
			} {
				if !errors.Is(err, backend.ErrClosed) {
					t.Errorf("%s: %v, want ErrClosed", name, err)
				}
			}
		}
		if p.Ref().Path == "" || p.Kind() == "" || len(p.LockPaths()) == 0 || c.Info().Name == "" {
			t.Error("what was known is forgotten")
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestClosedManagerOpensNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := h.manager()
	dir := h.palace("p", "fresh")
	p := h.open(m, dir)
	must(t, m.Close())
	must(t, m.Close())
	if _, err := p.Collections(t.Context()); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("its palace is still open: %v", err)
	}
	if _, err := m.Open(t.Context(), backend.Ref{Path: dir}); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("Open: %v", err)
	}
}

func TestWhatCannotBeOpenedSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	h.mkdir("empty")
	h.write("qdrant/qdrant_backend.json", "{}")
	h.write("garbage/chroma.sqlite3", "garbage")
	h.palace("lost", "healthy")
	must(t, os.Remove(h.path("lost/chroma.sqlite3")))
	check := func(ref backend.Ref, target any) {
		t.Helper()
		if p, err := m.Open(t.Context(), ref); p != nil || !errors.As(err, target) {
			t.Errorf("%s: %v, want %T", ref.Path, err, target)
		}
	}
	check(backend.Ref{Path: h.path("missing")}, new(*NotFoundError))
	check(backend.Ref{Path: h.path("empty")}, new(*EmptyError))
	check(backend.Ref{Path: h.path("qdrant")}, new(*backend.UnsupportedBackendError))
	check(backend.Ref{Path: h.path("garbage")}, new(*NotADatabaseError))
	check(backend.Ref{Path: h.path("lost")}, new(*EmptyDatabaseError))
	check(backend.Ref{Path: "http://127.0.0.1:8801", Kind: backend.ChromaHTTP}, new(*backend.UnsupportedBackendError))
	if left := descriptors(t, h.dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
}

func TestOfTwoDatabasesTheOneAskedForIsOpened(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := h.palace("p", "fresh")
	exact := h.palace("q", "exact")
	must(t, os.Rename(filepath.Join(exact, "sqlite_exact.sqlite3"), filepath.Join(dir, "sqlite_exact.sqlite3")))
	for _, want := range []backend.Kind{backend.Chroma, backend.SQLiteExact} {
		m := h.manager()
		p, err := m.Open(t.Context(), backend.Ref{Path: dir, Kind: want})
		must(t, err)
		if p.Kind() != want {
			t.Errorf("%s was opened, want %s", p.Kind(), want)
		}
		must(t, m.Close())
	}
}

func TestUninitialisedAndUsedPalacesDiffer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	for sample, want := range map[string]State{"empty": Uninitialised, "fresh": OK} {
		if got, err := h.open(m, h.palace(sample, sample)).State(t.Context()); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", sample, got, err, want)
		}
	}
}

func TestOpeningAndReadingLeaveEveryByteAndTime(t *testing.T) {
	h := newHome(t)
	for _, sample := range []string{"empty", "fresh", "healthy", "synced", "exact"} {
		h.palace(sample, sample)
	}
	before, err := specimen.HashTree(h.dir)
	must(t, err)
	m := h.manager()
	for _, sample := range []string{"empty", "fresh", "healthy", "synced", "exact"} {
		p := h.open(m, h.path(sample))
		rows(t, p)
		m.Examine(t.Context(), h.path(sample))
		if _, _, err := p.Changed(t.Context(), Stamp{}); err != nil {
			t.Error(err)
		}
	}
	must(t, m.Close())
	after, err := specimen.HashTree(h.dir)
	must(t, err)
	for _, line := range specimen.Diff(before, after) {
		t.Error(line)
	}
}

func TestOpenAndCloseFromEverySide(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := h.manager()
	dir := h.palace("p", "fresh")
	must(t, os.Symlink(dir, h.path("link")))
	var wg sync.WaitGroup
	for i := range 8 {
		path := []string{dir, h.path("link")}[i%2]
		wg.Go(func() {
			for n := range 15 {
				p, err := m.Open(t.Context(), backend.Ref{Path: path})
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				if list, err := p.Collections(t.Context()); err == nil && len(list) != 1 || err != nil && !errors.Is(err, backend.ErrClosed) {
					t.Errorf("collections: %v, %v", list, err)
				}
				if (n+i)%3 == 0 {
					if err := p.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			}
		})
	}
	wg.Wait()
	must(t, m.Close())
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("still open: %q", left)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Open(ctx, backend.Ref{Path: h.palace("p", "fresh")}); !errors.Is(err, context.Canceled) {
		t.Error(fmt.Sprint(err))
	}
}
