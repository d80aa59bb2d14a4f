package search

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"castellan/palace/backend"
)

// Weights say how much the similarity of the vectors and BM25 count.
type Weights struct{ Vector, BM25 float64 }

// DefaultWeights are MemPalace's.
var DefaultWeights = Weights{Vector: 0.6, BM25: 0.4}

// rank orders candidates by similarity and BM25 together. BM25 is computed over
// the candidates and divided by the largest, so that both go from 0 to 1. The
// distance is taken to four digits, as MemPalace ranks it; of equal scores the
// one authored later comes first.
func rank(hits []Hit, words, space string, w Weights) {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.Text
	}
	scores := bm25(words, texts)
	best := 0.0
	for _, s := range scores {
		best = max(best, s)
	}
	for i := range hits {
		h := &hits[i]
		h.BM25 = &scores[i]
		normal := 0.0
		if best > 0 {
			normal = scores[i] / best
		}
		near := 0.0
		if h.Distance != nil {
			near = similarity(fourDigits(*h.Distance), space)
		}
		h.Score = w.Vector*near + w.BM25*normal
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(descending(a.Score, b.Score), cmp.Compare(authored(b.Metadata), authored(a.Metadata)))
	})
}

func descending(a, b float64) int { return cmp.Compare(b, a) }

// fourDigits rounds as Python does: the decimal nearest to the float, the even
// one of two.
func fourDigits(d float64) float64 {
	if math.IsNaN(d) || math.IsInf(d, 0) {
		return d
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(d, 'f', 4, 64), 64)
	if err != nil {
		return d
	}
	return r
}

// authored is when a drawer's text was written; the time of filing stands in.
// Times are ISO 8601, which sorts as text.
func authored(m backend.Metadata) string {
	for _, key := range []string{"authored_at", "filed_at"} {
		if v, ok := m[key]; ok {
			return backend.Text(v)
		}
	}
	return "unknown"
}
