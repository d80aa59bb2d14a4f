package hnswlib

import "context"

// spread marks what steps on one level lead to from the given elements on, which
// are marked already, and returns all of them.
func (g *Graph) spread(from []uint32, level int, marks []bool) []uint32 {
	for i := 0; i < len(from); i++ {
		for _, other := range g.near(from[i], level) {
			if !marks[other] {
				marks[other] = true
				from = append(from, other)
			}
		}
	}
	return from
}

// Unreachable counts the elements, not deleted, that a search cannot find
// whatever its ef: no path leads to them from the entry point, along the lists
// of a level and then down to the next.
func (g *Graph) Unreachable() int {
	if g.count == 0 {
		return 0
	}
	marks := make([]bool, g.count)
	marks[g.entry] = true
	at := []uint32{g.entry}
	for level := g.maxLevel; level >= 0; level-- {
		at = g.spread(at, level, marks)
	}
	n := 0
	for id, reached := range marks {
		if !reached && !g.isDead(uint32(id)) {
			n++
		}
	}
	return n
}

// join links the elements that the heuristic left without a path to them on
// level 0. With hnswlib they are lost to nearly every search: some 17 equal vectors are enough, for
// their lists fill up with one another.
func (b *Builder) join(ctx context.Context) error {
	g := b.g
	if g.count == 0 {
		return nil
	}
	in := newInserter(b)
	// A link that makes room for another one may cut off a third element, seldom.
	for range 8 {
		marks := make([]bool, g.count)
		marks[g.entry] = true
		if len(g.spread([]uint32{g.entry}, 0, marks)) == g.count {
			return nil
		}
		named := make([]uint32, g.count) // how many lists name an element
		for id := range uint32(g.count) {
			for _, other := range g.near(id, 0) {
				named[other]++
			}
		}
		for id := range uint32(g.count) {
			if marks[id] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			b.linkTo(in, id, marks, named)
			marks[id] = true
			g.spread([]uint32{id}, 0, marks)
		}
	}
	return nil
}

// linkTo names id in the list of a near element that can be reached: one with
// room, or the one that has a neighbour which others name as well.
func (b *Builder) linkTo(in *inserter, id uint32, marks []bool, named []uint32) {
	g := b.g
	q := g.vector(id)
	in.search(q, candidate{g.space.distance(q, g.vector(g.entry)), g.entry}, 0)
	for _, c := range in.order {
		if list := g.list0(c.id); marks[c.id] && c.id != id && int(list[0]) < len(list)-1 {
			list[0]++
			list[list[0]] = id
			named[id]++
			return
		}
	}
	for _, c := range in.order {
		list := g.near(c.id, 0)
		for i := len(list) - 1; i >= 0 && marks[c.id]; i-- {
			if other := list[i]; named[other] > 1 {
				named[other]--
				named[id]++
				list[i] = id
				return
			}
		}
	}
}
