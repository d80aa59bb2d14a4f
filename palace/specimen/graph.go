package specimen

// The graph of a generated index follows from the numbers of its elements
// alone, in base 16 like the clusters of their vectors. Element i reaches
// level l when 16^l divides it, so levels thin out as hnswlib's do. On level l
// it is linked to the others of its cluster of 16, and across the cluster's
// edge to the next element of that level, so that every level is one chain and
// everything can be reached from element 0. On level 0 it also knows the first
// element of each cluster beside its own.

const (
	maxM  = fanout     // neighbours above level 0
	maxM0 = 2 * fanout // neighbours on level 0
)

// topLevel is the highest level of an index of n elements.
func topLevel(n int) int {
	l := 0
	for step := fanout; step < n; step *= fanout {
		l++
	}
	return l
}

// levelOf is the level that element i of n reaches.
func levelOf(i, n int) int {
	l, top := 0, topLevel(n)
	for step := fanout; l < top && i%step == 0; step *= fanout {
		l++
	}
	return l
}

// neighbours are the elements that element i of n is linked to on a level.
// There are never more than maxM0 on level 0, nor maxM above.
func neighbours(i, level, n int) []uint32 {
	step := 1
	for range level {
		step *= fanout
	}
	var list []uint32
	add := func(j int) {
		if j >= 0 && j < n && j != i {
			list = append(list, uint32(j))
		}
	}
	cluster := step * fanout
	first := i - i%cluster
	for j := first; j < first+cluster; j += step {
		add(j)
	}
	super := cluster * fanout
	begin := i - i%super
	for j := begin; level == 0 && j < begin+super; j += cluster {
		if j != first {
			add(j)
		}
	}
	if i == first {
		add(i - step)
	}
	// On level 0 the element after the edge is known already, unless the edge
	// is that of the larger cluster as well.
	if next := i + step; next == first+cluster && (level > 0 || next == begin+super) {
		add(next)
	}
	return list
}
