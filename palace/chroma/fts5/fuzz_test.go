package fts5

import (
	"errors"
	"testing"
)

// leaf is a page with the term "0abc" in rows 1 and 3, at the positions 0 and 5,
// and "0abd" in row 1.
var leaf = []byte{0, 0, 0, 21,
	4, '0', 'a', 'b', 'c', 1, 2, 2, 2, 2, 7,
	3, 1, 'd', 1, 2, 3,
	4, 11}

func TestALeafIsReadByHand(t *testing.T) {
	c, err := NewCheck(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range map[int64]string{1: "abc", 2: "xy", 3: "-----ABC"} {
		if err := c.Text(id, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	c.Begin(Segment{ID: 1, First: 1, Last: 1})
	if err := c.Leaf(1<<segmentBits|1, leaf); err != nil {
		t.Fatal(err)
	}
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	abc, abd := trigram(0).then('A').then('B').then('C').hash(), trigram(0).then('A').then('B').then('D').hash()
	if c.rows[1].got != at(abc, 0)+at(abd, 1) || c.rows[3].got != at(abc, 5) || c.rows[2].seg != 0 {
		t.Errorf("%+v", c.rows)
	}
	var doubt *DoubtError
	if err := c.Done(); !errors.As(err, &doubt) {
		t.Errorf("the texts have other trigrams, and %v", err)
	}
}

func FuzzLeaf(f *testing.F) {
	f.Add(leaf, leaf, []byte{0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 2})
	f.Add([]byte{0, 0, 0, 4}, []byte{0, 4, 0, 9, 1, 0x81, 0, 2, 0, 3}, []byte{})
	f.Fuzz(func(t *testing.T, one, two, structure []byte) {
		if list, err := Structure(structure); err == nil {
			for _, s := range list {
				if from, to := s.Blocks(); from <= 0 || to < from {
					t.Errorf("%+v", s)
				}
			}
		}
		c, err := NewCheck(10, 10)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c.Begin(Segment{ID: 1, First: 1, Last: 2})
			if c.Leaf(1<<segmentBits|1, one) == nil && c.Leaf(1<<segmentBits|2, two) == nil && c.End() == nil {
				d := c.Directory(Segment{ID: 1, First: 1, Last: 2})
				_ = d.Entry([]byte("0abc"), 2)
				_ = d.End()
			}
			c.Again()
		}
		_ = c.Done()
	})
}
