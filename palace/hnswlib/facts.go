package hnswlib

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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

	Links  LinkFacts
	Faults []Fault
}

// sampledLinks is how much of link_lists.bin a sample walks: the records of
// some hundred thousand elements.
const sampledLinks = windowSize

// Examine judges the segment. sample is the number of elements to look at,
// spread evenly, for a glance that costs milliseconds; 0 means every element and
// every link. dimension is that of the collection, 0 if it is not known. What
// is wrong with the files is in Facts.Faults; the error is the context's, or of
// a disk that cannot be read, or a *ShortError of a file cut while it was read.
func (r *Reader) Examine(ctx context.Context, dimension, sample int) (Facts, error) {
	f := Facts{
		Files: r.files, Header: r.header, Dimension: r.dim, LinkRatio: r.files.LinkRatio(),
		Stored: r.stored, Short: int(r.header.Elements - uint64(r.stored)),
		Faults: r.header.Check(dimension),
	}
	f.sizes()
	if err := r.examineElements(ctx, &f, sample); err != nil {
		return f, err
	}
	return f, r.examineLinks(ctx, &f, sample > 0)
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

func (r *Reader) examineElements(ctx context.Context, f *Facts, sample int) error {
	f.Sampled = sample > 0 && sample < r.stored
	zeroes := make([]byte, r.header.ElementSize)
	labelAt := int(r.header.LabelOffset)
	size := int64(r.header.ElementSize)
	zeroed := Fault{Kind: FaultZeroed, File: Level0File, Offset: -1, Got: "nothing but zero bytes", Want: "an element"}
	badLists := Fault{Kind: FaultNeighbours, File: Level0File, Offset: -1, Got: "a list with an impossible count or neighbour"}
	double := Fault{Kind: FaultLabels, File: Level0File, Offset: -1, Got: "a label that another element has"}
	none := Fault{Kind: FaultLabels, File: Level0File, Offset: -1, Got: "label 0", Want: "1 or more"}
	hit := func(v *Fault, at int64) {
		if v.Count++; v.Count == 1 {
			v.Offset = at
		}
	}
	var labels labelSet
	var lists listCheck
	look := func(internal int, e []byte) error {
		f.Examined++
		at := int64(internal) * size
		label := binary.LittleEndian.Uint64(e[labelAt:])
		if label == 0 && bytes.Equal(e, zeroes) {
			hit(&zeroed, at)
			return nil
		}
		if e[2]&deletedMark != 0 {
			f.Deleted++
		}
		if !lists.sound(e[:r.header.DataOffset], internal, r.header.MaxM0, r.header.Elements) {
			hit(&badLists, at)
		}
		if label == 0 {
			hit(&none, at+int64(labelAt))
		} else if !f.Sampled && !labels.add(label) {
			hit(&double, at+int64(labelAt))
		}
		return nil
	}
	var err error
	if f.Sampled {
		picked := make([]int, sample)
		for i := range picked {
			picked[i] = i * r.stored / sample
		}
		t := table{r.level0, Level0File, int(size), r.stored}
		err = r.pick(ctx, t, picked, func(n int, e []byte) error { return look(picked[n], e) })
	} else {
		err = r.elements(ctx, 0, r.stored, look)
	}
	f.Zeroed, f.BadLists, f.DuplicateLabels, f.ZeroLabels = zeroed.Count, badLists.Count, double.Count, none.Count
	for _, v := range []Fault{zeroed, badLists, double, none} {
		if v.Count > 0 {
			f.fault(v)
		}
	}
	return err
}

func (r *Reader) examineLinks(ctx context.Context, f *Facts, sampled bool) error {
	if r.links == nil || uint64(r.files.Links.Apparent) < 4*r.header.Elements {
		f.Links = LinkFacts{MaxLevel: -1, EntryLevel: -1, FirstBad: -1}
		return nil // told by sizes
	}
	budget := int64(0)
	if sampled {
		budget = sampledLinks
	}
	var err error
	f.Links, err = r.WalkLinks(ctx, budget)
	l := f.Links
	broken := Fault{Kind: FaultLinks, File: LinksFile, Count: 1}
	var torn *LinksError
	var short *ShortError
	switch {
	case errors.As(err, &torn):
		broken.Offset, broken.Got = torn.Offset, "record of element "+strconv.Itoa(torn.Record)+": "+torn.Reason
		f.fault(broken)
	case errors.As(err, &short):
		broken.Offset, broken.Got = short.Got, "ends in the record of element "+strconv.Itoa(l.Records)
		f.fault(broken)
	case err != nil:
		return err
	case l.TrailingBytes > 0:
		broken.Offset, broken.Got = l.Bytes, bytesOf(uint64(l.TrailingBytes))+" behind the last record"
		f.fault(broken)
	}
	if l.BadRecords > 0 {
		f.fault(Fault{
			Kind: FaultLinks, File: LinksFile, Offset: l.FirstBad, Count: l.BadRecords,
			Got: "a record with an impossible level, count or neighbour",
		})
	}
	if level := int(r.header.MaxLevel); l.EntryLevel >= 0 && l.EntryLevel != level {
		f.fault(headerFault("enterpoint_node", atEntryPoint,
			"an element of level "+strconv.Itoa(l.EntryLevel), "one of maxlevel, "+strconv.Itoa(level)))
	}
	return nil
}

func bytesOf(n uint64) string { return strconv.FormatUint(n, 10) + " bytes" }
