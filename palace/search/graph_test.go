//go:build !windows

package search

import (
	"errors"
	"math/rand/v2"
	"testing"

	"castellan/palace/backend"
)

func TestAGraphIsBelievedOnlyWhenItMeasuresWell(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	// As many as it is asked for at least: it has no choice but to find them.
	v := load(t, collection("cosine", clusters(rng, 150, 16, 10)...))
	g, err := NewGraphSearch(t.Context(), v)
	must(t, err)
	if g.Recall < wantedRecall {
		t.Errorf("taken with a recall of %g", g.Recall)
	}
	q := Query{Vector: random(rng, 1, 16)[0], K: 12, Except: "a3"}
	got, err := g.Search(t.Context(), q)
	must(t, err)
	want, err := v.Search(t.Context(), q)
	must(t, err)
	if shared(got.Hits, want.Hits) < 11 {
		t.Errorf("found %v, exactly %v", ids(got.Hits), ids(want.Hits))
	}
}

// Version 0.6.1 finds few of many vectors without order. When a version does
// better this test is the one that tells, and the gate has opened by itself.
func TestAGraphThatMissesTooMuchIsRefusedWithTheFigure(t *testing.T) {
	t.Parallel()
	v := load(t, collection("cosine", random(rand.New(rand.NewPCG(10, 10)), 1500, 64)...))
	g, err := NewGraphSearch(t.Context(), v)
	var recall *RecallError
	if !errors.As(err, &recall) || recall.Recall >= wantedRecall || recall.Questions < 100 {
		t.Errorf("got %v, %v", g, err)
	}
}

func TestVectorsOfZerosAreLeftOutOfAGraph(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 11))
	list := random(rng, 120, 8)
	list[5] = make([]float32, 8)
	g, err := buildGraph(t.Context(), load(t, collection("cosine", list...)))
	must(t, err)
	if len(g.rows) != 119 {
		t.Errorf("%d vectors are in the graph", len(g.rows))
	}
	if _, err := buildGraph(t.Context(), load(t, collection("cosine", make([]float32, 8)))); !errors.Is(err, ErrNoVectors) {
		t.Errorf("only zeros give %v", err)
	}
}

func load(t *testing.T, m *memory) *Vectors {
	t.Helper()
	v, err := LoadVectors(t.Context(), m, backend.Filter{}, 0)
	must(t, err)
	return v
}
