package hnswlib

// Unreachable counts the elements that no path on level 0 leads to from the
// entry point.
func (g *Graph) Unreachable() int {
	if g.count == 0 {
		return 0
	}
	return g.count - g.reached(g.entry, make([]bool, g.count))
}
