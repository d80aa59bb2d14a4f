package search

import (
	"math"

	"castellan/palace/simd"
)

// The spaces of Chroma.
const (
	spaceCosine = "cosine"
	spaceL2     = "l2"
	spaceIP     = "ip"
)

// spaceOf is the space of a collection. Where it is not recorded cosine is
// taken, in which MemPalace makes its collections.
func spaceOf(s Source) string {
	switch space := s.Info().Space; space {
	case spaceL2, spaceIP:
		return space
	}
	return spaceCosine
}

// prepare copies a vector into dst as it is compared: of length 1 for cosine,
// as it is otherwise. The tiny addend is Chroma's: a vector of zeros stays one,
// at distance 1 from everything. False for a vector that cannot be compared.
func prepare(dst, v []float32, space string) bool {
	square := simd.Dot(v, v)
	if math.IsNaN(float64(square)) || math.IsInf(float64(square), 0) {
		return false
	}
	if space != spaceCosine {
		copy(dst, v)
		return true
	}
	scale := 1 / (float32(math.Sqrt(float64(square))) + 1e-30)
	for i, x := range v {
		dst[i] = x * scale
	}
	return true
}

// distances of prepared rows that lie one behind the other, in float32 as
// Chroma has them: it sees ties where they are.
func distances(dst, q, rows []float32, space string) {
	if space == spaceL2 {
		for i := range dst {
			dst[i] = simd.L2(q, rows[i*len(q):(i+1)*len(q)])
		}
		return
	}
	simd.DotBatch(dst, q, rows)
	for i, d := range dst {
		dst[i] = 1 - d
	}
}

// similarity maps a distance to 0..1 as MemPalace does: what stands beside BM25
// in the score.
func similarity(distance float64, space string) float64 {
	switch space {
	case spaceL2:
		return 1 / (1 + max(0, distance))
	case spaceIP:
		return 1 / (1 + math.Exp(min(60, distance)))
	}
	return max(0, 1-distance)
}
