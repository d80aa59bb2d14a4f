package hnswlib

import (
	"context"
	"encoding/binary"
)

// deletedMark is bit 0 of the third byte of an element; the two before it are
// the number of its neighbours.
const deletedMark = 1

// Labels visits every element in file order: its internal index, its label, and
// whether it is marked deleted. Insertion in Chroma is parallel, so labels are
// not in order. If data_level0.bin lacks elements, those that are there are
// visited before the *ShortError is returned.
func (r *Reader) Labels(ctx context.Context, visit func(internal int, label uint64, deleted bool) error) error {
	at := int(r.header.LabelOffset)
	err := r.elements(ctx, 0, r.stored, func(internal int, e []byte) error {
		return visit(internal, binary.LittleEndian.Uint64(e[at:]), e[2]&deletedMark != 0)
	})
	if err != nil {
		return err
	}
	return r.shortage()
}

// labelSet is a set of labels. They are nearly dense from 1, so bits serve; the
// map takes what is far ahead of the labels seen so far. Both grow with what is
// added: the header's count alone allocates nothing.
type labelSet struct {
	bits   []uint64
	beyond map[uint64]struct{}
	count  int
}

// add reports whether the label was not there yet.
func (s *labelSet) add(label uint64) bool {
	s.count++
	word := label / 64
	if room := uint64(s.count)/8 + 16; word >= uint64(len(s.bits)) && word < room {
		s.bits = append(s.bits, make([]uint64, room-uint64(len(s.bits)))...)
	}
	if _, was := s.beyond[label]; was {
		return false
	}
	if word < uint64(len(s.bits)) {
		bit := uint64(1) << (label % 64)
		was := s.bits[word]&bit != 0
		s.bits[word] |= bit
		return !was
	}
	if s.beyond == nil {
		s.beyond = make(map[uint64]struct{})
	}
	s.beyond[label] = struct{}{}
	return true
}
