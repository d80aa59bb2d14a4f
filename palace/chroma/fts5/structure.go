package fts5

import "slices"

// Numbers of blocks.
const (
	TotalsBlock    = 1
	StructureBlock = 10

	pageBits    = 31
	segmentBits = pageBits + 1 + 5 // a bit for skip pages, five for their height
)

// Segment is one sorted run, in the leaves First to Last.
type Segment struct {
	ID, First, Last int64
}

// Blocks are the numbers of its first and last leaf.
func (s Segment) Blocks() (from, to int64) {
	return s.ID<<segmentBits | s.First, s.ID<<segmentBits | s.Last
}

// Structure reads block 10: the segments, the oldest first.
func Structure(block []byte) ([]Segment, error) {
	const plain = "a list of segments that is not understood"
	if len(block) < 4 {
		return nil, doubt(plain)
	}
	r := reader{b: block[4:]} // behind a number that changes with the tables
	levels, total := r.varint(), r.varint()
	r.varint() // writes so far
	if r.bad || levels > 64 || total > 1<<16 {
		return nil, doubt(plain)
	}
	var list []Segment
	for range levels {
		r.varint() // how many of them are being merged
		n := r.varint()
		if r.bad || n > total {
			return nil, doubt(plain)
		}
		var level []Segment
		for range n {
			s := Segment{int64(r.varint()), int64(r.varint()), int64(r.varint())}
			if r.bad || s.ID <= 0 || s.ID >= 1<<16 || s.First < 0 || s.Last < s.First || s.Last >= 1<<pageBits {
				return nil, doubt(plain)
			}
			level = append(level, s)
		}
		// Newer levels come first, newer segments of a level last.
		list = append(level, list...)
	}
	if r.bad || len(r.b) != 0 || uint64(len(list)) != total {
		return nil, doubt(plain)
	}
	return slices.DeleteFunc(list, func(s Segment) bool { return s.First == 0 }), nil
}

// reader reads varints: seven bits a byte, the highest first, at most nine
// bytes, the last of which gives all its eight.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) varint() uint64 {
	v, n := varint(r.b)
	if n == 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func varint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// DoubtError says why a comparison came to no verdict: SQLite must be asked.
type DoubtError struct{ Reason string }

func (e *DoubtError) Error() string {
	return "the full-text index could not be compared: " + e.Reason
}

func doubt(reason string) error { return &DoubtError{reason} }
