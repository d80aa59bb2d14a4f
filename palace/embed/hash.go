package embed

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// hashSize is not the 384 of the models on purpose: a mix of both is then
// refused for its size wherever it is tried.
const hashSize = 256

// Hashing makes vectors of the words of a text and knows nothing of their
// meaning: each word and each pair of words that follow each other adds 1 or -1
// at a place that its hash says. It never stands in for a model; whoever wants
// it names it.
type Hashing struct{}

// NewHash is the embedder called Hash.
func NewHash() Hashing { return Hashing{} }

// Identity is nonsemantic-hash-v1.
func (Hashing) Identity() string { return Hash }

// EmbedQuery makes a vector of length 1, or of zeros for a text without words.
func (Hashing) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, hashSize)
	before := ""
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		count(v, word)
		if before != "" {
			count(v, before+" "+word)
		}
		before = word
	}
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square > 0 {
		by := 1 / math.Sqrt(square)
		for i := range v {
			v[i] = float32(float64(v[i]) * by)
		}
	}
	return v, nil
}

// count adds a feature: the low bits of its FNV-1a hash are the place, the
// highest the sign.
func count(v []float32, feature string) {
	h := fnv.New64a()
	h.Write([]byte(feature)) // never fails
	sum := h.Sum64()
	one := float32(1)
	if sum>>63 == 1 {
		one = -1
	}
	v[sum%hashSize] += one
}
