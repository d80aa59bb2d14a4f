package hnswlib

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Hit is an answer of a search.
type Hit struct {
	Label uint64
	// Distance is as Chroma answers it. It may be a little below 0 in cosine.
	Distance float32
}

// QueryError reports a query vector that cannot be searched for.
type QueryError struct{ Reason string }

func (e *QueryError) Error() string { return "query: " + e.Reason }

// search is what one search needs and the next one can use again.
type search struct {
	seen      visited
	ahead     heap // candidates to go on from, by negated distance
	found     heap
	unit      []float32 // the normalised query
	neighbour []uint32  // of one element, not seen before
}

// Search returns up to k of the nearest elements, nearest first, equal distances
// by label. It is hnswlib's search step by step, so it misses what Chroma would
// miss: ef is the number of elements kept on the way (at least k), deleted
// elements and those that allow refuses are passed through and not returned.
// allow may be nil; it is called once for an element, from this goroutine.
//
// Errors: *QueryError, or the context's.
func (g *Graph) Search(ctx context.Context, q []float32, k, ef int, allow func(label uint64) bool) ([]Hit, error) {
	switch {
	case len(q) != g.dim:
		return nil, &QueryError{fmt.Sprintf("it has %d dimensions, the index %d", len(q), g.dim)}
	case !finite(q):
		return nil, &QueryError{"it holds a number that is not finite or too large"}
	case k <= 0 || g.count == 0:
		return nil, ctx.Err()
	}
	// More than all cannot be kept: a k of any size costs no memory.
	k = min(k, g.count)
	ef = min(max(ef, k), g.count)
	s, _ := g.searches.Get().(*search)
	if s == nil {
		s = &search{unit: make([]float32, g.dim), neighbour: make([]uint32, 2*g.m)}
	}
	defer g.searches.Put(s)
	if g.space == Cosine {
		normalize(s.unit, q)
		q = s.unit
	}
	if err := g.walk(ctx, s, q, g.descend(q), ef, allow); err != nil {
		return nil, err
	}
	for len(s.found) > k {
		s.found.pop()
	}
	hits := make([]Hit, len(s.found))
	for i, c := range s.found {
		hits[i] = Hit{g.labels[c.id], c.dist}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Label, b.Label))
	})
	return hits, nil
}

// descend goes from the entry point to the nearest element of level 1 that
// single steps lead to. Every step comes nearer, so it ends on any graph.
func (g *Graph) descend(q []float32) candidate {
	at := candidate{g.space.distance(q, g.vector(g.entry)), g.entry}
	for level := g.maxLevel; level > 0; level-- {
		at = g.nearest(q, at, level)
	}
	return at
}

func (g *Graph) nearest(q []float32, at candidate, level int) candidate {
	for {
		was := at.id
		for _, id := range g.near(was, level) {
			if d := g.space.distance(q, g.vector(id)); d < at.dist {
				at = candidate{d, id}
			}
		}
		if at.id == was {
			return at
		}
	}
}

// walk collects the ef nearest elements of level 0 in s.found.
func (g *Graph) walk(ctx context.Context, s *search, q []float32, from candidate, ef int, allow func(uint64) bool) error {
	s.seen.next(g.count)
	s.found, s.ahead = s.found[:0], s.ahead[:0]
	all := allow == nil && g.deleted == 0
	bound := from.dist
	if all || g.allowed(from.id, allow) {
		s.found.push(from)
	} else {
		bound = math.MaxFloat32 // as hnswlib: nothing is too far while nothing is found
		from.dist = bound
	}
	s.ahead.push(candidate{-from.dist, from.id})
	s.seen.mark(from.id)
	for steps := 0; len(s.ahead) > 0; steps++ {
		if steps%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if -s.ahead[0].dist > bound && (all || len(s.found) == ef) {
			break
		}
		for _, id := range g.unseen(s, s.ahead.pop().id) {
			d := g.space.distance(q, g.vector(id))
			if len(s.found) >= ef && !(d < bound) {
				continue
			}
			s.ahead.push(candidate{-d, id})
			if all || g.allowed(id, allow) {
				s.found.push(candidate{d, id})
				if len(s.found) > ef {
					s.found.pop()
				}
			}
			if len(s.found) > 0 {
				bound = s.found[0].dist
			}
		}
	}
	return nil
}

// unseen marks the neighbours of an element and returns those that were not
// marked. Gathered first, their vectors are measured in a tight loop.
func (g *Graph) unseen(s *search, id uint32) []uint32 {
	n := 0
	for _, other := range g.near(id, 0) {
		if s.seen.mark(other) {
			s.neighbour[n] = other
			n++
		}
	}
	return s.neighbour[:n]
}

func (g *Graph) allowed(id uint32, allow func(uint64) bool) bool {
	return !g.isDead(id) && (allow == nil || allow(g.labels[id]))
}
