package search

import (
	"context"
	"errors"
	"slices"

	"castellan/palace/backend"
)

// Vectors are the vectors of a collection in memory, for many questions: 1.5 KB
// a drawer of 384 floats. Any number of goroutines may search at once.
type Vectors struct {
	block
	source    Source
	unreached int
	truncated bool
}

// LoadVectors reads the vectors of the records that f lets through, at most
// limit of them (0 for all), oldest first.
func LoadVectors(ctx context.Context, source Source, f backend.Filter, limit int) (*Vectors, error) {
	v := &Vectors{source: source, block: block{space: spaceOf(source)}}
	if d := source.Info().Dimension; d != nil {
		v.dim = *d
	}
	rows, err := source.Count(ctx, f)
	if err != nil {
		return nil, err
	}
	err = eachPage(ctx, source, f, func(list []backend.Record) error {
		for _, r := range list {
			if limit > 0 && len(v.ids) == limit {
				v.truncated = true
				return errEnough
			}
			if v.dim == 0 {
				v.dim = len(r.Embedding)
			}
			if !v.add(r.ID, r.Embedding) {
				v.unreached++
			} else if len(v.ids) == 1 {
				v.reserve(rows, limit)
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return v, err
}

// reserve makes room for all that will come, so that growing does not copy it
// over and over; bounded, for a count is not yet a vector.
func (v *Vectors) reserve(rows int64, limit int) {
	const most = 1 << 26 // floats: 256 MB
	n := int(min(rows, most/int64(v.dim)))
	if limit > 0 {
		n = min(n, limit)
	}
	v.ids = slices.Grow(v.ids, n)
	v.rows = slices.Grow(v.rows, n*v.dim)
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// Len is how many vectors there are; Unreached how many drawers have none that
// can be read.
func (v *Vectors) Len() int       { return len(v.ids) }
func (v *Vectors) Unreached() int { return v.unreached }

// Name is Exact: it is the exact scan, over memory.
func (v *Vectors) Name() string { return Exact }

// Search answers as ExactScan does, for the drawers that were loaded: the
// filter of the question must be the one they were loaded with.
func (v *Vectors) Search(ctx context.Context, q Query) (Found, error) {
	found := Found{Considered: len(v.ids), Unreached: v.unreached}
	asked, err := askable(v.source, q.Vector, v.space)
	if err != nil {
		return found, err
	}
	if len(v.ids) == 0 {
		return found, nil
	}
	best := nearest{k: q.K}
	v.scan(&best, asked, make([]float32, stride), 0, q.Except)
	found.Hits = best.hits()
	return found, ctx.Err()
}
