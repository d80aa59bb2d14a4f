package specimen

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// headerSize is the length of header.bin in bytes.
const headerSize = 100

// header is header.bin as chroma-core/hnswlib writes it: little-endian, not
// padded.
type header struct {
	Version        int32
	OffsetLevel0   uint64
	MaxElements    uint64 // capacity
	Count          uint64 // elements, deleted ones too
	ElementSize    uint64 // bytes of one element in data_level0.bin
	LabelOffset    uint64
	DataOffset     uint64
	MaxLevel       int32
	EntryPoint     uint32
	MaxM, MaxM0    uint64
	M              uint64
	Mult           float64
	EFConstruction uint64
}

// newHeader describes an index of n elements of a dimension.
func newHeader(n, dimension int) header {
	h := header{
		Version: 1, MaxElements: 100, Count: uint64(n),
		DataOffset: maxM0*4 + 4, MaxLevel: -1, EntryPoint: math.MaxUint32,
		MaxM: maxM, MaxM0: maxM0, M: maxM, Mult: 1 / math.Log(maxM), EFConstruction: 100,
	}
	h.LabelOffset = h.DataOffset + 4*uint64(dimension)
	h.ElementSize = h.LabelOffset + 8
	if n > 0 {
		h.MaxLevel, h.EntryPoint = int32(topLevel(n)), 0
	}
	if h.Count >= h.MaxElements {
		// Chroma grows to powers of two once its first hundred are used up.
		h.MaxElements = 1 << bits.Len64(h.Count)
	}
	return h
}

// dimension of the vectors.
func (h header) dimension() int { return int(h.LabelOffset-h.DataOffset) / 4 }

func (h header) bytes() []byte {
	b, err := binary.Append(make([]byte, 0, headerSize), binary.LittleEndian, h)
	if err != nil {
		panic(err) // the struct has fields of fixed size only
	}
	return b
}

func parseHeader(b []byte) (h header, err error) {
	if len(b) != headerSize {
		return h, fmt.Errorf("header of %d bytes, not %d", len(b), headerSize)
	}
	_, err = binary.Decode(b, binary.LittleEndian, &h)
	return h, err
}
