package hnswlib

// visited marks the elements a search has met. An element is marked if its
// entry is the number of the search, so that nothing is emptied between two.
type visited struct {
	marks []uint16
	now   uint16
}

// next forgets all marks and makes room for n elements.
func (v *visited) next(n int) {
	if len(v.marks) < n {
		v.marks = make([]uint16, n)
		v.now = 0
	}
	if v.now++; v.now == 0 { // the numbers of 65,535 searches are used up
		clear(v.marks)
		v.now = 1
	}
}

// mark reports whether id was not marked before.
func (v *visited) mark(id uint32) bool {
	if v.marks[id] == v.now {
		return false
	}
	v.marks[id] = v.now
	return true
}
