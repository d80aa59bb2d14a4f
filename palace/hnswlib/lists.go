package hnswlib

import "encoding/binary"

// listCheck judges neighbour lists, one after the other.
type listCheck struct {
	// A slot is the number of the list it was filled for << 32 | a neighbour, so
	// that nothing needs to be emptied between two lists.
	slots [256]uint64
	list  uint64
}

// sound checks one list of the element self: a uint16 count of at most most, two
// bytes of marks, and as many internal indexes of other elements, each once. Of
// the marks only the deleted one means anything; hnswlib zeroes the others.
func (c *listCheck) sound(list []byte, self int, most, elements uint64) bool {
	count := int(binary.LittleEndian.Uint16(list))
	if uint64(count) > most || list[2]&^deletedMark != 0 || list[3] != 0 {
		return false
	}
	c.list++
	var many map[uint32]bool // for lists the slots would be crowded by
	if count > len(c.slots)/2 {
		many = make(map[uint32]bool, count)
	}
	for i := range count {
		n := binary.LittleEndian.Uint32(list[4+4*i:])
		if uint64(n) >= elements || int(n) == self {
			return false
		}
		switch {
		case many == nil:
			if !c.first(n) {
				return false
			}
		case many[n]:
			return false
		default:
			many[n] = true
		}
	}
	return true
}

// first reports whether n has not been seen in this list.
func (c *listCheck) first(n uint32) bool {
	want := c.list<<32 | uint64(n)
	for i := n * 0x9e3779b1 >> 24; ; i = (i + 1) % uint32(len(c.slots)) {
		switch slot := c.slots[i]; {
		case slot == want:
			return false
		case slot>>32 != c.list&(1<<32-1):
			c.slots[i] = want
			return true
		}
	}
}
