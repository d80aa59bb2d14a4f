package hnswlib

import "sync"

// Graph is an index in memory: what Load read or a Builder built. It does not
// change any more, so any number of goroutines may search it.
//
// Vectors, neighbours and labels lie in one flat slice each. A neighbour list is
// its length and room for the most there may be. Every neighbour in a list
// exists, differs from the owner of the list and reaches the list's level:
// whoever fills a graph sees to that, and the search relies on it.
type Graph struct {
	space    Space
	dim      int
	m        int // neighbours above level 0; twice as many on it
	ef       int // ef_construction
	count    int
	deleted  int
	maxLevel int    // -1 without elements
	entry    uint32 // NoEntry without elements

	vectors []float32 // count * dim
	links   []uint32  // count * (1 + 2m)
	labels  []uint64
	levels  []uint8
	dead    []uint64  // a bit an element; nil if none is deleted
	norms   []float32 // of cosine; nil otherwise

	// upperAt is where an element's lists above level 0 begin in upper, one list
	// of 1 + m entries a level.
	upperAt []uint32
	upper   []uint32

	searches sync.Pool // of *search
	damage   Damage
}

// Damage counts what Load left out of a graph.
type Damage struct {
	// Neighbours that do not exist, are the element itself, or do not reach the
	// level of the list; and lists that declare more of them than fit.
	Neighbours, Lists int
	// Links is true if link_lists.bin is missing or cannot be walked to its end:
	// elements behind the fault are reached on level 0 only.
	Links bool
	// Entry is true if the entry point of the header cannot be one, so that
	// another had to be chosen.
	Entry bool
	// Short is the number of elements the header counts beyond those stored.
	Short int
	// Elements without a label, as a page of zeros leaves them, or with a vector
	// that is not finite: they are taken for deleted.
	Elements int
}

// Space is the space the graph is measured in.
func (g *Graph) Space() Space { return g.space }

// Dimension is the number of floats in a vector.
func (g *Graph) Dimension() int { return g.dim }

// Len is the number of elements, deleted ones included.
func (g *Graph) Len() int { return g.count }

// Live is the number of elements that are not deleted.
func (g *Graph) Live() int { return g.count - g.deleted }

// Damage tells what was wrong with the files it was loaded from.
func (g *Graph) Damage() Damage { return g.damage }

func (g *Graph) vector(id uint32) []float32 {
	at := int(id) * g.dim
	return g.vectors[at : at+g.dim : at+g.dim]
}

// list0 is the level-0 list of an element: its length and 2m entries.
func (g *Graph) list0(id uint32) []uint32 {
	size := 1 + 2*g.m
	at := int(id) * size
	return g.links[at : at+size : at+size]
}

// list is the list of an element on a level it reaches.
func (g *Graph) list(id uint32, level int) []uint32 {
	if level == 0 {
		return g.list0(id)
	}
	size := 1 + g.m
	at := int(g.upperAt[id]) + (level-1)*size
	return g.upper[at : at+size : at+size]
}

func (g *Graph) near(id uint32, level int) []uint32 {
	l := g.list(id, level)
	return l[1 : 1+l[0]]
}

func (g *Graph) isDead(id uint32) bool {
	return g.dead != nil && g.dead[id/64]&(1<<(id%64)) != 0
}

func (g *Graph) kill(id uint32) {
	if g.dead == nil {
		g.dead = make([]uint64, (g.count+63)/64)
	}
	g.dead[id/64] |= 1 << (id % 64)
	g.deleted++
}
