package hnswtest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"castellan/palace/hnswlib"
)

// Segment describes a segment. Only Dimension must be given; without vectors it
// is one that was never flushed.
type Segment struct {
	Dimension      int
	M              int  // 0: 16
	EfConstruction int  // 0: 100
	Capacity       int  // 0: as Chroma grows, a power of two of at least 100
	Cosine         bool // store unit vectors and their norms

	Vectors [][]float32 // as the user gave them
	Labels  []uint64    // nil: 1, 2, 3...
	Deleted []bool      // nil: none
	Levels  []int       // nil: one in M elements above level 0, one in M*M above 1
	// IDs, if given, are written to index_metadata.pickle with the labels of the
	// elements that are not deleted, as the Rust core of Chroma does.
	IDs []string
	// Rough gives each element the M elements after it as neighbours instead of
	// the nearest: for big files whose graph nobody searches.
	Rough bool
}

// Write writes the files of s into dir, which it creates.
func Write(dir string, s Segment) error {
	s.fill()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	write := func(name string, content func(w *bufio.Writer)) error {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		content(w)
		if err := w.Flush(); err != nil {
			f.Close()
			return fmt.Errorf("%s: %w", name, err)
		}
		return f.Close()
	}
	type file struct {
		name    string
		content func(*bufio.Writer)
	}
	files := []file{
		{hnswlib.HeaderFile, func(w *bufio.Writer) { w.Write(s.Header().Append(nil)) }},
		{hnswlib.Level0File, s.level0},
		{hnswlib.LengthFile, s.lengths},
		{hnswlib.LinksFile, s.links},
	}
	if s.IDs != nil {
		files = append(files, file{hnswlib.PickleFile, s.pickle})
	}
	for _, f := range files {
		if err := write(f.name, f.content); err != nil {
			return err
		}
	}
	return nil
}

func (s *Segment) fill() {
	n := len(s.Vectors)
	if s.M == 0 {
		s.M = 16
	}
	if s.EfConstruction == 0 {
		s.EfConstruction = 100
	}
	if s.Capacity == 0 {
		s.Capacity = 100
		if n > 100 {
			s.Capacity = 1 << bits.Len(uint(n))
		}
	}
	if s.Labels == nil {
		s.Labels = make([]uint64, n)
		for i := range s.Labels {
			s.Labels[i] = uint64(i) + 1
		}
	}
	if s.Deleted == nil {
		s.Deleted = make([]bool, n)
	}
	if s.Levels == nil {
		s.Levels = make([]int, n)
		for i := range s.Levels {
			for step := s.M; (i+1)%step == 0; step *= s.M {
				s.Levels[i]++
			}
		}
	}
}

// Header is the header of the segment.
func (s Segment) Header() hnswlib.Header {
	s.fill()
	h := hnswlib.NewHeader(s.Dimension, s.M, s.EfConstruction, s.Capacity)
	h.Elements = uint64(len(s.Vectors))
	for i, level := range s.Levels {
		if int32(level) > h.MaxLevel {
			h.MaxLevel, h.EntryPoint = int32(level), uint32(i)
		}
	}
	return h
}

// Stored is the vector as it stands in the file, and its norm: computed in
// float32, as Chroma does.
func (s Segment) Stored(i int) (v []float32, norm float32) {
	var sum float32
	for _, x := range s.Vectors[i] {
		sum += x * x
	}
	norm = float32(math.Sqrt(float64(sum)))
	if !s.Cosine {
		return s.Vectors[i], norm
	}
	scale := 1 / (norm + 1e-30)
	v = make([]float32, len(s.Vectors[i]))
	for j, x := range s.Vectors[i] {
		v[j] = x * scale
	}
	return v, norm
}

// level0 writes the elements, and empty slots up to the hundredth.
func (s *Segment) level0(w *bufio.Writer) {
	le := binary.LittleEndian
	var e []byte
	near := s.graph(0, 2*s.M)
	for i := range s.Vectors {
		e = e[:0]
		list := near(i)
		e = le.AppendUint16(e, uint16(len(list)))
		mark := byte(0)
		if s.Deleted[i] {
			mark = 1
		}
		e = append(e, mark, 0)
		for j := range 2 * s.M {
			n := uint32(0)
			if j < len(list) {
				n = list[j]
			}
			e = le.AppendUint32(e, n)
		}
		v, _ := s.Stored(i)
		for _, x := range v {
			e = le.AppendUint32(e, math.Float32bits(x))
		}
		w.Write(le.AppendUint64(e, s.Labels[i]))
	}
	for i := len(s.Vectors); i < 100; i++ {
		w.Write(make([]byte, 2*s.M*4+4+s.Dimension*4+8))
	}
}

func (s *Segment) lengths(w *bufio.Writer) {
	var b [4]byte
	for i := range max(100, len(s.Vectors)) {
		norm := float32(0)
		if i < len(s.Vectors) {
			_, norm = s.Stored(i)
		}
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(norm))
		w.Write(b[:])
	}
}

func (s *Segment) links(w *bufio.Writer) {
	le := binary.LittleEndian
	top := 0
	if len(s.Levels) > 0 {
		top = slices.Max(s.Levels)
	}
	near := make([]func(int) []uint32, top+1)
	for level := 1; level <= top; level++ {
		near[level] = s.graph(level, s.M)
	}
	for i, level := range s.Levels {
		b := le.AppendUint32(nil, uint32(level*(s.M*4+4)))
		for l := 1; l <= level; l++ {
			list := near[l](i)
			b = le.AppendUint32(b, uint32(len(list)))
			for j := range s.M {
				n := uint32(0)
				if j < len(list) {
					n = list[j]
				}
				b = le.AppendUint32(b, n)
			}
		}
		w.Write(b)
	}
}
