package specimen

import (
	"math"
	"math/rand/v2"
)

// fanout is how many neighbours share a cluster, and how many clusters share
// the next larger one. It equals hnswlib's M, which makes the tree of clusters
// the graph of the index too (see graph.go).
const fanout = 16

// vectors makes unit vectors in clusters of clusters: the vector of row i is
// the normalised sum of one random direction for each of i, i/16, i/256, ...,
// each with twice the variance of the one before, so that a larger cluster is
// never mistaken for another because of what differs inside it.
// Rows next to each other are alike, as chunks of one file are, and who is
// whose neighbour is known without comparing anything.
type vectors struct {
	seed   uint64
	levels int
	sums   [][]float64 // sums[l]: the directions of levels l and above
	at     []int       // the cluster that sums[l] is of; -1 at first
}

func newVectors(seed uint64, dimension, rows int) *vectors {
	v := &vectors{seed: seed, levels: 1}
	for n := 1; n < rows; n *= fanout {
		v.levels++
	}
	for range v.levels + 1 { // the last one stays zero
		v.sums = append(v.sums, make([]float64, dimension))
		v.at = append(v.at, -1)
	}
	return v
}

// row fills dst with the vector of row i. Rows are asked for in ascending
// order, or at a price.
func (v *vectors) row(i int, dst []float32) {
	for l := v.levels - 1; l >= 0; l-- {
		cluster := i >> (4 * l)
		if v.at[l] == cluster && l > 0 {
			continue
		}
		v.at[l] = cluster
		if l > 0 {
			v.at[l-1] = -1
		}
		r := rand.New(rand.NewPCG(v.seed, uint64(l)<<56|uint64(cluster)))
		scale := math.Pow(2, float64(l)/2)
		for d := range v.sums[l] {
			v.sums[l][d] = v.sums[l+1][d] + float64(scale*r.NormFloat64())
		}
	}
	var square float64
	for _, x := range v.sums[0] {
		square += float64(x * x) // the conversion forbids fusing, which would differ by machine
	}
	norm := math.Sqrt(square)
	for d, x := range v.sums[0] {
		dst[d] = float32(x / norm)
	}
}

// norm is the length of v as Chroma computes it, in single precision.
func norm(v []float32) float32 {
	var square float32
	for _, x := range v {
		square += float32(x * x)
	}
	return float32(math.Sqrt(float64(square)))
}
