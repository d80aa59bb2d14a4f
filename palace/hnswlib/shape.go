package hnswlib

// Shape is what a graph looks like from inside.
type Shape struct {
	// Levels is the number of elements that reach each level, deleted ones
	// included.
	Levels []int
	// MinDegree, MaxDegree and MeanDegree count the neighbours of an element on
	// level 0, of which there is room for MostDegree.
	MinDegree, MaxDegree, MostDegree int
	MeanDegree                       float64
}

// Shape counts levels and neighbours.
func (g *Graph) Shape() Shape {
	s := Shape{Levels: make([]int, g.maxLevel+1), MostDegree: 2 * g.m}
	total := 0
	for id := range uint32(g.count) {
		// A damaged header may name a lower level than elements reach.
		for level := 0; level <= int(g.levels[id]) && level < len(s.Levels); level++ {
			s.Levels[level]++
		}
		n := len(g.near(id, 0))
		if id == 0 {
			s.MinDegree = n
		}
		s.MinDegree, s.MaxDegree = min(s.MinDegree, n), max(s.MaxDegree, n)
		total += n
	}
	if g.count > 0 {
		s.MeanDegree = float64(total) / float64(g.count)
	}
	return s
}
