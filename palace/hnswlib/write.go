package hnswlib

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"

	"castellan/palace/durable"
)

// leastCapacity is the room of an index in Chroma's eyes: it loads a smaller one
// as one of this size, and files hold as many elements at least.
const leastCapacity = 100

// Capacity is the room Chroma gives an index of n elements: the next power of
// two, and more than n.
func Capacity(n int) int {
	if n < leastCapacity {
		return leastCapacity
	}
	return 1 << bits.Len(uint(n))
}

// Header is the header.bin of the graph.
func (g *Graph) Header() Header {
	h := NewHeader(g.dim, g.m, g.ef, Capacity(g.count))
	h.Elements = uint64(g.count)
	h.MaxLevel, h.EntryPoint = int32(g.maxLevel), g.entry
	return h
}

// Write writes the four files of the graph into dir, which must not exist: an
// index that is in use is replaced by renaming a whole one into its place, never
// written over. Files and directory are on the disk when it returns, with the
// rights of their owner only; after an error nothing is left of them.
// index_metadata.pickle is the caller's, and the last to be written.
func (g *Graph) Write(ctx context.Context, dir string) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("index files go into a fresh directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	for _, f := range []struct {
		name    string
		content func(context.Context, *bufio.Writer) error
	}{
		{HeaderFile, g.writeHeader}, {Level0File, g.writeLevel0},
		{LengthFile, g.writeLengths}, {LinksFile, g.writeLinks},
	} {
		if err := writeFile(ctx, filepath.Join(dir, f.name), f.content); err != nil {
			return err
		}
	}
	if err := durable.SyncDir(dir); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

func writeFile(ctx context.Context, path string, content func(context.Context, *bufio.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("index file: %w", err)
	}
	w := bufio.NewWriterSize(f, windowSize)
	err = content(ctx, w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (g *Graph) writeHeader(_ context.Context, w *bufio.Writer) error {
	_, err := w.Write(g.Header().Append(nil))
	return err
}

// writeLevel0 writes the elements, and zeros up to the hundredth.
func (g *Graph) writeLevel0(ctx context.Context, w *bufio.Writer) error {
	le := binary.LittleEndian
	size := int(g.Header().ElementSize)
	e := make([]byte, 0, size)
	for i := range g.count {
		id := uint32(i)
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		mark := byte(0)
		if g.isDead(id) {
			mark = deletedMark
		}
		list := g.list0(id)
		e = append(le.AppendUint16(e[:0], uint16(list[0])), mark, 0)
		e = appendList(e, list)
		for _, x := range g.vector(id) {
			e = le.AppendUint32(e, math.Float32bits(x))
		}
		if _, err := w.Write(le.AppendUint64(e, g.labels[i])); err != nil {
			return err
		}
	}
	return pad(w, size*(leastCapacity-g.count))
}

// writeLengths writes the norms. Spaces without them get zeros, where hnswlib
// leaves whatever memory held.
func (g *Graph) writeLengths(_ context.Context, w *bufio.Writer) error {
	var b [4]byte
	for _, norm := range g.norms {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(norm))
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	return pad(w, 4*(max(leastCapacity, g.count)-len(g.norms)))
}

func (g *Graph) writeLinks(ctx context.Context, w *bufio.Writer) error {
	le := binary.LittleEndian
	block := int(g.Header().linkBlock())
	var b []byte
	for i, top := range g.levels {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		b = le.AppendUint32(b[:0], uint32(int(top)*block))
		for l := 1; l <= int(top); l++ {
			list := g.list(uint32(i), l)
			b = appendList(le.AppendUint32(b, list[0]), list)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendList appends the room of a list: its neighbours, then zeros rather than
// what stood there before it was chosen anew.
func appendList(b []byte, list []uint32) []byte {
	for i, id := range list[1:] {
		if i >= int(list[0]) {
			id = 0
		}
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return b
}

func pad(w *bufio.Writer, n int) error {
	for ; n > 0; n-- {
		if err := w.WriteByte(0); err != nil {
			return err
		}
	}
	return nil
}
