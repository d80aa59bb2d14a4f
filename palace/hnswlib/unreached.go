package hnswlib

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Reach is what can be arrived at from the entry point. A search descends from
// there, moves along the lists of one level and takes up the level below where
// it stopped: what no such path leads to, no search finds, however sound its
// vector.
type Reach struct {
	// Reached elements, tombstones included: searches walk through them.
	Reached int
	// Unreachable elements that are not deleted, and First of them, -1 without.
	Unreachable int
	First       int
	// Buried are tombstones that no path leads to, which does no harm.
	Buried int
	// Above counts, by level from 1, the elements of it that no path on it leads
	// to. Searches lose a shortcut there, not an answer.
	Above []int
}

// bitset is a set of internal indexes that grows with what is put in.
type bitset []uint64

func (s *bitset) set(i int) {
	for i>>6 >= len(*s) {
		*s = append(*s, make([]uint64, max(64, len(*s)/2, 1))...)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

func (s bitset) has(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 != 0 }

func (s bitset) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// levels is the level of every element, and where its record is. Only one in M
// elements is above level 0.
type levels struct {
	of     []uint8
	uppers []upper
}

type upper struct {
	internal uint32
	at       int64 // of the record in link_lists.bin
}

func (l *levels) add(internal, level int, at int64) {
	l.of = append(l.of, uint8(level))
	if level > 0 {
		l.uppers = append(l.uppers, upper{uint32(internal), at})
	}
}

// level is -1 for an element whose record was not read.
func (l *levels) level(i uint32) int {
	if uint64(i) >= uint64(len(l.of)) {
		return -1
	}
	return int(l.of[i])
}

func (l *levels) record(i uint32) (int64, bool) {
	at, found := slices.BinarySearchFunc(l.uppers, i, func(a upper, i uint32) int { return int(int64(a.internal) - int64(i)) })
	if !found {
		return 0, false
	}
	return l.uppers[at].at, true
}

// reach follows the links, level by level from the top, breadth first: a front
// in file order costs few reads, and no graph more than one for each element.
func (e *exam) reach(ctx context.Context) error {
	r, f := e.r, e.f
	if r.header.Elements == 0 || f.Links.Records < r.stored || int(r.header.EntryPoint) >= r.stored {
		return nil // nothing to follow, or told by the others
	}
	if err := e.checkLevels(ctx); err != nil {
		return err
	}
	entry := r.header.EntryPoint
	top := e.levels.level(entry)
	reach := &Reach{First: -1, Above: make([]int, top)}
	start := []int{int(entry)}
	for level := top; level > 0; level-- {
		seen, err := e.spread(ctx, start, func(front []int, meet func(uint32)) error { return e.above(ctx, front, level, meet) })
		if err != nil {
			return err
		}
		start = start[:0]
		for _, a := range e.levels.uppers {
			switch {
			case seen.has(int(a.internal)):
				start = append(start, int(a.internal))
			case e.levels.level(a.internal) >= level:
				reach.Above[level-1]++
			}
		}
	}
	size := int(r.header.ElementSize)
	t := table{r.level0, Level0File, size, r.stored}
	seen, err := e.spread(ctx, start, func(front []int, meet func(uint32)) error {
		return r.pick(ctx, t, front, func(_ int, b []byte) error {
			eachNeighbour(b, r.header.MaxM0, meet)
			e.read(size)
			return nil
		})
	})
	if err != nil {
		return err
	}
	reach.Reached = seen.count()
	f.Reach = reach
	return e.unreached(ctx, seen)
}

// eachNeighbour hands out the neighbours of a list, as many as there can be.
func eachNeighbour(list []byte, most uint64, meet func(uint32)) {
	n := min(uint64(binary.LittleEndian.Uint16(list)), most)
	for k := range n {
		meet(binary.LittleEndian.Uint32(list[4+4*k:]))
	}
}

// spread goes from the start wherever the lists lead that read hands out.
// Neighbours that do not exist are passed over; others have told of them.
func (e *exam) spread(ctx context.Context, start []int, read func(front []int, meet func(uint32)) error) (bitset, error) {
	var seen bitset
	for _, i := range start {
		seen.set(i)
	}
	stored := uint32(e.r.stored)
	front := slices.Clone(start)
	var next []int
	meet := func(i uint32) {
		if i < stored && !seen.has(int(i)) {
			seen.set(int(i))
			next = append(next, int(i))
		}
	}
	for len(front) > 0 {
		if err := ctx.Err(); err != nil {
			return seen, err
		}
		next = next[:0]
		if err := read(front, meet); err != nil {
			return seen, err
		}
		slices.Sort(next)
		front, next = next, front
	}
	return seen, nil
}

// above reads the lists of one level above 0.
func (e *exam) above(ctx context.Context, front []int, level int, meet func(uint32)) error {
	r := e.r
	buf := make([]byte, r.header.linkBlock())
	for _, i := range front {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, ok := e.levels.record(uint32(i))
		if !ok || e.levels.level(uint32(i)) < level {
			continue // told by checkLevels
		}
		at += 4 + int64(level-1)*int64(len(buf))
		if err := r.readAt(r.links, LinksFile, buf, at); err != nil {
			return err
		}
		eachNeighbour(buf, r.header.MaxM, meet)
	}
	return nil
}

// checkLevels looks for neighbours on levels that they do not reach. hnswlib
// reads such a neighbour's list beyond its end.
func (e *exam) checkLevels(ctx context.Context) error {
	l := &e.f.Links
	for _, a := range e.levels.uppers {
		top := e.levels.level(a.internal)
		bad := false
		for level := 1; level <= top; level++ {
			err := e.above(ctx, []int{int(a.internal)}, level, func(i uint32) {
				known := e.levels.level(i)
				bad = bad || known >= 0 && known < level
			})
			if err != nil {
				return err
			}
		}
		if bad {
			if l.BadLevels++; l.BadLevels == 1 {
				l.FirstBadLevel = a.at
			}
		}
	}
	if l.BadLevels > 0 {
		e.f.fault(Fault{
			Kind: FaultLevels, File: LinksFile, Offset: l.FirstBadLevel, Count: l.BadLevels,
			Got: "a record with a neighbour on a level that the neighbour does not reach",
		})
	}
	return nil
}

// unreached tells which elements no path leads to, part by part: in a file of
// holes it is nearly all of them.
func (e *exam) unreached(ctx context.Context, seen bitset) error {
	const part = 1 << 16
	r, reach := e.r, e.f.Reach
	labelAt := int(r.header.LabelOffset)
	t := table{r.level0, Level0File, int(r.header.ElementSize), r.stored}
	var lost []int
	flush := func() error {
		err := r.pick(ctx, t, lost, func(n int, b []byte) error {
			if b[2]&deletedMark != 0 {
				reach.Buried++
				return nil
			}
			if reach.Unreachable++; reach.Unreachable == 1 {
				reach.First = lost[n]
			}
			if e.Unreached != nil {
				e.Unreached(binary.LittleEndian.Uint64(b[labelAt:]))
			}
			return nil
		})
		lost = lost[:0]
		return err
	}
	for i := range r.stored {
		if !seen.has(i) {
			lost = append(lost, i)
		}
		if len(lost) == part {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if reach.Unreachable > 0 {
		e.f.fault(Fault{
			Kind: FaultUnreached, File: Level0File, Offset: int64(reach.First) * int64(r.header.ElementSize), Count: reach.Unreachable,
			Got: "an element that no path from the entry point leads to",
		})
	}
	return nil
}
