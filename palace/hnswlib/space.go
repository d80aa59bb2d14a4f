package hnswlib

import (
	"fmt"

	"castellan/palace/simd"
)

// Space is the measure of a collection. It is not in the files: Chroma keeps it
// in its database.
type Space uint8

// The spaces of Chroma, and the distances it answers with.
const (
	L2     Space = iota // the square of the Euclidean distance
	Cosine              // 1 - the dot product of the unit vectors
	IP                  // 1 - the dot product
)

var spaceNames = [...]string{L2: "l2", Cosine: "cosine", IP: "ip"}

func (s Space) String() string {
	if int(s) < len(spaceNames) {
		return spaceNames[s]
	}
	return fmt.Sprintf("space %d", uint8(s))
}

// ParseSpace reads a space's name as Chroma writes it.
func ParseSpace(name string) (Space, error) {
	for s, n := range spaceNames {
		if n == name {
			return Space(s), nil
		}
	}
	return 0, fmt.Errorf("%q is no space of Chroma: l2, cosine or ip", name)
}

// distance measures two vectors as they stand in an index of this space, where
// those of cosine are unit vectors. It is symmetric to the last bit, so a
// distance may be kept from either side.
func (s Space) distance(a, b []float32) float32 {
	if s == L2 {
		return simd.L2(a, b)
	}
	return 1 - simd.Dot(a, b)
}

// normalize writes the unit vector of v into dst and returns the norm of v: in
// float32 and with the tiny addition of Chroma's fork, so that a vector of zeros
// stays one.
func normalize(dst, v []float32) float32 {
	norm := simd.Norm(v)
	scale := 1 / (norm + 1e-30)
	for i, x := range v {
		dst[i] = x * scale
	}
	return norm
}

// finite reports whether v has neither NaN nor infinities, and a square sum
// that float32 can hold: one such vector unsettles every order it is part of.
func finite(v []float32) bool {
	sum := simd.Dot(v, v)
	return sum-sum == 0
}
