//go:build !windows

package codergraph

import (
	"context"
	"fmt"
	"math/rand"

	"castellan/palace/simd"

	"github.com/coder/hnsw"
)

// What gives this version its best recall.
const (
	neighbours = 64
	efSearch   = 400
)

// Graph is a graph over the vectors it was built from. Searching changes
// nothing, so that several goroutines may.
type Graph struct {
	g   *hnsw.Graph[int]
	dim int
}

// Available tells whether the library exists on this system.
const Available = true

// Build makes a graph of the vectors of dim floats that stand one behind the
// other in rows; it keeps rows, which must not change any more. The vectors
// must be finite and none may be zero. l2 compares by squared distance, and
// otherwise by the dot product. The same rows give the same graph.
func Build(ctx context.Context, rows []float32, dim int, l2 bool) (g *Graph, err error) {
	defer caught(&err)
	g = &Graph{dim: dim, g: &hnsw.Graph[int]{
		M: neighbours, Ml: 0.25, EfSearch: efSearch, Rng: rand.New(rand.NewSource(1)),
		Distance: func(a, b []float32) float32 { return 1 - simd.Dot(a, b) },
	}}
	if l2 {
		g.g.Distance = simd.L2
	}
	for i := range len(rows) / dim {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.g.Add(hnsw.MakeNode(i, rows[i*dim:(i+1)*dim:(i+1)*dim]))
	}
	return g, nil
}

// Search gives the places in rows of up to k vectors near q, in no order.
func (g *Graph) Search(q []float32, k int) (list []int, err error) {
	defer caught(&err)
	for _, n := range g.g.Search(q, k) {
		list = append(list, n.Key)
	}
	return list, nil
}

// caught turns a panic of the library into an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("coder/hnsw failed: %v", p)
	}
}
