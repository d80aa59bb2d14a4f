package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"castellan/palace/search/codergraph"
	"castellan/palace/simd"
)

// A graph in memory is believed only after it was measured: with so many
// questions it must find at least that share of the ten nearest.
const (
	testQuestions = 100
	testNearest   = 10
	wantedRecall  = 0.95
	// rerank is how many a graph is asked for at least, to be compared exactly.
	rerank = 200
)

// RecallError says that a graph was refused because it misses too much.
type RecallError struct {
	Recall    float64
	Questions int
}

func (e *RecallError) Error() string {
	return fmt.Sprintf("measured with %d questions it finds %.0f %% of the nearest drawers, and %.0f %% are needed",
		e.Questions, 100*e.Recall, 100*wantedRecall)
}

// GraphSearch is a graph of the library coder/hnsw over loaded vectors.
type GraphSearch struct {
	vectors *Vectors
	graph   *codergraph.Graph
	rows    []int // place in vectors of each vector of the graph
	// Recall is what it measured of itself.
	Recall float64
}

// buildGraph builds without measuring. Vectors of zeros have no place in it.
func buildGraph(ctx context.Context, v *Vectors) (*GraphSearch, error) {
	g := &GraphSearch{vectors: v}
	rows := make([]float32, 0, len(v.rows))
	for i := range v.ids {
		if r := v.row(i); simd.Dot(r, r) > 0 {
			g.rows = append(g.rows, i)
			rows = append(rows, r...)
		}
	}
	if len(g.rows) == 0 {
		return nil, ErrNoVectors
	}
	var err error
	g.graph, err = codergraph.Build(ctx, rows, v.dim, v.space == spaceL2)
	return g, err
}

// NewGraphSearch builds a graph and measures it against the exact scan; it fails
// with a *RecallError when it finds too little.
func NewGraphSearch(ctx context.Context, v *Vectors) (*GraphSearch, error) {
	g, err := buildGraph(ctx, v)
	if err != nil {
		return nil, err
	}
	t := newTrial(v, testQuestions, testNearest)
	if err := t.truth(ctx, v); err != nil {
		return nil, err
	}
	m, err := t.measure(ctx, g)
	if err != nil {
		return nil, err
	}
	if g.Recall = m.Recall; g.Recall < wantedRecall {
		return nil, &RecallError{g.Recall, len(t.questions)}
	}
	return g, nil
}

// Name is Graph.
func (*GraphSearch) Name() string { return Graph }

// Search asks for many and compares those exactly.
func (g *GraphSearch) Search(ctx context.Context, q Query) (Found, error) {
	found := Found{Considered: len(g.rows), Unreached: g.vectors.unreached}
	asked, err := askable(g.vectors.source, q.Vector, g.vectors.space)
	if err != nil {
		return found, err
	}
	list, err := g.graph.Search(asked, max(rerank, 2*q.K))
	if err != nil {
		return found, err
	}
	best := nearest{k: q.K}
	slices.Sort(list)
	var d [1]float32
	for _, i := range slices.Compact(list) {
		at := g.rows[i]
		if id := g.vectors.ids[at]; id != q.Except {
			distances(d[:], asked, g.vectors.row(at), g.vectors.space)
			best.offer(near{d[0], at, id})
		}
	}
	found.Hits = best.hits()
	found.Note = fmt.Sprintf("coder/hnsw found %.1f %% of the nearest when it was measured", 100*g.Recall)
	return found, ctx.Err()
}

// jitter is a vector near to one that is stored: a question that has an answer
// without being the answer.
func jitter(v []float32, rng *rand.Rand) []float32 {
	scale := 0.3 * float64(simd.Norm(v)) / math.Sqrt(float64(len(v)))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x + float32(rng.NormFloat64()*scale)
	}
	return out
}
