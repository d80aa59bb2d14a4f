package hnswlib

import (
	"context"
	"strconv"
)

// Facts is the judgement of one segment, from figures to faults.
type Facts struct {
	Files     Files
	Header    Header
	Dimension int
	LinkRatio float64

	Stored int // whole elements in data_level0.bin
	Short  int // elements the header counts beyond these

	// Examined elements were looked at: Sampled says that they are not all.
	// The counts below are counts among them.
	Examined        int
	Sampled         bool
	Deleted         int
	Zeroed          int // elements of nothing but zero bytes
	DuplicateLabels int // elements whose label an earlier one has; 0 when sampled
	ZeroLabels      int // other elements labelled 0: Chroma counts labels from 1
	BadLists        int // level-0 lists with an impossible count or neighbour
	NotFinite       int // elements whose vector holds a NaN or an infinity

	Degrees Spread
	// Norms is nil unless the index is by cosine.
	Norms *Norms

	Links LinkFacts
	// Reach is nil in a sample, and where the links cannot be followed.
	Reach  *Reach
	Faults []Fault
}

// Norms sums up vectors and length.bin of an index by cosine, where each stored
// vector is a unit vector and its former norm a positive number.
type Norms struct {
	Checked int
	// Off vectors are not of norm 1 within Tolerance; Worst is the largest
	// distance from it.
	Off   int
	Worst float64
	// Zero vectors are all zeros and have the norm 0 in length.bin: what Chroma
	// makes of a drawer whose vector was all zeros. Every distance to one is 1.
	Zero int
	// BadLengths are norms in length.bin that are not positive and finite.
	BadLengths int
}

// Spread sums up the lengths of the level-0 lists.
type Spread struct {
	Min, Max int
	Mean     float64
	Alone    int // elements without any neighbour
}

// Exam says how to look. The zero value looks at everything.
type Exam struct {
	// Dimension is that of the collection, 0 if it is not known.
	Dimension int
	// Sample is the number of elements to look at, spread evenly, for a glance
	// that costs milliseconds; 0 means every element and every link, and the
	// paths between them.
	Sample int
	// Cosine says that vectors are stored as unit vectors, which header.bin does
	// not tell.
	Cosine bool
	// Label, if set, is told every element, in file order; not in a sample.
	Label func(internal int, label uint64, deleted bool)
	// Unreached, if set, is told the label of every element that is not deleted
	// and that no path leads to, after the last Label.
	Unreached func(label uint64)
	// Progress, if set, is told from time to time how many bytes of how many
	// have been read. The total is an estimate and may grow.
	Progress func(done, total int64)
}

// Examine is ExamineWith for a dimension and a sample.
func (r *Reader) Examine(ctx context.Context, dimension, sample int) (Facts, error) {
	return r.ExamineWith(ctx, Exam{Dimension: dimension, Sample: sample})
}

// ExamineWith judges the segment. What is wrong with the files is in
// Facts.Faults; the error is the context's, or of a disk that cannot be read, or
// a *ShortError of a file cut while it was read. Memory is some ten bytes an
// element, whatever the header says.
func (r *Reader) ExamineWith(ctx context.Context, x Exam) (Facts, error) {
	f := Facts{
		Files: r.files, Header: r.header, Dimension: r.dim, LinkRatio: r.files.LinkRatio(),
		Stored: r.stored, Short: int(r.header.Elements - uint64(r.stored)),
		Faults: r.header.Check(x.Dimension),
	}
	f.sizes()
	e := exam{Exam: x, r: r, f: &f}
	e.total = e.estimate()
	if err := e.elements(ctx); err != nil {
		return f, err
	}
	if err := e.links(ctx); err != nil {
		return f, err
	}
	if f.Sampled || x.Sample > 0 {
		return f, nil
	}
	return f, e.reach(ctx)
}

func (f *Facts) fault(v Fault) { f.Faults = append(f.Faults, v) }

// sizes finds what the lengths of the files show.
func (f *Facts) sizes() {
	h := f.Header
	for _, one := range []struct {
		name  string
		facts FileFacts
		need  uint64
	}{
		{Level0File, f.Files.Level0, h.Elements * h.ElementSize},
		{LengthFile, f.Files.Length, h.Elements * 4},
		{LinksFile, f.Files.Links, h.Elements * 4},
	} {
		switch {
		case !one.facts.Present:
			f.fault(Fault{Kind: FaultMissing, File: one.name, Offset: -1, Count: 1, Got: "missing", Want: "a file"})
		case !one.facts.Regular:
			f.fault(Fault{Kind: FaultNotRegular, File: one.name, Offset: -1, Count: 1, Got: one.facts.Mode.String(), Want: "a regular file"})
		case uint64(one.facts.Apparent) < one.need:
			v := Fault{
				Kind: FaultShort, File: one.name, Offset: one.facts.Apparent, Count: 1,
				Got: bytesOf(uint64(one.facts.Apparent)), Want: bytesOf(one.need),
			}
			if one.name == Level0File {
				v.Count = f.Short
			}
			f.fault(v)
		}
	}
	if n := f.Files.Header.Apparent; n != HeaderSize {
		f.fault(headerFault("length", HeaderSize, bytesOf(uint64(n)), bytesOf(HeaderSize)))
	}
	if f.LinkRatio > BloatRatio {
		f.fault(Fault{
			Kind: FaultBloated, File: LinksFile, Offset: -1, Count: 1,
			Got:  bytesOf(uint64(f.Files.Links.Apparent)) + " (" + bytesOf(uint64(f.Files.Links.Allocated)) + " on disk)",
			Want: "some hundredths of the " + bytesOf(uint64(f.Files.Level0.Apparent)) + " of " + Level0File,
		})
	}
}

func bytesOf(n uint64) string { return strconv.FormatUint(n, 10) + " bytes" }
