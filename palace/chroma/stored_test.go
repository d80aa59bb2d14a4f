package chroma

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"castellan/palace/backend"
)

// What was written after the last flush counts, and what it replaced or deleted
// in the index does not.
func TestTheStoredIndexKnowsWhatTheQueueChanged(t *testing.T) {
	t.Parallel()
	dir := sample(t, "synced")
	p := open(t, dir)
	w := writer(t, p, "mempalace_drawers", true)
	all := walk(t, w, backend.Query{})
	changed, gone := all[0].ID, all[1].ID
	before := storedIndex(t, p)
	if !holds(before, changed) || !holds(before, gone) {
		t.Fatal("the sample's first drawers are not in its index")
	}
	vector := make([]float32, *w.Info().Dimension)
	vector[0] = 1
	must(t, w.Upsert(t.Context(), []backend.Record{{ID: changed, Embedding: vector}, {ID: "fresh", Embedding: vector}}))
	if n, err := w.Delete(t.Context(), backend.Filter{IDs: []string{gone}}); err != nil || n != 1 {
		t.Fatalf("%d deleted, %v", n, err)
	}
	after := storedIndex(t, p)
	for _, id := range []string{changed, gone} {
		if holds(after, id) {
			t.Errorf("%s is found by its old vector", id)
		}
	}
	var queued []string
	for _, q := range after.Queued {
		queued = append(queued, q.ID)
		if (q.ID == changed || q.ID == "fresh") && !slices.Equal(q.Vector, vector) {
			t.Errorf("%s has the vector %v", q.ID, q.Vector[:3])
		}
	}
	for _, id := range []string{changed, "fresh"} {
		if !slices.Contains(queued, id) {
			t.Errorf("%s is not among the queued", id)
		}
	}
	if slices.Contains(queued, gone) || len(after.Queued) != len(before.Queued)+2 {
		t.Errorf("%d were queued and now %d", len(before.Queued), len(after.Queued))
	}
	if after.Graph.Len() != before.Graph.Len() {
		t.Error("the graph is another one")
	}
}

func storedIndex(t *testing.T, p *Palace) *StoredIndex {
	t.Helper()
	c, err := p.collection(t.Context(), "mempalace_drawers")
	must(t, err)
	s, err := c.StoredIndex(t.Context(), 0)
	must(t, err)
	return s
}

func holds(s *StoredIndex, id string) bool {
	for _, known := range s.IDs {
		if known == id {
			return true
		}
	}
	return false
}

func TestTextMatchesComeFromTheIndexOrNotAtAll(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "healthy"))
	c, err := p.collection(t.Context(), "mempalace_drawers")
	must(t, err)
	count := func(f backend.Filter, terms ...string) (n int, err error) {
		last := int64(-1)
		err = c.EachTextMatch(t.Context(), terms, f, func(id string, number int64, text string) bool {
			if id == "" || number == last || !strings.Contains(strings.ToLower(text), strings.ToLower(terms[0])) && len(terms) == 1 {
				t.Errorf("%q: %s, %d: %q", terms, id, number, text)
			}
			last = number
			n++
			return true
		})
		return n, err
	}
	want := func(f backend.Filter) int {
		n := 0
		for _, r := range walk(t, c, backend.Query{Filter: f, Include: backend.Documents}) {
			if r.Document != nil && strings.Contains(strings.ToLower(*r.Document), "mutex") {
				n++
			}
		}
		return n
	}
	wing := backend.Filter{Where: backend.Equal("wing", "wing_code")}
	for _, f := range []backend.Filter{{}, wing, {IDs: []string{"nobody"}}} {
		got, err := count(f, "MUTEX")
		if err != nil || got != want(f) {
			t.Errorf("%+v: %d matches, %v; %d documents hold it", f, got, err, want(f))
		}
	}
	// Quotes, operators and a great many terms are terms.
	many := append(slices.Repeat([]string{"copper"}, 1000), "NEAR")
	for _, terms := range [][]string{{`"quo`}, {"copper", `" OR *`, "NEAR(", "AND"}, many} {
		if n, err := count(backend.Filter{}, terms...); err != nil || n == 0 {
			t.Errorf("%d terms from %q: %d matches, %v", len(terms), terms[0], n, err)
		}
	}

	// What waits in the queue is not in the index.
	w := writer(t, p, "mempalace_drawers", true)
	must(t, w.Add(t.Context(), []backend.Record{{ID: "nul", Document: ptr("mutex\x00"), Embedding: make([]float32, *w.Info().Dimension)}}))
	if _, err := count(backend.Filter{}, "mutex"); !errors.Is(err, ErrNoFullText) {
		t.Errorf("with a write waiting: %v", err)
	}
}
