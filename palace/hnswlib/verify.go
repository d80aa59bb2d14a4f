package hnswlib

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"castellan/palace/simd"
)

// VerifyOptions say what an index must show.
type VerifyOptions struct {
	Space     Space
	Dimension int
	Elements  int // deleted ones included
	Queries   int // to measure the recall by; 0: 100
	Ef        int // to search with; 0: 100, as Chroma does
	// MinRecall is the recall at 10 to demand, between 0 and 1. Texts come to .99
	// and more; vectors without any order to much less, by no fault of the index.
	MinRecall float64
	Limit     int64 // of memory, as Load takes it
}

// Verdict is what a verification found.
type Verdict struct {
	Facts   Facts
	Queries int
	Recall  float64 // of the true nearest ten, the part that was found
}

// UnsoundError reports an index that must not be put into use.
type UnsoundError struct {
	Dir    string
	Reason string
	Faults []Fault
}

func (e *UnsoundError) Error() string {
	return fmt.Sprintf("%s: the index does not verify: %s; it was not put into use", e.Dir, e.Reason)
}

// Verify reads an index back in full and searches it: every element and link is
// judged, and answers are compared with an exact scan, for stored vectors with a
// little noise. What is found wanting is an *UnsoundError; the verdict then
// tells what is known.
func Verify(ctx context.Context, dir string, o VerifyOptions) (Verdict, error) {
	var v Verdict
	r, err := Open(dir)
	if err != nil {
		return v, err
	}
	defer r.Close()
	if v.Facts, err = r.Examine(ctx, o.Dimension, 0); err != nil {
		return v, err
	}
	unsound := func(format string, args ...any) (Verdict, error) {
		return v, &UnsoundError{Dir: dir, Reason: fmt.Sprintf(format, args...), Faults: v.Facts.Faults}
	}
	if n := len(v.Facts.Faults); n > 0 {
		return unsound("%d faults, the first: %s", n, v.Facts.Faults[0])
	}
	if v.Facts.Stored != o.Elements {
		return unsound("it has %d elements of %d", v.Facts.Stored, o.Elements)
	}
	g, err := Load(ctx, r, o.Space, o.Limit)
	if err != nil {
		return v, err
	}
	if d := g.Damage(); d != (Damage{}) {
		return unsound("parts of it cannot be followed: %+v", d)
	}
	if o.Queries == 0 {
		o.Queries = 100
	}
	if o.Ef == 0 {
		o.Ef = 100
	}
	v.Recall, v.Queries, err = g.Recall(ctx, o.Queries, o.Ef)
	if err == nil && v.Queries > 0 && v.Recall < o.MinRecall {
		return unsound("its recall is %.3f, below %.3f", v.Recall, o.MinRecall)
	}
	return v, err
}

// Recall measures, with n queries (fewer if nothing is live), which part of the
// ten nearest elements a search with this ef finds. An element as near as the
// tenth counts as one of them. Queries are live vectors, spread evenly, with a
// noise of a tenth of their norm: the same in every run.
func (g *Graph) Recall(ctx context.Context, n, ef int) (recall float64, queries int, err error) {
	var live []uint32
	for id := range uint32(g.count) {
		if !g.isDead(id) {
			live = append(live, id)
		}
	}
	n = min(n, len(live))
	rng := rand.New(rand.NewPCG(1, uint64(g.count)))
	q := make([]float32, g.dim)
	found, all := 0, 0
	for i := range n {
		v := g.vector(live[i*len(live)/n])
		noise := 0.1 * float64(simd.Norm(v)) / math.Sqrt(float64(g.dim))
		for j, x := range v {
			q[j] = x + float32(noise*rng.NormFloat64())
		}
		hits, err := g.Search(ctx, q, 10, ef, nil)
		if err != nil {
			return 0, i, err
		}
		tenth, most, err := g.scan(ctx, q, 10)
		if err != nil {
			return 0, i, err
		}
		all += most
		for _, h := range hits {
			if h.Distance <= tenth {
				found++
			}
		}
	}
	if all == 0 {
		return 0, 0, nil
	}
	return float64(found) / float64(all), n, nil
}

// scan compares q with every live element and returns the distance of the kth
// nearest, or of the last if there are fewer, and how many there are up to k.
func (g *Graph) scan(ctx context.Context, q []float32, k int) (kth float32, n int, err error) {
	if g.space == Cosine {
		unit := make([]float32, g.dim)
		normalize(unit, q)
		q = unit
	}
	var nearest heap
	for id := range uint32(g.count) {
		if id%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
		}
		if g.isDead(id) {
			continue
		}
		d := g.space.distance(q, g.vector(id))
		if len(nearest) == k && d >= nearest[0].dist {
			continue
		}
		nearest.push(candidate{d, id})
		if len(nearest) > k {
			nearest.pop()
		}
	}
	if len(nearest) == 0 {
		return 0, 0, nil
	}
	return nearest[0].dist, len(nearest), nil
}
