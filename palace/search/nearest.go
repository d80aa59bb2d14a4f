package search

import (
	"cmp"
	"slices"
)

// near is a row with its distance; at is its place in the order of filing.
type near struct {
	distance float32
	at       int
	id       string
}

// nearer orders by distance, and ties by the order of filing, as Chroma does.
func nearer(a, b near) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.at, b.at))
}

// nearest keeps the k nearest of what it is offered: a heap with the farthest
// on top, so that nearly every offer costs one comparison.
type nearest struct {
	k    int
	heap []near
}

// beats tells whether a row at this distance would be kept.
func (n *nearest) beats(distance float32) bool {
	return len(n.heap) < n.k || n.k > 0 && distance <= n.heap[0].distance
}

func (n *nearest) offer(r near) {
	switch {
	case len(n.heap) < n.k:
		n.heap = append(n.heap, r)
		for i := len(n.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if nearer(n.heap[i], n.heap[up]) <= 0 {
				return
			}
			n.heap[i], n.heap[up] = n.heap[up], n.heap[i]
			i = up
		}
	case n.k > 0 && nearer(r, n.heap[0]) < 0:
		n.heap[0] = r
		for i := 0; ; {
			far := i
			for _, down := range []int{2*i + 1, 2*i + 2} {
				if down < len(n.heap) && nearer(n.heap[down], n.heap[far]) > 0 {
					far = down
				}
			}
			if far == i {
				return
			}
			n.heap[i], n.heap[far] = n.heap[far], n.heap[i]
			i = far
		}
	}
}

// hits are the kept rows, nearest first.
func (n *nearest) hits() []Hit {
	slices.SortFunc(n.heap, nearer)
	list := make([]Hit, len(n.heap))
	for i, r := range n.heap {
		d := float64(r.distance)
		list[i].ID, list[i].Distance = r.id, &d
	}
	return list
}
