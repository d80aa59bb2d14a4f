package hnswlib

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// Vector reads the stored vector of one element into dst, which must hold
// Dimension floats. For cosine it is a unit vector: what the user stored is
// this times Norm. For l2 and ip it is what the user stored.
func (r *Reader) Vector(internal int, dst []float32) error {
	if len(dst) != r.dim {
		return fmt.Errorf("vector of %d floats asked of an index of dimension %d", len(dst), r.dim)
	}
	if internal < 0 || internal >= r.stored {
		return &ElementError{File: Level0File, Internal: internal, Stored: r.stored}
	}
	b := make([]byte, 4*r.dim)
	at := int64(internal)*int64(r.header.ElementSize) + int64(r.header.DataOffset)
	if err := r.readAt(r.level0, Level0File, b, at); err != nil {
		return err
	}
	decode(dst, b)
	return nil
}

func decode(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// Vectors visits the stored vectors of the given elements in the given order.
// Ascending indexes that lie close together cost one read a window. v is
// overwritten by the next visit.
func (r *Reader) Vectors(ctx context.Context, internals []int, visit func(internal int, v []float32) error) error {
	from := int(r.header.DataOffset)
	v := make([]float32, r.dim)
	t := table{r.level0, Level0File, int(r.header.ElementSize), r.stored}
	return r.pick(ctx, t, internals, func(n int, e []byte) error {
		decode(v, e[from:])
		return visit(internals[n], v)
	})
}

// Norms reads from length.bin, into dst, the norms that the vectors of the given
// elements had before they were divided by them; dst is as long as internals.
// They mean something for cosine only: in the other spaces the file holds
// whatever memory held.
func (r *Reader) Norms(ctx context.Context, internals []int, dst []float32) error {
	if len(dst) != len(internals) {
		return fmt.Errorf("%d norms asked for %d elements", len(dst), len(internals))
	}
	if r.length == nil {
		return &MissingError{Dir: r.files.Dir, File: LengthFile}
	}
	stored := int(min(r.header.Elements, uint64(r.files.Length.Apparent)/4))
	return r.pick(ctx, table{r.length, LengthFile, 4, stored}, internals, func(n int, e []byte) error {
		decode(dst[n:n+1], e)
		return nil
	})
}

// Norm is Norms for one element.
func (r *Reader) Norm(internal int) (float32, error) {
	var norm [1]float32
	err := r.Norms(context.Background(), []int{internal}, norm[:])
	return norm[0], err
}

// table is a file of entries of one size, count of them.
type table struct {
	f     *os.File
	name  string
	size  int
	count int
}

// pick visits the bytes of the nth of the wanted entries, n ascending, reading
// runs of ascending indexes at once.
func (r *Reader) pick(ctx context.Context, t table, wanted []int, visit func(n int, entry []byte) error) error {
	const gap = 8 << 10 // reading over this many bytes costs less than another call
	var buf []byte
	for n := 0; n < len(wanted); {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := wanted[n]
		if first < 0 || first >= t.count {
			return &ElementError{File: t.name, Internal: first, Stored: t.count}
		}
		end := n + 1
		for ; end < len(wanted); end++ {
			step := wanted[end] - wanted[end-1]
			if step <= 0 || step > gap/t.size+1 || wanted[end] >= t.count || (wanted[end]-first+1)*t.size > windowSize {
				break
			}
		}
		length := (wanted[end-1] - first + 1) * t.size
		if length > cap(buf) {
			buf = make([]byte, length, max(length, min(windowSize, 2*cap(buf))))
		}
		if err := r.readAt(t.f, t.name, buf[:length], int64(first)*int64(t.size)); err != nil {
			return err
		}
		for ; n < end; n++ {
			at := (wanted[n] - first) * t.size
			if err := visit(n, buf[at:at+t.size]); err != nil {
				return err
			}
		}
	}
	return nil
}
