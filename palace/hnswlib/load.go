package hnswlib

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// defaultLimit is the memory a graph takes at most if nothing is said: an index of
// some five million vectors of dimension 384.
const defaultLimit = 8 << 30

// TooLargeError reports an index that does not fit into the memory it may take.
type TooLargeError struct {
	Dir         string // "" for one being built
	Need, Limit int64  // bytes
}

func (e *TooLargeError) Error() string {
	s := fmt.Sprintf("the index needs %d MiB of memory and may take %d: do without it, or allow more", e.Need>>20, e.Limit>>20)
	if e.Dir != "" {
		s = e.Dir + ": " + s
	}
	return s
}

// Load reads the whole index into memory, window by window, to be searched. It
// takes at most limit bytes (0: 8 GiB) and refuses more with a *TooLargeError
// before anything is allocated: a sparse file is as long as somebody likes.
//
// Damage does not stop it. What cannot be followed is left out and counted in
// Graph.Damage; the answers are then those that hnswlib would give if it did
// not read beyond its arrays. Errors are the context's, or of a disk that
// cannot be read, or a *ShortError of a data_level0.bin cut while it was read.
func Load(ctx context.Context, r *Reader, space Space, limit int64) (*Graph, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	h := r.header
	g := &Graph{space: space, dim: r.dim, m: int(h.M), ef: int(min(h.EfConstruction, math.MaxInt32)), count: r.stored}
	g.damage.Short = int(h.Elements - uint64(r.stored))
	need := int64(g.count) * int64(4*g.dim+4*(1+2*g.m)+8+1+4+4)
	if need > limit {
		return nil, &TooLargeError{Dir: r.files.Dir, Need: need, Limit: limit}
	}
	g.allocate()
	size, labelAt := 1+2*g.m, int(h.LabelOffset)
	err := r.elements(ctx, 0, g.count, func(i int, e []byte) error {
		id := uint32(i)
		g.take(g.links[i*size:(i+1)*size], e, id, 0)
		v := g.vector(id)
		decode(v, e[h.DataOffset:])
		g.labels[i] = binary.LittleEndian.Uint64(e[labelAt:])
		switch whole := finite(v); {
		case !whole || g.labels[i] == 0:
			// Kept as a way to its neighbours, as a deleted one is. A NaN would make
			// every heap it comes into a heap no more.
			if !whole {
				clear(v)
			}
			g.damage.Elements++
			g.kill(id)
		case e[2]&deletedMark != 0:
			g.kill(id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if space == Cosine {
		if err := g.loadNorms(r); err != nil {
			return nil, err
		}
	}
	if err := g.loadLinks(ctx, r, (limit-need)/4); err != nil {
		return nil, err
	}
	g.chooseEntry(h)
	return g, nil
}

// allocate makes room for count elements without any list above level 0.
func (g *Graph) allocate() {
	g.vectors = make([]float32, g.count*g.dim)
	g.links = make([]uint32, g.count*(1+2*g.m))
	g.labels = make([]uint64, g.count)
	g.levels = make([]uint8, g.count)
	g.upperAt = make([]uint32, g.count)
	g.maxLevel, g.entry = -1, NoEntry
	if g.space == Cosine {
		g.norms = make([]float32, g.count)
	}
}

// take decodes a list of the files into one of the graph, without the
// neighbours that cannot be followed. Whether they reach a level above 0 is not
// known yet.
func (g *Graph) take(dst []uint32, b []byte, self uint32, level int) {
	declared := int(binary.LittleEndian.Uint16(b))
	if declared > len(dst)-1 {
		declared = len(dst) - 1
		g.damage.Lists++
	}
	n := uint32(0)
	for i := range declared {
		id := binary.LittleEndian.Uint32(b[4+4*i:])
		if uint64(id) >= uint64(g.count) || id == self {
			g.damage.Neighbours++
			continue
		}
		n++
		dst[n] = id
	}
	dst[0] = n
}

// loadNorms reads length.bin as far as it goes.
func (g *Graph) loadNorms(r *Reader) error {
	if r.length == nil {
		return nil
	}
	n := int(min(int64(g.count), r.files.Length.Apparent/4))
	b := make([]byte, min(4*n, windowSize))
	for at := 0; at < n; {
		part := b[:min(len(b), 4*(n-at))]
		if err := r.readAt(r.length, LengthFile, part, int64(4*at)); err != nil {
			return err
		}
		decode(g.norms[at:at+len(part)/4], part)
		at += len(part) / 4
	}
	return nil
}

// loadLinks reads link_lists.bin up to the first record that cannot be right,
// into at most room entries.
func (g *Graph) loadLinks(ctx context.Context, r *Reader, room int64) error {
	if r.links == nil {
		g.damage.Links = g.count > 0
		return nil
	}
	in := newRecords(r)
	size := 1 + g.m
	for i := range g.count {
		if i%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		b, err := in.next()
		level := len(b) / (4 * size)
		grown := int64(len(g.upper) + level*size)
		if err == io.EOF || grown > room || grown > math.MaxUint32 {
			g.damage.Links = true
			break
		}
		if err != nil {
			return err
		}
		g.levels[i], g.upperAt[i] = uint8(level), uint32(len(g.upper))
		for l := range level {
			g.upper = append(g.upper, make([]uint32, size)...)
			g.take(g.upper[len(g.upper)-size:], b[4*size*l:], uint32(i), l+1)
		}
	}
	for i, top := range g.levels {
		for l := 1; l <= int(top); l++ {
			g.dropLow(g.list(uint32(i), l), l)
		}
	}
	return nil
}

// dropLow takes the neighbours that do not reach the level out of a list.
func (g *Graph) dropLow(list []uint32, level int) {
	n := uint32(0)
	for _, id := range list[1 : 1+list[0]] {
		if int(g.levels[id]) < level {
			g.damage.Neighbours++
			continue
		}
		n++
		list[n] = id
	}
	list[0] = n
}

// chooseEntry takes the header's entry point, or the first of the highest
// elements if that one cannot be it.
func (g *Graph) chooseEntry(h Header) {
	if g.count == 0 {
		return
	}
	if e := h.EntryPoint; uint64(e) < uint64(g.count) && h.MaxLevel >= 0 && int32(g.levels[e]) >= h.MaxLevel {
		g.entry, g.maxLevel = e, int(h.MaxLevel)
		return
	}
	g.damage.Entry = true
	for i, level := range g.levels {
		if int(level) > g.maxLevel {
			g.entry, g.maxLevel = uint32(i), int(level)
		}
	}
}
