package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// elements are the vectors of an index directory that have a certain owner.
type elements struct {
	at   map[string]int
	torn map[int]bool
	r    *hnswlib.Reader
	// names are the labels of all ids that are known, labels the elements of
	// all labels.
	names  map[string]uint64
	labels map[uint64]int
}

// owned reads which id each element belongs to, by the index's own metadata.
// Where that cannot be read nothing is guessed: a label is a number that says
// nothing of its owner.
func owned(ctx context.Context, dir string, dimension int, space hnswlib.Space) (*elements, error) {
	meta, err := pickle.ReadFile(ctx, filepath.Join(dir, hnswlib.PickleFile))
	if err != nil {
		return nil, err
	}
	e, err := unnamed(ctx, dir, dimension)
	if err != nil {
		return nil, err
	}
	e.names = meta.IDs
	return e, e.judge(ctx, space)
}

// unnamed reads the labels of an index.
func unnamed(ctx context.Context, dir string, dimension int) (*elements, error) {
	r, err := hnswlib.Open(dir)
	if err != nil {
		return nil, err
	}
	if r.Header().Dimension() != dimension {
		return nil, errors.Join(fmt.Errorf("%s holds vectors of %d dimensions, not %d", dir, r.Header().Dimension(), dimension), r.Close())
	}
	e := &elements{at: map[string]int{}, torn: map[int]bool{}, r: r, names: map[string]uint64{}, labels: map[uint64]int{}}
	// Where a label stands twice the later element counts, as in Chroma's own
	// table. An element marked deleted has no vector any more.
	err = r.Labels(ctx, func(internal int, label uint64, deleted bool) error {
		if deleted {
			delete(e.labels, label)
		} else {
			e.labels[label] = internal
		}
		return nil
	})
	var short *hnswlib.ShortError
	if err != nil && !errors.As(err, &short) {
		return nil, errors.Join(err, r.Close())
	}
	return e, nil
}

// judge drops vectors that cannot be what was stored, and marks those of which
// only the direction can be.
func (e *elements) judge(ctx context.Context, space hnswlib.Space) error {
	owners := map[uint64]int{}
	for _, label := range e.names {
		owners[label]++
	}
	var internals []int
	for id, label := range e.names {
		// A label with two owners is nobody's.
		if internal, ok := e.labels[label]; ok && owners[label] == 1 {
			e.at[id] = internal
			internals = append(internals, internal)
		}
	}
	slices.Sort(internals)
	bad := map[int]bool{}
	seen := map[int]bool{}
	err := e.r.Vectors(ctx, internals, func(internal int, v []float32) error {
		seen[internal] = true
		norm, ok := length(v)
		switch {
		case !ok:
			bad[internal] = true
		case space != hnswlib.Cosine:
		case norm == 0:
			// A vector that was all zeros when it was filed says so in length.bin.
			if n, err := e.r.Norm(internal); err != nil || n != 0 {
				bad[internal] = true
			}
		case math.Abs(norm-1) > 1e-3:
			e.torn[internal] = true
		}
		return nil
	})
	var element *hnswlib.ElementError
	var short *hnswlib.ShortError
	if err != nil && !errors.As(err, &element) && !errors.As(err, &short) {
		return errors.Join(err, e.r.Close())
	}
	for id, internal := range e.at {
		if bad[internal] || !seen[internal] {
			delete(e.at, id)
		}
	}
	return nil
}

// length is the norm of a vector; false where a part of it is no number.
func length(v []float32) (float64, bool) {
	s := 0.0
	for _, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, false
		}
		s += f * f
	}
	return math.Sqrt(s), true
}

func (e *elements) find(id string) (int, bool) {
	if e == nil {
		return 0, false
	}
	i, ok := e.at[id]
	return i, ok
}
