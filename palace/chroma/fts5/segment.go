package fts5

import (
	"bytes"
	"encoding/binary"
)

// segment reads the leaves of one segment.
type segment struct {
	c          *Check
	next, last int64
	number     uint16

	term  []byte
	hash  uint64
	open  bool  // a term's entries may go on
	begun bool  // the term has no entry yet
	rowid int64 // of the last entry
	left  int   // bytes of its positions that are still to come
	pos   uint64
	row   *row

	starts []int
}

const odd = "a page is not understood"

func (s *segment) leaf(page int64, b []byte) error {
	if len(b) < 4 {
		return doubt(odd)
	}
	firstRow, foot := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if foot < 4 || foot > len(b) {
		return doubt(odd)
	}
	if err := s.terms(b, foot); err != nil {
		return err
	}
	// What the page before began comes first.
	end := foot
	if len(s.starts) > 0 {
		end = s.starts[0]
	}
	if err := s.carry(b, firstRow, end); err != nil {
		return err
	}
	var first []byte
	for i, at := range s.starts {
		end := foot
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		if s.left > 0 || s.begun {
			return doubt(odd)
		}
		from, err := s.begin(b, at, end, i == 0)
		if err != nil {
			return err
		}
		if i == 0 {
			first = bytes.Clone(s.term)
		}
		if err := s.entries(b[from:end], true); err != nil {
			return err
		}
	}
	if first != nil {
		s.c.note(page, first, s.term)
	}
	return nil
}

// terms reads the footer.
func (s *segment) terms(b []byte, foot int) error {
	s.starts = s.starts[:0]
	r := reader{b: b[foot:]}
	at := 0
	for len(r.b) > 0 {
		d := r.varint()
		if r.bad || d > uint64(foot) || at+int(d) >= foot || len(s.starts) > 0 && d == 0 {
			return doubt(odd)
		}
		at += int(d)
		s.starts = append(s.starts, at)
	}
	if len(s.starts) > 0 && s.starts[0] < 4 {
		return doubt(odd)
	}
	return nil
}

// carry reads the part of a page before its first term.
func (s *segment) carry(b []byte, firstRow, end int) error {
	at := 4
	if n := min(s.left, end-at); n > 0 {
		if err := s.positions(b[at : at+n]); err != nil {
			return err
		}
		at += n
	}
	switch {
	case at == end && firstRow == 0:
		return nil
	case at == end || firstRow != at || !s.open || s.left > 0:
		return doubt(odd)
	}
	return s.entries(b[at:end], true)
}

// begin reads a term. The first of a page is whole, the others share a
// beginning with the one before.
func (s *segment) begin(b []byte, at, end int, whole bool) (int, error) {
	r := reader{b: b[at:end]}
	keep := uint64(0)
	if !whole {
		keep = r.varint()
	}
	n := r.varint()
	if r.bad || keep > uint64(len(s.term)) || n > uint64(len(r.b)) {
		return 0, doubt(odd)
	}
	was := s.term
	s.term = append(append(make([]byte, 0, 16), s.term[:keep]...), r.b[:n]...)
	if s.open && bytes.Compare(was, s.term) >= 0 {
		return 0, doubt("terms are not in order")
	}
	t, ok := s.c.fold.term(s.term)
	if !ok {
		return 0, doubt("a term is no trigram")
	}
	s.hash, s.open, s.begun = t.hash(), true, true
	return end - len(r.b) + int(n), nil
}

// entries reads rowids with their positions. The first of a term or of a page is
// a number, the others are differences. Most numbers are one byte long: this is
// where the time goes.
func (s *segment) entries(b []byte, whole bool) error {
	rows, hash := s.c.rows, s.hash
	for p := 0; p < len(b); {
		var d, size uint64
		if p+1 < len(b) && b[p] < 0x80 && b[p+1] < 0x80 {
			d, size = uint64(b[p]), uint64(b[p+1])
			p += 2
		} else {
			var n, m int
			d, n = varint(b[p:])
			size, m = varint(b[min(p+n, len(b)):])
			if n == 0 || m == 0 || size>>1 > 1<<30 {
				return doubt(odd)
			}
			p += n + m
		}
		was := s.rowid
		if whole {
			s.rowid = int64(d)
		} else {
			s.rowid += int64(d)
		}
		if !s.begun && s.rowid <= was {
			return doubt("row numbers are not in order")
		}
		whole, s.begun = false, false
		var r *row
		if uint64(s.rowid) < uint64(len(rows)) {
			r = &rows[s.rowid]
		} else if r = s.c.row(s.rowid); r == nil {
			return doubt("it has many rows of texts that are gone")
		}
		left := int(size >> 1)
		if s.c.seen != nil {
			if r = s.c.effective(r, s.rowid, hash); r == nil {
				return doubt("too many texts were filed again")
			}
		} else {
			r.meet(s.number, hash, left > 0, size&1 != 0)
		}
		if left == 1 && p < len(b) && b[p] >= 2 && b[p] < 0x80 {
			r.got += at(hash, uint32(b[p]-2))
			p++
			s.left = 0
			continue
		}
		s.row, s.left, s.pos = r, left, 0
		k := min(left, len(b)-p)
		if err := s.positions(b[p : p+k]); err != nil {
			return err
		}
		p += k
	}
	return nil
}

// positions reads some of an entry's positions: differences, two more than they
// are. There is one column, so its mark must not occur.
func (s *segment) positions(b []byte) error {
	s.left -= len(b)
	// One more than the position, so that 0 means that none was read.
	pos, sum, hash := s.pos, uint64(0), s.hash
	if pos == 0 && len(b) > 0 {
		pos = 1
		if b[0] == 2 { // the first may be 0, the others move on
			sum, b = at(hash, 0), b[1:]
		}
	}
	for i := 0; i < len(b); {
		d := uint64(b[i])
		i++
		if d >= 0x80 {
			var n int
			if d, n = varint(b[i-1:]); n == 0 {
				return doubt(odd)
			}
			i += n - 1
		}
		if d <= 2 {
			return doubt("positions are not in order")
		}
		pos += d - 2
		sum += at(hash, uint32(pos-1))
	}
	s.pos = pos
	s.row.got += sum
	return nil
}
