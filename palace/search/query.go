package search

import (
	"context"
	"errors"
	"fmt"

	"castellan/palace/backend"
)

// Source is a collection as a search sees it; every backend.Collection is one.
type Source interface {
	Info() backend.CollectionInfo
	Count(ctx context.Context, f backend.Filter) (int64, error)
	Get(ctx context.Context, q backend.Query) (backend.Page, error)
}

// Embedder turns the words of a question into a vector. Vectors of different
// embedders have nothing to do with each other, even where their size is the
// same: Identity is what a collection records of who made its vectors.
type Embedder interface {
	Identity() string
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Query is what an engine is asked.
type Query struct {
	// Vector is what hits shall be near to; engines that read words ignore it.
	Vector []float32
	// Words is what keyword search looks for.
	Words string
	// Filter narrows the drawers considered.
	Filter backend.Filter
	// K is how many hits are wanted.
	K int
	// Except is an id that is not reported.
	Except string
}

// Hit is one drawer that was found. Distance is nil where no vector was
// compared, BM25 where no words were.
type Hit struct {
	backend.Record
	// Score orders the hits; from 0 to 1, larger is better.
	Score float64
	// Distance is in the space of the collection: smaller is nearer.
	Distance *float64
	BM25     *float64
	// Text is the passage that was ranked: the document, or for a hit that a
	// closet pointed to the best pieces of its source.
	Text string
	// AlsoIn are drawers of other sources with the very same text.
	AlsoIn []Copy
}

// Copy is a drawer whose text is that of a hit.
type Copy struct {
	ID, Source string
}

// Found is what an engine answers.
type Found struct {
	// Hits are the best first. Vector engines fill ID and Distance only.
	Hits []Hit
	// Considered is the number of drawers compared with, and Unreached that of
	// drawers whose vector lies nowhere it can be read.
	Considered, Unreached int
	// Note says what stands out of how the answer came about.
	Note string
}

// Engine is one way to find drawers.
type Engine interface {
	Name() string
	Search(ctx context.Context, q Query) (Found, error)
}

// The names of the engines.
const (
	Exact   = "exact"
	Stored  = "stored"
	Graph   = "graph"
	Keyword = "keyword"
)

// DimensionError says that a vector has not the size of the collection's.
type DimensionError struct {
	Collection string
	Want, Got  int
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("%s holds vectors of %d floats and was asked for one of %d; another model made it", e.Collection, e.Want, e.Got)
}

var (
	// ErrNotFinite refuses a vector with NaN or infinities in it, which is
	// near to nothing.
	ErrNotFinite = errors.New("the vector to search for is not finite")
	// ErrNoVectors says that none of the drawers has a vector that can be read.
	ErrNoVectors = errors.New("no drawer has a vector that can be read")
)
