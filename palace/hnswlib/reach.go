package hnswlib

import "context"

// reached marks what single steps on level 0 lead to from an element on, and
// returns how many that were.
func (g *Graph) reached(from uint32, marks []bool) int {
	if marks[from] {
		return 0
	}
	marks[from] = true
	todo, n := []uint32{from}, 0
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n++
		for _, other := range g.near(id, 0) {
			if !marks[other] {
				marks[other] = true
				todo = append(todo, other)
			}
		}
	}
	return n
}

// Unreachable counts the elements that no path on level 0 leads to from the
// entry point.
func (g *Graph) Unreachable() int {
	if g.count == 0 {
		return 0
	}
	return g.count - g.reached(g.entry, make([]bool, g.count))
}

// join links the elements that the heuristic left without a path to them. With
// hnswlib they are lost to every search: some 17 equal vectors are enough, for
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
		if g.reached(g.entry, marks) == g.count {
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
			g.reached(id, marks)
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
