package specimen

import (
	"errors"
	"fmt"
)

// Spec says what palace to generate. Zero fields take the values a MemPalace
// of today would have; only Rows must be given.
type Spec struct {
	// Rows is the number of drawers.
	Rows int
	// Dimension of the vectors; 384 if zero. With fewer than about 50 the
	// index is still valid, but its clusters overlap and a search in it misses
	// much.
	Dimension int
	// DocumentChars is the length of each document in characters; 800 if zero,
	// which is what MemPalace cuts files into.
	DocumentChars int
	// Queued is how many of the newest drawers have their vector only in the
	// write-ahead queue. The others are in the index.
	Queued int
	// Unflushed puts every vector in the queue and none in the index, with a
	// sync threshold of 50,000, as MemPalace kept palaces for a year.
	Unflushed bool
	// Wings and RoomsPerWing; 8 and 6 if zero.
	Wings, RoomsPerWing int
	// SmallWings are further wings of one to three drawers, filed last: the
	// ones that vanish from a listing which stops at 10,000 rows (MemPalace
	// #1208).
	SmallWings int
	// Closets is the number of closets; without any there is no closets
	// collection.
	Closets int
	// SyncThreshold is the number of writes after which Chroma flushes the
	// index; 1,000 if zero, with batches of 100.
	SyncThreshold int
	// Seed makes another palace of the same shape. The same Spec gives the
	// same bytes.
	Seed uint64

	// Drawers from lostFrom up to lostTo have their vector neither in the
	// index nor in the queue. They lie before the queued ones.
	lostFrom, lostTo int
}

// ErrSpec says that no palace can have the asked shape.
var ErrSpec = errors.New("impossible specimen")

// withDefaults fills in what was left out and refuses what cannot be.
func (s Spec) withDefaults() (Spec, error) {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&s.Dimension, 384}, {&s.DocumentChars, 800}, {&s.Wings, 8}, {&s.RoomsPerWing, 6},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if s.Unflushed {
		s.Queued = s.Rows
	}
	if s.SyncThreshold == 0 {
		s.SyncThreshold = 1000
		if s.Unflushed {
			s.SyncThreshold = 50000
		}
	}
	for name, v := range map[string]int{
		"rows": s.Rows, "dimension": s.Dimension, "document characters": s.DocumentChars, "queued": s.Queued,
		"wings": s.Wings, "rooms": s.RoomsPerWing, "small wings": s.SmallWings, "closets": s.Closets, "sync threshold": s.SyncThreshold,
	} {
		if v < 0 {
			return s, fmt.Errorf("%w: %s is %d", ErrSpec, name, v)
		}
	}
	if s.Queued > s.Rows {
		return s, fmt.Errorf("%w: %d queued of %d rows", ErrSpec, s.Queued, s.Rows)
	}
	if n := smallRows(s.SmallWings); n > s.Rows {
		return s, fmt.Errorf("%w: %d small wings need %d rows, there are %d", ErrSpec, s.SmallWings, n, s.Rows)
	}
	return s, nil
}

// batchSize keeps to MemPalace's pairs: 100 with 1,000, equal when unflushed.
func (s Spec) batchSize() int {
	if s.SyncThreshold >= 50000 {
		return s.SyncThreshold
	}
	return min(100, s.SyncThreshold)
}

// smallWing is the number of drawers in the k-th small wing: 1, 2, 3, 1, ...
func smallWing(k int) int { return 1 + k%3 }

// smallRows is the number of drawers in the first n small wings.
func smallRows(n int) int {
	rows := 0
	for k := range n {
		rows += smallWing(k)
	}
	return rows
}
