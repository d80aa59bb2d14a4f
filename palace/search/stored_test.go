package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/hnswlib"
)

// indexed builds an index of the first n records of a memory; labels are their
// places and one.
func indexed(t *testing.T, m *memory, n int) StoredParts {
	t.Helper()
	space, err := hnswlib.ParseSpace(m.info.Space)
	must(t, err)
	b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Space: space, Dimension: *m.info.Dimension}, n)
	must(t, err)
	parts := StoredParts{IDs: map[uint64]string{}}
	for i, r := range m.records[:n] {
		must(t, b.Add(uint64(i+1), r.Embedding))
		parts.IDs[uint64(i+1)] = r.ID
	}
	parts.Graph, err = b.Build(t.Context())
	must(t, err)
	return parts
}

func TestTheStoredIndexAndTheQueueAnswerTogether(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, space := range []string{"cosine", "l2", "ip"} {
		m := collection(space, random(rng, 300, 16)...)
		for i := range m.records {
			m.records[i].Metadata = backend.Metadata{"odd": i%2 == 1}
		}
		parts := indexed(t, m, 200)
		// The queue has the last hundred, and a newer vector for one that is in
		// the index.
		delete(parts.IDs, 8)
		m.records[7].Embedding = random(rng, 1, 16)[0]
		for _, i := range append([]int{7}, seq(200, 300)...) {
			parts.QueuedIDs, parts.Queued = append(parts.QueuedIDs, m.records[i].ID), append(parts.Queued, m.records[i].Embedding)
		}
		s, err := NewStoredSearch(t.Context(), m, parts)
		must(t, err)
		exact := NewExactScan(m)
		for _, f := range []backend.Filter{{}, {Where: backend.Equal("odd", true)}} {
			for n, q := range append(random(rng, 10, 16), m.records[7].Embedding, m.records[250].Embedding) {
				ask := Query{Vector: q, K: 10, Filter: f, Except: m.records[9].ID}
				got, err := s.Search(t.Context(), ask)
				must(t, err)
				want, err := exact.Search(t.Context(), ask)
				must(t, err)
				if got.Considered != 300 || got.Unreached != 0 {
					t.Errorf("%s: %d considered, %d unreached", space, got.Considered, got.Unreached)
				}
				// With 200 elements and ef 100 the graph has what is nearest, but
				// for the inner product, in which it is no metric.
				if common := shared(got.Hits, want.Hits); common < 10 && space != "ip" || common < 7 {
					t.Errorf("%s, question %d: %d of 10 are the nearest: %v, exactly %v", space, n, common, ids(got.Hits), ids(want.Hits))
				}
			}
		}
	}
}

func seq(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

func shared(a, b []Hit) (n int) {
	for _, id := range ids(a) {
		if slices.Contains(ids(b), id) {
			n++
		}
	}
	return n
}

// What SQLite has no more must not be found, and what no vector reaches is told.
func TestTheStoredIndexKnowsWhatItLacks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	m := collection("cosine", random(rng, 60, 8)...)
	parts := indexed(t, m, 50)
	gone := m.records[3]
	m.records = append(m.records[:3], m.records[4:]...)
	s, err := NewStoredSearch(t.Context(), m, parts)
	must(t, err)
	found, err := s.Search(t.Context(), Query{Vector: gone.Embedding, K: 100})
	must(t, err)
	if found.Considered != 49 || found.Unreached != 10 || len(found.Hits) != 49 || slices.Contains(ids(found.Hits), gone.ID) {
		t.Errorf("%d considered, %d unreached, %d found: %v", found.Considered, found.Unreached, len(found.Hits), ids(found.Hits))
	}
	if _, err := NewStoredSearch(t.Context(), m, StoredParts{Graph: parts.Graph}); err == nil {
		t.Error("an index without ids is taken")
	}
	shape := s.Shape()
	if shape.Elements != 50 || shape.Levels[0] != 50 || shape.MostDegree != 32 || shape.MinDegree < 1 || shape.MeanDegree > 32 || shape.Unreachable != 0 {
		t.Errorf("shape %+v", shape)
	}
}

// clusters are vectors as texts give them: around centers.
func clusters(rng *rand.Rand, n, dim, centers int) [][]float32 {
	at := random(rng, centers, dim)
	list := make([][]float32, n)
	for i := range list {
		list[i] = make([]float32, dim)
		for j := range list[i] {
			list[i][j] = at[i%centers][j] + float32(rng.NormFloat64())
		}
	}
	return list
}

func TestMeasureTellsHowGoodEachEngineIs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	m := collection("cosine", clusters(rng, 400, 24, 20)...)
	parts := indexed(t, m, 400)
	o := Options{Engines: map[string]func(context.Context, backend.Filter) (Engine, error){Stored: func(ctx context.Context, _ backend.Filter) (Engine, error) { return NewStoredSearch(ctx, m, parts) }}}
	var done []string
	q, err := New(m, o).Measure(t.Context(), func(part string) { done = append(done, part) })
	must(t, err)
	if !slices.Equal(done, []string{"vectors", Exact, Stored, Graph}) {
		t.Errorf("done: %q", done)
	}
	if q.Drawers != 400 || q.Loaded != 400 || q.Dimension != 24 || len(q.Engines) != 3 || q.Index == nil {
		t.Fatalf("%+v", q)
	}
	for i, name := range []string{Exact, Stored, Graph} {
		e := q.Engines[i]
		if e.Name != name || e.Questions != testQuestions || e.Vectors != 400 {
			t.Errorf("%+v", e)
		}
	}
	if q.Engines[0].Recall != 1 || q.Engines[1].Recall < 0.95 || q.Engines[1].Refused != "" {
		t.Errorf("%+v", q.Engines)
	}
	if g := q.Engines[2]; (g.Recall < wantedRecall) != (g.Refused != "") {
		t.Errorf("the graph finds %g and is refused by %q", g.Recall, g.Refused)
	}

	q, err = New(m, Options{}).Measure(t.Context(), nil)
	must(t, err)
	if q.Index != nil || q.Engines[1].Refused != "this kind of palace has none" {
		t.Errorf("%+v", q.Engines[1])
	}
}

func TestTheTruthIsTheSameFromMemoryAndFromAWalk(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	m := collection("l2", random(rng, 90, 7)...)
	v, err := LoadVectors(t.Context(), m, backend.Filter{}, 0)
	must(t, err)
	a, b := newTrial(v, 12, 5), newTrial(v, 12, 5)
	must(t, a.truth(t.Context(), v))
	must(t, b.truthOf(t.Context(), m))
	if fmt.Sprint(a.right, a.last) != fmt.Sprint(b.right, b.last) {
		t.Errorf("%v\n%v", a.right, b.right)
	}
}

func TestALoadStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	m := collection("cosine", random(rand.New(rand.NewPCG(8, 8)), 30, 4)...)
	v, err := LoadVectors(t.Context(), m, backend.Filter{}, 10)
	must(t, err)
	if v.Len() != 10 || !v.truncated || m.asked > 3 {
		t.Errorf("%d loaded in %d questions", v.Len(), m.asked)
	}
	if got := v.spread(4); !slices.Equal(got.ids, []string{"a0", "a2", "a5", "a7"}) {
		t.Errorf("spread over %v", got.ids)
	}
}
