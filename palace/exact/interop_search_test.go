//go:build interop

package exact

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"castellan/palace/backend"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// sameNearest: MemPalace sums in float32, in an order that is its library's, so
// neighbours closer than rounding may change places, and nothing else.
func sameNearest(t *testing.T, c searcher, v []float32, k int, f backend.Filter, a answer) {
	t.Helper()
	const rounding = 1e-6
	want := answered[struct {
		IDs       []string  `json:"ids"`
		Distances []float64 `json:"distances"`
	}](t, a)
	got, err := c.Search(t.Context(), v, k, f, backend.Documents)
	must(t, err)
	if len(got) != len(want.IDs) {
		t.Errorf("%d nearest, MemPalace has %d", len(got), len(want.IDs))
		return
	}
	for i, h := range got {
		if math.Abs(h.Distance-want.Distances[i]) > rounding {
			t.Errorf("hit %d has distance %g, MemPalace %g", i, h.Distance, want.Distances[i])
		}
		if at := slices.Index(want.IDs, h.ID); at >= 0 && math.Abs(h.Distance-want.Distances[at]) > rounding {
			t.Errorf("%s has distance %g, MemPalace %g", h.ID, h.Distance, want.Distances[at])
		}
	}
}

func sameWords(t *testing.T, c searcher, words string, k int, where backend.Where, a answer) {
	t.Helper()
	want := answered[struct {
		IDs    []string  `json:"ids"`
		Scores []float64 `json:"scores"`
	}](t, a)
	got, err := c.LexicalSearch(t.Context(), words, k, where)
	must(t, err)
	if len(got) != len(want.IDs) {
		t.Errorf("%q: %d hits, MemPalace has %d", words, len(got), len(want.IDs))
		return
	}
	for i, h := range got {
		if h.ID != want.IDs[i] || math.Abs(h.Score-want.Scores[i]) > 1e-9 {
			t.Errorf("%q: hit %d is %s with %g, MemPalace has %s with %g", words, i, h.ID, h.Score, want.IDs[i], want.Scores[i])
		}
	}
}

func TestWordsAreFoundTheSameWithoutAFullTextIndex(t *testing.T) {
	t.Parallel()
	r := random{rand.New(rand.NewPCG(2, 6))}
	w := create(t, filepath.Join(t.TempDir(), "palace"))
	for range 20 {
		must(t, w.Upsert(t.Context(), r.records()))
	}
	must(t, w.to.Close())
	dir := change(t, w.to.dir, "DROP TABLE docs_fts", "UPDATE meta SET value = '0' WHERE key = 'fts5_available'")
	c := drawers(t, open(t, dir)).(*Collection)
	var steps []step
	var texts []string
	for range 30 {
		texts = append(texts, r.text())
		steps = append(steps, step{Palace: dir, Collection: c.info.Name, ReadOnly: true, Op: "lexical_search",
			Args: map[string]any{"query": texts[len(texts)-1], "n_results": 7}})
	}
	for i, a := range mempalace(t, steps...) {
		sameWords(t, c, texts[i], 7, nil, a)
	}
}

func TestTheFirstWriteFillsAMissingFullTextIndexForMemPalaceToo(t *testing.T) {
	t.Parallel()
	dir := change(t, sample(t), "DROP TABLE docs_fts", "UPDATE meta SET value = '0' WHERE key = 'fts5_available'")
	w := writer(t, dir, Writing{})
	must(t, w.SetEmbedder(t.Context(), "minilm"))
	sound(t, dir)
	steps := []step{{Palace: dir, Collection: w.info.Name, Op: "lexical_search", Args: map[string]any{"query": "diary notes", "n_results": 10}}}
	a := mempalace(t, steps...)[0]
	if len(answered[struct{ IDs []string }](t, a).IDs) != 10 {
		t.Errorf("%s", a.Answer)
	}
	sameWords(t, w, "diary notes", 10, nil, a)
}

type searcher interface {
	Search(ctx context.Context, vector []float32, k int, f backend.Filter, include backend.Include) ([]Hit, error)
	LexicalSearch(ctx context.Context, words string, k int, where backend.Where) ([]LexicalHit, error)
}
