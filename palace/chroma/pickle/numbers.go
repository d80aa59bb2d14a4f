package pickle

// numbers is a set of labels. They are nearly dense from 1, so bits serve; the
// map takes what a damaged or hostile file puts beyond.
type numbers struct {
	bits   []uint64
	beyond map[uint64]struct{}
}

func newNumbers(n int) *numbers {
	return &numbers{
		// Labels are never reused: room for a palace that has deleted seven of eight.
		bits:   make([]uint64, n/8+1),
		beyond: make(map[uint64]struct{}),
	}
}

// add reports whether v was not there yet.
func (s *numbers) add(v uint64) bool {
	if word := v / 64; word < uint64(len(s.bits)) {
		bit := uint64(1) << (v % 64)
		was := s.bits[word]&bit != 0
		s.bits[word] |= bit
		return !was
	}
	_, was := s.beyond[v]
	s.beyond[v] = struct{}{}
	return !was
}
