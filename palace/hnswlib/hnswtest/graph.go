package hnswtest

import (
	"cmp"
	"slices"
)

// graph returns, for one level, the neighbours of an element: the nearest of
// those that reach the level, and the next of them in file order, which joins
// all into a ring, so that every one can be reached.
func (s *Segment) graph(level, most int) func(i int) []uint32 {
	var members []uint32
	place := make(map[uint32]int)
	for i, l := range s.Levels {
		if l >= level {
			place[uint32(i)] = len(members)
			members = append(members, uint32(i))
		}
	}
	after := func(i, step int) uint32 { return members[(place[uint32(i)]+step)%len(members)] }
	if s.Rough {
		return func(i int) []uint32 {
			list := make([]uint32, min(most, len(members)-1))
			for j := range list {
				list[j] = after(i, j+1)
			}
			return list
		}
	}
	return func(i int) []uint32 {
		if len(members) < 2 {
			return nil
		}
		type other struct {
			at   uint32
			dist float32
		}
		var all []other
		v, _ := s.Stored(i)
		for _, m := range members {
			if int(m) != i {
				u, _ := s.Stored(int(m))
				all = append(all, other{m, distance(u, v)})
			}
		}
		slices.SortFunc(all, func(a, b other) int { return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.at, b.at)) })
		next := after(i, 1)
		list := []uint32{next}
		for _, o := range all {
			if len(list) < most && o.at != next {
				list = append(list, o.at)
			}
		}
		return list
	}
}

func distance(a, b []float32) float32 {
	var sum float32
	for i := range a {
		d := a[i] - b[i]
		sum += d * d
	}
	return sum
}
