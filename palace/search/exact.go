package search

import (
	"context"

	"castellan/palace/backend"
)

// scanPage is how many vectors are in memory at once while a scan streams.
const scanPage = 1000

// ExactScan compares with every vector of a collection that can be read. It
// holds a page of them at a time, whatever the size of the collection.
type ExactScan struct{ source Source }

// NewExactScan scans source anew for each question.
func NewExactScan(source Source) *ExactScan { return &ExactScan{source} }

// Name is Exact.
func (*ExactScan) Name() string { return Exact }

// Search gives the K nearest, ties in the order of filing. Vectors that are not
// finite, or have not the size of the one asked for, count as unreached.
func (e *ExactScan) Search(ctx context.Context, q Query) (Found, error) {
	var found Found
	space := spaceOf(e.source)
	asked, err := askable(e.source, q.Vector, space)
	if err != nil {
		return found, err
	}
	best := nearest{k: q.K}
	page := block{space: space, dim: len(asked)}
	err = eachPage(ctx, e.source, q.Filter, func(list []backend.Record) error {
		page.reset()
		for _, r := range list {
			if !page.add(r.ID, r.Embedding) {
				found.Unreached++
			}
		}
		page.offer(&best, asked, found.Considered, q.Except)
		found.Considered += len(page.ids)
		return nil
	})
	if err == nil && found.Considered == 0 && found.Unreached > 0 {
		err = ErrNoVectors
	}
	found.Hits = best.hits()
	return found, err
}

// eachPage walks through the records of a filter with their vectors.
func eachPage(ctx context.Context, s Source, f backend.Filter, fn func([]backend.Record) error) error {
	q := backend.Query{Filter: f, Include: backend.Embeddings, Limit: scanPage}
	for {
		page, err := s.Get(ctx, q)
		if err != nil {
			return err
		}
		if err := fn(page.Records); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
		q.After = page.Next
	}
}

// askable is a vector as it is compared, or why it cannot be.
func askable(s Source, v []float32, space string) ([]float32, error) {
	if want := s.Info().Dimension; want != nil && *want != len(v) {
		return nil, &DimensionError{Collection: s.Info().Name, Want: *want, Got: len(v)}
	}
	asked := make([]float32, len(v))
	if !prepare(asked, v, space) {
		return nil, ErrNotFinite
	}
	return asked, nil
}

// block is some prepared vectors one behind the other.
type block struct {
	space string
	dim   int
	ids   []string
	rows  []float32
	dist  []float32
}

func (b *block) reset() { b.ids, b.rows = b.ids[:0], b.rows[:0] }

// add takes a vector, and tells whether it could.
func (b *block) add(id string, v []float32) bool {
	if len(v) != b.dim || b.dim == 0 {
		return false
	}
	at := len(b.rows)
	b.rows = append(b.rows, v...)
	if !prepare(b.rows[at:], v, b.space) {
		b.rows = b.rows[:at]
		return false
	}
	b.ids = append(b.ids, id)
	return true
}

// row is the i-th vector.
func (b *block) row(i int) []float32 { return b.rows[i*b.dim : (i+1)*b.dim : (i+1)*b.dim] }

// stride is how many distances are computed before they are looked at: they
// stay in the nearest cache.
const stride = 256

// offer compares all rows; first is the place of the first of them.
func (b *block) offer(best *nearest, q []float32, first int, except string) {
	if cap(b.dist) < stride {
		b.dist = make([]float32, stride)
	}
	b.scan(best, q, b.dist[:stride], first, except)
}

// scan is offer with room for the distances: b is only read, so that several
// questions may run at once.
func (b *block) scan(best *nearest, q, room []float32, first int, except string) {
	for from := 0; from < len(b.ids); from += len(room) {
		n := min(len(room), len(b.ids)-from)
		distances(room[:n], q, b.rows[from*b.dim:(from+n)*b.dim], b.space)
		for i, d := range room[:n] {
			if best.beats(d) && b.ids[from+i] != except {
				best.offer(near{d, first + from + i, b.ids[from+i]})
			}
		}
	}
}
