package hnswlib

import (
	"math"
	"math/rand/v2"
)

// levelDraw draws the levels of elements: floor(-ln(u) / ln(M)), so that one in
// M elements of a level reaches the next one.
type levelDraw struct {
	rng  *rand.Rand
	mult float64
}

func newLevelDraw(seed uint64, m int) levelDraw {
	return levelDraw{rand.New(rand.NewPCG(seed, uint64(m))), 1 / math.Log(float64(m))}
}

// next is 53 at most, for u is at least 2^-53 and M at least 2: below maxLevels.
func (d levelDraw) next() uint8 {
	u := 1 - d.rng.Float64()
	return uint8(-math.Log(u) * d.mult)
}
