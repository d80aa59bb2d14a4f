package palace

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"castellan/palace/backend"
)

// writableKinds are the engines that are really written to.
var writableKinds = []backend.Kind{backend.Chroma, backend.SQLiteExact}

func record(id string, seed int) backend.Record {
	text := "what " + id + " says"
	vector := make([]float32, 8)
	for i := range vector {
		vector[i] = float32(seed%7+i) / 8
	}
	return backend.Record{ID: id, Document: &text, Metadata: backend.Metadata{"wing": "w", "n": int64(seed)}, Embedding: vector}
}

// Make, write, close, delete, make again at the same path: the sequence whose
// fourth step failed with SQLite's 1032 when handles were merely forgotten.
func TestAPalaceIsMadeWrittenClosedAndDeletedAnyNumberOfTimes(t *testing.T) {
	t.Parallel()
	for _, kind := range writableKinds {
		h := newHome(t)
		m := closing(t, h.manager())
		dir := h.path("new/p")
		var old backend.Writer
		for round := range 6 {
			p, err := m.Create(t.Context(), dir, kind)
			must(t, err)
			w, err := p.CreateCollection(t.Context(), backend.NewCollection{Name: "mempalace_drawers"})
			must(t, err)
			if _, err := p.CreateCollection(t.Context(), backend.NewCollection{Name: "mempalace_drawers"}); !errors.As(err, new(*backend.ExistsError)) {
				t.Errorf("%s: the same name twice: %v", kind, err)
			}
			must(t, w.Upsert(t.Context(), []backend.Record{record("a", round), record("b", round)}))
			if n, err := w.Delete(t.Context(), backend.Filter{IDs: []string{"a", "c"}}); n != 1 || err != nil {
				t.Errorf("%s: deleted %d, %v", kind, n, err)
			}
			if n := rows(t, p); n != 1 {
				t.Errorf("%s: %d rows, want 1", kind, n)
			}
			must(t, p.Close())
			if left := descriptors(t, dir); len(left) > 0 {
				t.Fatalf("%s: still open after Close: %q", kind, left)
			}
			for _, w := range []backend.Writer{w, old} {
				if w == nil {
					continue
				}
				if err := w.Upsert(t.Context(), []backend.Record{record("late", 0)}); !errors.Is(err, backend.ErrClosed) {
					t.Errorf("%s: a writer kept past close: %v", kind, err)
				}
			}
			old = w
			must(t, os.RemoveAll(dir))
		}
	}
}

func TestWritersOfOnePalaceLoseNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range writableKinds {
		h := newHome(t)
		const managers, writers, times = 2, 2, 10
		made := closing(t, h.manager())
		p, err := made.Create(t.Context(), h.path("p"), kind)
		must(t, err)
		_, err = p.CreateCollection(t.Context(), backend.NewCollection{Name: "drawers"})
		must(t, err)
		var wg sync.WaitGroup
		// Two managers are two handles of one process: only the lock is
		// between them.
		for i := range managers {
			o := made.around
			m := closing(t, NewManager(Options{Home: o.home, WorkDir: o.workDir, Env: o.env, LockWait: time.Minute}))
			p := h.open(m, h.path("p"))
			for j := range writers {
				w, err := p.Writer(t.Context(), "drawers")
				must(t, err)
				wg.Go(func() {
					for n := range times {
						if err := w.Upsert(t.Context(), []backend.Record{record(fmt.Sprint(i, "-", j, "-", n), n)}); err != nil {
							t.Errorf("%s: %v", kind, err)
						}
					}
				})
			}
		}
		wg.Wait()
		if n := rows(t, p); n != managers*writers*times {
			t.Errorf("%s: %d rows, want %d", kind, n, managers*writers*times)
		}
	}
}
