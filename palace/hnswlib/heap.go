package hnswlib

// candidate is an element and its distance to what is searched for.
type candidate struct {
	dist float32
	id   uint32
}

// heap is a binary heap with the largest dist at 0. One that must give the
// smallest first holds negated distances.
//
// It sifts as the priority_queue of libstdc++ does, a popped hole down to a leaf
// and the last entry up again: equal distances then leave in the same order as
// from hnswlib, and a pop costs half the comparisons.
type heap []candidate

func (h *heap) push(c candidate) {
	*h = append(*h, c)
	h.up(len(*h)-1, c)
}

func (h heap) up(hole int, c candidate) {
	for hole > 0 {
		parent := (hole - 1) / 2
		if !(h[parent].dist < c.dist) {
			break
		}
		h[hole] = h[parent]
		hole = parent
	}
	h[hole] = c
}

// pop removes the first entry and returns it. There must be one.
func (h *heap) pop() candidate {
	s := *h
	first, last := s[0], len(s)-1
	c := s[last]
	s = s[:last]
	*h = s
	if last == 0 {
		return first
	}
	hole := 0
	for child := 2; child < len(s); child = 2*hole + 2 {
		if s[child].dist < s[child-1].dist {
			child--
		}
		s[hole] = s[child]
		hole = child
	}
	if len(s)%2 == 0 && 2*hole+2 == len(s) { // a parent of one child
		s[hole] = s[len(s)-1]
		hole = len(s) - 1
	}
	s.up(hole, c)
	return first
}
