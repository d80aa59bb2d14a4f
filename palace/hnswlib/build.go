package hnswlib

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// BuildOptions is the shape of an index to build.
type BuildOptions struct {
	Space          Space
	Dimension      int
	M              int // 0: 16. Must be the collection's max_neighbors: Chroma inserts by the header's
	EfConstruction int // 0: 100
	// Seed decides the levels. With one worker the same seed, vectors and labels
	// give the same graph, to the byte.
	Seed uint64
	// Workers insert at the same time. 0 is one.
	Workers int
	// Limit is the memory the graph may take, in bytes; 0 is 8 GiB.
	Limit int64
	// Progress, if given, is told now and then how many of the elements are in.
	// Calls come from the workers, never two at once.
	Progress func(done, total int)
}

// BuildError reports options no index can be built with, or an element that
// cannot be part of one.
type BuildError struct {
	Label  uint64 // 0: it is about the options
	Reason string
}

func (e *BuildError) Error() string {
	if e.Label == 0 {
		return "building an index: " + e.Reason
	}
	return fmt.Sprintf("building an index: element %d %s", e.Label, e.Reason)
}

// Builder takes elements and builds a graph of them. It is used by one goroutine.
type Builder struct {
	o     BuildOptions
	g     *Graph
	draw  levelDraw
	known labelSet

	// dists has the distance of a neighbour from the owner of the list where links
	// and upper have the neighbour: what a full list weighs a newcomer against.
	dists, upperDists []float32

	locks []sync.Mutex // of the lists of an element; nil with one worker
	top   sync.Mutex   // of the graph's entry and maxLevel
}

// NewBuilder makes room for n elements; more may come.
func NewBuilder(o BuildOptions, n int) (*Builder, error) {
	if o.M == 0 {
		o.M = 16
	}
	if o.EfConstruction == 0 {
		o.EfConstruction = 100
	}
	o.Workers = max(o.Workers, 1)
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	o.EfConstruction = max(o.EfConstruction, o.M) // as hnswlib
	switch {
	case o.Dimension < 1 || o.Dimension > maxDimension:
		return nil, &BuildError{Reason: fmt.Sprintf("vectors of %d dimensions, not 1 to %d", o.Dimension, maxDimension)}
	case o.M < 2 || o.M > maxM:
		return nil, &BuildError{Reason: fmt.Sprintf("M is %d, not 2 to %d", o.M, maxM)}
	case o.EfConstruction > math.MaxInt32:
		return nil, &BuildError{Reason: fmt.Sprintf("ef_construction is %d", o.EfConstruction)}
	case int(o.Space) >= len(spaceNames):
		return nil, &BuildError{Reason: o.Space.String()}
	}
	g := &Graph{space: o.Space, dim: o.Dimension, m: o.M, ef: o.EfConstruction, maxLevel: -1, entry: NoEntry}
	n = max(n, 0)
	g.vectors = make([]float32, 0, n*o.Dimension)
	g.labels = make([]uint64, 0, n)
	g.levels = make([]uint8, 0, n)
	g.upperAt = make([]uint32, 0, n)
	if o.Space == Cosine {
		g.norms = make([]float32, 0, n)
	}
	return &Builder{o: o, g: g, draw: newLevelDraw(o.Seed, o.M)}, nil
}

// Add copies one element. Its place in the files is the order of adding. Labels
// are unique and count from 1: Chroma gives them in the order of its log, and
// never a second time. The error is a *BuildError; the element is then not part
// of the index, and others may follow.
func (b *Builder) Add(label uint64, v []float32) error {
	g := b.g
	switch {
	case label == 0:
		return &BuildError{Reason: "labels count from 1"}
	case len(v) != g.dim:
		return &BuildError{label, fmt.Sprintf("has %d dimensions, the index %d", len(v), g.dim)}
	case !finite(v):
		return &BuildError{label, "holds a number that is not finite or too large"}
	case g.count == maxElements:
		return &BuildError{label, "is more than an index can hold"}
	case !b.known.add(label):
		return &BuildError{label, "is there already"}
	}
	g.count++
	g.labels = append(g.labels, label)
	g.vectors = append(g.vectors, v...)
	if g.space == Cosine {
		g.norms = append(g.norms, normalize(g.vector(uint32(g.count-1)), v))
	}
	level := b.draw.next()
	g.levels = append(g.levels, level)
	g.upperAt = append(g.upperAt, uint32(len(g.upper)))
	// A list of zeros is an empty list.
	g.upper = append(g.upper, make([]uint32, int(level)*(1+g.m))...)
	return nil
}

// Build inserts the elements and returns their graph; the builder is used up.
// Cancelled, it returns the context's error once every worker has stopped; the
// neighbours of very many elements, or of a very large M, are a *TooLargeError.
func (b *Builder) Build(ctx context.Context) (*Graph, error) {
	g := b.g
	// Lists and distances, four bytes each, and the vectors that are here.
	need := 8*(int64(g.count)*int64(1+2*g.m)+int64(len(g.upper))) + 4*int64(len(g.vectors))
	if need > b.o.Limit {
		return nil, &TooLargeError{Need: need, Limit: b.o.Limit}
	}
	b.known = labelSet{}
	g.links = make([]uint32, g.count*(1+2*g.m))
	b.dists = make([]float32, len(g.links))
	b.upperDists = make([]float32, len(g.upper))
	if b.o.Workers > 1 {
		b.locks = make([]sync.Mutex, g.count)
	}
	var next, done atomic.Int64
	var told sync.Mutex
	work := func() {
		in := newInserter(b)
		for ctx.Err() == nil {
			i := next.Add(1) - 1
			if i >= int64(g.count) {
				return
			}
			in.insert(uint32(i))
			if n := done.Add(1); b.o.Progress != nil && (n%1024 == 0 || n == int64(g.count)) {
				told.Lock()
				b.o.Progress(int(n), g.count)
				told.Unlock()
			}
		}
	}
	if b.locks == nil {
		work()
	} else {
		var all sync.WaitGroup
		for range b.o.Workers {
			all.Go(work)
		}
		all.Wait()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.locks = nil
	if err := b.join(ctx); err != nil {
		return nil, err
	}
	b.dists, b.upperDists = nil, nil
	return g, nil
}

// lock takes the lock of an element's lists, if there is more than one worker.
func (b *Builder) lock(id uint32) {
	if b.locks != nil {
		b.locks[id].Lock()
	}
}

func (b *Builder) unlock(id uint32) {
	if b.locks != nil {
		b.locks[id].Unlock()
	}
}

// listDists are the distances that belong to Graph.list.
func (b *Builder) listDists(id uint32, level int) []float32 {
	if level == 0 {
		size := 1 + 2*b.g.m
		at := int(id) * size
		return b.dists[at : at+size : at+size]
	}
	size := 1 + b.g.m
	at := int(b.g.upperAt[id]) + (level-1)*size
	return b.upperDists[at : at+size : at+size]
}
