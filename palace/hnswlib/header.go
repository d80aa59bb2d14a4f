package hnswlib

import (
	"encoding/binary"
	"math"
)

// HeaderSize is the length of header.bin: little-endian, no padding.
const HeaderSize = 100

// Limits that no index comes near. They keep an element within one window.
const (
	maxM         = math.MaxUint16 / 2 // a level-0 count is 16 bits wide
	maxDimension = 1 << 16
	maxLevels    = 64 // an element is above level l with probability M^-l
	maxElements  = math.MaxUint32 - 1
)

// NoEntry is the entry point of an index without elements.
const NoEntry = math.MaxUint32

// Header is header.bin. Neither the space nor the dimension is in it.
type Header struct {
	Version        int32   // 1
	OffsetLevel0   uint64  // 0
	Capacity       uint64  // max_elements: a power of two, at least 100
	Elements       uint64  // cur_element_count, deleted ones included
	ElementSize    uint64  // bytes of one element of data_level0.bin
	LabelOffset    uint64  // of the label in an element
	DataOffset     uint64  // of the vector in an element
	MaxLevel       int32   // -1 without elements
	EntryPoint     uint32  // internal index, NoEntry without elements
	MaxM           uint64  // neighbours a level above 0: M
	MaxM0          uint64  // neighbours at level 0: 2*M
	M              uint64  //
	Mult           float64 // 1/ln(M)
	EfConstruction uint64  //
}

// Offsets of the fields, for messages.
const (
	atVersion        = 0
	atOffsetLevel0   = 4
	atCapacity       = 12
	atElements       = 20
	atElementSize    = 28
	atLabelOffset    = 36
	atDataOffset     = 44
	atMaxLevel       = 52
	atEntryPoint     = 56
	atMaxM           = 60
	atMaxM0          = 68
	atM              = 76
	atMult           = 84
	atEfConstruction = 92
)

// ParseHeader takes the fields out of b, which holds header.bin. Fewer than 100
// bytes are a *ShortError; what the fields say is for Layout and Check.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, &ShortError{File: HeaderFile, Got: int64(len(b)), Want: HeaderSize}
	}
	le := binary.LittleEndian
	return Header{
		Version:        int32(le.Uint32(b[atVersion:])),
		OffsetLevel0:   le.Uint64(b[atOffsetLevel0:]),
		Capacity:       le.Uint64(b[atCapacity:]),
		Elements:       le.Uint64(b[atElements:]),
		ElementSize:    le.Uint64(b[atElementSize:]),
		LabelOffset:    le.Uint64(b[atLabelOffset:]),
		DataOffset:     le.Uint64(b[atDataOffset:]),
		MaxLevel:       int32(le.Uint32(b[atMaxLevel:])),
		EntryPoint:     le.Uint32(b[atEntryPoint:]),
		MaxM:           le.Uint64(b[atMaxM:]),
		MaxM0:          le.Uint64(b[atMaxM0:]),
		M:              le.Uint64(b[atM:]),
		Mult:           math.Float64frombits(le.Uint64(b[atMult:])),
		EfConstruction: le.Uint64(b[atEfConstruction:]),
	}, nil
}

// Append appends the 100 bytes of h to b.
func (h Header) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(h.Version))
	for _, v := range []uint64{h.OffsetLevel0, h.Capacity, h.Elements, h.ElementSize, h.LabelOffset, h.DataOffset} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, uint32(h.MaxLevel))
	b = le.AppendUint32(b, h.EntryPoint)
	for _, v := range []uint64{h.MaxM, h.MaxM0, h.M, math.Float64bits(h.Mult), h.EfConstruction} {
		b = le.AppendUint64(b, v)
	}
	return b
}

// NewHeader is the header of an index of this shape without elements, as hnswlib
// makes it; ef_construction is at least M.
func NewHeader(dimension, m, efConstruction, capacity int) Header {
	data := uint64(2*m*4 + 4)
	label := data + uint64(dimension)*4
	return Header{
		Version: 1, Capacity: uint64(capacity), MaxLevel: -1, EntryPoint: NoEntry,
		DataOffset: data, LabelOffset: label, ElementSize: label + 8,
		MaxM: uint64(m), MaxM0: 2 * uint64(m), M: uint64(m),
		Mult: 1 / math.Log(float64(m)), EfConstruction: uint64(max(efConstruction, m)),
	}
}

// Dimension is the number of floats in a vector, 0 if the offsets make no sense.
func (h Header) Dimension() int {
	d := h.LabelOffset - h.DataOffset
	if h.LabelOffset <= h.DataOffset || d%4 != 0 || d/4 > maxDimension {
		return 0
	}
	return int(d / 4)
}

// linkBlock is the size of one level of one element in link_lists.bin.
func (h Header) linkBlock() int64 { return int64(h.MaxM)*4 + 4 }
