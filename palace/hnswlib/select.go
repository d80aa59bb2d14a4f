package hnswlib

// choose appends to dst at most most of the candidates, which are sorted by
// distance, by hnswlib's heuristic: one is left out if it is nearer to a chosen
// one than to the element itself. The others of its direction can be reached by
// way of the chosen one, and the room goes to other directions. Fewer than most
// are taken as they are.
func (in *inserter) choose(dst, sorted []candidate, most int) []candidate {
	if len(sorted) < most {
		return append(dst, sorted...)
	}
	g := in.g
next:
	for _, c := range sorted {
		if len(dst) >= most {
			break
		}
		v := g.vector(c.id)
		for _, other := range dst {
			if g.space.distance(g.vector(other.id), v) < c.dist {
				continue next
			}
		}
		dst = append(dst, c)
	}
	return dst
}
