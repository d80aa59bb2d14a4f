package hnswtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Files are the bytes of a segment, whole and in memory.
type Files struct {
	Header, Level0, Length, Links []byte
}

// Oracle judges a segment the plain way, without the package under test: every
// byte is in memory and every rule is one statement. It returns what is wrong
// first, nil for a segment that every search can rely on. ids are the labels
// that live elements must have, nil where there is no pickle.
func Oracle(f Files, dimension int, cosine bool, ids []uint64) error {
	le := binary.LittleEndian
	h := f.Header
	if len(h) != 100 {
		return fmt.Errorf("header of %d bytes", len(h))
	}
	var (
		capacity, n     = le.Uint64(h[12:]), le.Uint64(h[20:])
		size, labelAt   = le.Uint64(h[28:]), le.Uint64(h[36:])
		dataAt          = le.Uint64(h[44:])
		top             = int32(le.Uint32(h[52:]))
		entry           = uint64(le.Uint32(h[56:]))
		maxM, maxM0, mm = le.Uint64(h[60:]), le.Uint64(h[68:]), le.Uint64(h[76:])
	)
	switch {
	case le.Uint32(h) != 1, le.Uint64(h[4:]) != 0:
		return errors.New("version or offset")
	case mm == 0 || mm > 1000 || maxM != mm || maxM0 != 2*mm || dataAt != 4+4*maxM0:
		return errors.New("M")
	case labelAt != dataAt+4*uint64(dimension) || size != labelAt+8:
		return errors.New("sizes")
	case capacity < n || capacity == 0:
		return errors.New("capacity")
	case uint64(len(f.Level0)) < n*size || n > 1<<30, uint64(len(f.Length)) < 4*n:
		return errors.New("short")
	case n > 0 && entry >= n:
		return errors.New("entry point")
	}
	// Levels first: a neighbour can only be judged by them.
	blocks := make([][]byte, n)
	rest := f.Links
	for i := range blocks {
		if len(rest) < 4 {
			return errors.New("links end early")
		}
		length := uint64(le.Uint32(rest))
		if length%(4*maxM+4) != 0 || uint64(len(rest)-4) < length {
			return fmt.Errorf("links of %d", i)
		}
		blocks[i], rest = rest[4:4+length], rest[4+length:]
	}
	if len(rest) > 0 {
		return errors.New("links go on")
	}
	level := func(i uint64) int { return len(blocks[i]) / int(4*maxM+4) }
	list := func(i uint64, l int) []byte {
		if l == 0 {
			return f.Level0[i*size : i*size+dataAt]
		}
		block := int(4*maxM + 4)
		return blocks[i][(l-1)*block : l*block]
	}
	if n > 0 && int(top) != level(entry) {
		return errors.New("the entry point is not on the highest level")
	}
	near := func(i uint64, l int) (out []uint64, err error) {
		b := list(i, l)
		most := maxM
		if l == 0 {
			most = maxM0
		}
		count := uint64(le.Uint16(b))
		if count > most || b[2] > 1 || b[3] != 0 {
			return nil, fmt.Errorf("list of %d on level %d", i, l)
		}
		seen := map[uint64]bool{i: true}
		for k := range count {
			j := uint64(le.Uint32(b[4+4*k:]))
			if j >= n || seen[j] || level(j) < l {
				return nil, fmt.Errorf("neighbour %d of %d on level %d", j, i, l)
			}
			seen[j] = true
			out = append(out, j)
		}
		return out, nil
	}
	live := map[uint64]bool{}
	labels := map[uint64]bool{}
	for i := range n {
		if level(i) > int(top) {
			return fmt.Errorf("%d above the top", i)
		}
		for l := range level(i) + 1 {
			if _, err := near(i, l); err != nil {
				return err
			}
		}
		label := le.Uint64(f.Level0[i*size+labelAt:])
		if label == 0 || labels[label] {
			return fmt.Errorf("label %d of %d", label, i)
		}
		labels[label] = true
		if f.Level0[i*size+2]&1 == 0 {
			live[label] = true
		}
		var sum float64
		for k := dataAt; k < labelAt; k += 4 {
			x := float64(math.Float32frombits(le.Uint32(f.Level0[i*size+k:])))
			sum += x * x
		}
		length := math.Float32frombits(le.Uint32(f.Length[4*i:]))
		if cosine && !(math.Abs(math.Sqrt(sum)-1) <= 1e-5 && length > 0 && length <= math.MaxFloat32) || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("norm of %d", i)
		}
	}
	for _, label := range ids {
		if !live[label] {
			return fmt.Errorf("label %d is not there", label)
		}
	}
	if ids != nil && len(ids) != len(live) {
		return errors.New("elements that nobody owns")
	}
	if n == 0 {
		return nil
	}
	// Every element that a level is left by is one that the next may begin at.
	reached := map[uint64]bool{entry: true}
	for l := int(top); l >= 0; l-- {
		for grown := true; grown; {
			grown = false
			for i := range n {
				if !reached[i] {
					continue
				}
				list, err := near(i, l)
				if err != nil {
					return err
				}
				for _, j := range list {
					if !reached[j] {
						reached[j], grown = true, true
					}
				}
			}
		}
	}
	for i := range n {
		if !reached[i] && f.Level0[i*size+2]&1 == 0 {
			return fmt.Errorf("%d cannot be reached", i)
		}
	}
	return nil
}
