package hnswlib

// inserter is what one worker needs to insert elements.
type inserter struct {
	b     *Builder
	g     *Graph
	seen  visited
	ahead heap // by negated distance
	found heap

	neighbour []uint32      // copied from a list under its lock
	order     []candidate   // sorted by distance
	picked    [][]candidate // of the new element, a level each
	full      []candidate   // a full list and the newcomer
	kept      []candidate
}

func newInserter(b *Builder) *inserter {
	return &inserter{
		b: b, g: b.g, neighbour: make([]uint32, 2*b.g.m),
		full: make([]candidate, 0, 2*b.g.m+1), kept: make([]candidate, 0, 2*b.g.m),
	}
}

// insert joins an element to those that are in the graph.
//
// Its own lists are written before any other list names it, on all levels: a
// worker that meets it finds a whole element, so no lock is held over a search
// and none while another one is taken.
func (in *inserter) insert(id uint32) {
	b, g := in.b, in.g
	level := int(g.levels[id])
	b.top.Lock()
	entry, most := g.entry, g.maxLevel
	if level > most {
		// The new top element is alone in having its level: the next one of that
		// level must find it.
		defer func() {
			g.entry, g.maxLevel = id, level
			b.top.Unlock()
		}()
	} else {
		b.top.Unlock()
	}
	if entry == NoEntry {
		return
	}
	q := g.vector(id)
	at := candidate{g.space.distance(q, g.vector(entry)), entry}
	for l := most; l > level; l-- {
		at = in.nearest(q, at, l)
	}
	shared := min(level, most)
	for len(in.picked) <= shared {
		in.picked = append(in.picked, make([]candidate, 0, g.m))
	}
	for l := shared; l >= 0; l-- {
		in.search(q, at, l)
		in.picked[l] = in.choose(in.picked[l][:0], in.order, g.m)
		at = in.picked[l][0]
		b.write(id, l, in.picked[l])
	}
	for l := range shared + 1 {
		for _, c := range in.picked[l] {
			in.connect(c.id, l, candidate{c.dist, id})
		}
	}
}

// near copies the neighbours of an element on a level.
func (in *inserter) near(id uint32, level int) []uint32 {
	in.b.lock(id)
	n := copy(in.neighbour, in.g.near(id, level))
	in.b.unlock(id)
	return in.neighbour[:n]
}

// nearest goes to the element of a level from which no step leads nearer.
func (in *inserter) nearest(q []float32, at candidate, level int) candidate {
	g := in.g
	for {
		was := at.id
		for _, id := range in.near(was, level) {
			if d := g.space.distance(q, g.vector(id)); d < at.dist {
				at = candidate{d, id}
			}
		}
		if at.id == was {
			return at
		}
	}
}

// search puts the ef_construction nearest elements of a level into in.order.
func (in *inserter) search(q []float32, from candidate, level int) {
	g, ef := in.g, in.g.ef
	in.seen.next(g.count)
	in.seen.mark(from.id)
	in.ahead, in.found = in.ahead[:0], in.found[:0]
	in.ahead.push(candidate{-from.dist, from.id})
	in.found.push(from)
	bound := from.dist
	for len(in.ahead) > 0 {
		if -in.ahead[0].dist > bound && len(in.found) == ef {
			break
		}
		list := in.near(in.ahead.pop().id, level)
		n := 0
		for _, id := range list {
			if in.seen.mark(id) {
				list[n] = id
				n++
			}
		}
		for _, id := range list[:n] {
			d := g.space.distance(q, g.vector(id))
			if len(in.found) >= ef && !(d < bound) {
				continue
			}
			in.ahead.push(candidate{-d, id})
			in.found.push(candidate{d, id})
			if len(in.found) > ef {
				in.found.pop()
			}
			bound = in.found[0].dist
		}
	}
	n := len(in.found)
	in.order = append(in.order[:0], in.found...)
	for n--; n >= 0; n-- {
		in.order[n] = in.found.pop()
	}
}

// connect tells an element of a new neighbour. A full list is chosen anew.
func (in *inserter) connect(owner uint32, level int, c candidate) {
	b := in.b
	b.lock(owner)
	defer b.unlock(owner)
	list, dists := in.g.list(owner, level), b.listDists(owner, level)
	n := int(list[0])
	if n < len(list)-1 {
		list[0]++
		i := n + 1
		for ; i > 1 && dists[i-1] > c.dist; i-- {
			list[i], dists[i] = list[i-1], dists[i-1]
		}
		list[i], dists[i] = c.id, c.dist
		return
	}
	in.full = in.full[:0]
	i := 1
	for ; i <= n && dists[i] <= c.dist; i++ {
		in.full = append(in.full, candidate{dists[i], list[i]})
	}
	in.full = append(in.full, c)
	for ; i <= n; i++ {
		in.full = append(in.full, candidate{dists[i], list[i]})
	}
	in.kept = in.choose(in.kept[:0], in.full, n)
	b.write(owner, level, in.kept)
}

// write makes the list of an element what was chosen, nearest first.
func (b *Builder) write(id uint32, level int, chosen []candidate) {
	list, dists := b.g.list(id, level), b.listDists(id, level)
	list[0] = uint32(len(chosen))
	for i, c := range chosen {
		list[i+1], dists[i+1] = c.id, c.dist
	}
}
