package hnswlib

import "fmt"

// Kind says what is wrong with a segment.
type Kind string

// The kinds of faults. Chroma's loader looks at the version and nothing else,
// so each of the others means wrong answers or the death of its process.
const (
	FaultMissing    Kind = "missing"     // a file is not there
	FaultNotRegular Kind = "not-regular" // a directory or FIFO in its place
	FaultHeader     Kind = "header"      // a field contradicts the format or the dimension
	FaultCapacity   Kind = "capacity"    // room for fewer elements than there are: overflows the heap of Chroma
	FaultShort      Kind = "short"       // a file ends before the elements the header counts
	FaultZeroed     Kind = "zeroed"      // elements that are nothing but zero bytes
	FaultBloated    Kind = "bloated"     // link_lists.bin out of all proportion (MemPalace #344, Chroma #7510)
	FaultLinks      Kind = "links"       // link_lists.bin: records, bounds, length
	FaultNeighbours Kind = "neighbours"  // level-0 lists: count, bounds
	FaultLevels     Kind = "levels"      // a neighbour on a level that it does not reach: read out of bounds
	FaultLabels     Kind = "labels"      // a label carried by two elements
	FaultNorms      Kind = "norms"       // a stored vector that is no unit vector, or a length that is none
	FaultBlank      Kind = "blank"       // a vector of nothing but zeros, with the length 0: stored as it was given
	FaultNotFinite  Kind = "not-finite"  // a vector with a NaN or an infinity in it
	FaultUnreached  Kind = "unreached"   // elements that no path from the entry point leads to
)

// Fault is one thing that is wrong: which file, where first, how often.
type Fault struct {
	Kind      Kind
	File      string
	Field     string // of the header, "" elsewhere
	Offset    int64  // byte of the first occurrence in File, -1 if there is none
	Count     int    // occurrences
	Got, Want string // figures, for people
}

func (f Fault) String() string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	s += ": " + f.Got
	if f.Want != "" {
		s += ", not " + f.Want
	}
	if f.Count > 1 {
		s += fmt.Sprintf(" (%d times)", f.Count)
	}
	if f.Offset >= 0 {
		s += fmt.Sprintf(", first at byte %d", f.Offset)
	}
	return s
}
