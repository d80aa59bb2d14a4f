package hnswlib

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// sampledLinks is how much of link_lists.bin a sample walks: the records of
// some hundred thousand elements.
const sampledLinks = windowSize

// Tolerance is how far the norm of a stored unit vector may be from 1 at the
// usual dimensions. Chroma works in float32, whose error grows with the
// dimension: beyond wideDimension the tolerance grows along.
const (
	Tolerance     = 1e-5
	wideDimension = 1024
)

func tolerance(dimension int) float64 {
	return Tolerance * max(1, float64(dimension)/wideDimension)
}

// exam is one examination under way.
type exam struct {
	Exam
	r     *Reader
	f     *Facts
	total int64 // bytes to read, as far as is known
	done  int64

	levels levels
}

// estimate is what a full look reads: level 0 once for its elements and about
// once more along the links.
func (e *exam) estimate() int64 {
	level0 := int64(e.r.stored) * int64(e.r.header.ElementSize)
	return 2*level0 + min(e.r.files.Links.Apparent, level0)
}

// read counts bytes for Progress.
func (e *exam) read(n int) {
	if e.Progress == nil || e.Sample > 0 {
		return
	}
	before := e.done >> 20
	e.done += int64(n)
	e.total = max(e.total, e.done)
	if e.done>>20 != before {
		e.Progress(e.done, e.total)
	}
}

// tally is a fault that gathers occurrences.
type tally struct{ Fault }

func newTally(kind Kind, file, got, want string) tally {
	return tally{Fault{Kind: kind, File: file, Offset: -1, Got: got, Want: want}}
}

func (t *tally) hit(at int64) {
	if t.Count++; t.Count == 1 {
		t.Offset = at
	}
}

// elements looks at level 0 and at length.bin.
func (e *exam) elements(ctx context.Context) error {
	r, f := e.r, e.f
	f.Sampled = e.Sample > 0 && e.Sample < r.stored
	if e.Cosine {
		f.Norms = &Norms{}
	}
	l := elementLook{
		exam: e, size: int64(r.header.ElementSize), labelAt: int(r.header.LabelOffset),
		zeroes: make([]byte, r.header.ElementSize), vector: make([]float32, r.dim), within: tolerance(r.dim),
		zeroed: newTally(FaultZeroed, Level0File, "nothing but zero bytes", "an element"),
		lists:  newTally(FaultNeighbours, Level0File, "a list with an impossible count or neighbour", ""),
		double: newTally(FaultLabels, Level0File, "a label that another element has", ""),
		none:   newTally(FaultLabels, Level0File, "label 0", "1 or more"),
		nan:    newTally(FaultNotFinite, Level0File, "a vector with a NaN or an infinity", ""),
		norms:  newTally(FaultNorms, Level0File, "a vector whose norm is not 1", "a unit vector"),
		blank:  newTally(FaultBlank, Level0File, "a vector of nothing but zeros", "a unit vector"),
	}
	var err error
	if f.Sampled {
		picked := make([]int, e.Sample)
		for i := range picked {
			picked[i] = i * r.stored / e.Sample
		}
		t := table{r.level0, Level0File, int(l.size), r.stored}
		err = r.pick(ctx, t, picked, func(n int, b []byte) error { l.look(picked[n], b); return nil })
	} else {
		err = r.elements(ctx, 0, r.stored, func(i int, b []byte) error { l.look(i, b); e.read(len(b)); return nil })
	}
	l.conclude()
	if err != nil || !e.Cosine || f.Sampled {
		return err
	}
	return e.lengths(ctx, l.zeroVectors)
}

// elementLook judges elements one by one.
type elementLook struct {
	*exam
	size    int64
	labelAt int
	zeroes  []byte
	vector  []float32
	within  float64
	labels  labelSet
	checks  listCheck
	degrees int64
	seen    int64 // elements that degrees counts

	zeroed, lists, double, none, nan, norms, blank tally

	zeroVectors bitset
}

func (l *elementLook) look(internal int, b []byte) {
	f, h := l.f, &l.r.header
	f.Examined++
	at := int64(internal) * l.size
	label, deleted := binary.LittleEndian.Uint64(b[l.labelAt:]), b[2]&deletedMark != 0
	if l.Label != nil && !f.Sampled {
		l.Label(internal, label, deleted)
	}
	if label == 0 && bytes.Equal(b, l.zeroes) {
		l.zeroed.hit(at)
		return
	}
	if deleted {
		f.Deleted++
	}
	l.degree(int(binary.LittleEndian.Uint16(b)))
	if !l.checks.sound(b[:h.DataOffset], internal, h.MaxM0, h.Elements) {
		l.lists.hit(at)
	}
	if label == 0 {
		l.none.hit(at + int64(l.labelAt))
	} else if !f.Sampled && !l.labels.add(label) {
		l.double.hit(at + int64(l.labelAt))
	}
	l.norm(internal, at+int64(h.DataOffset), b[h.DataOffset:h.LabelOffset])
}

func (l *elementLook) degree(n int) {
	d := &l.f.Degrees
	if l.seen == 0 || n < d.Min {
		d.Min = n
	}
	d.Max = max(d.Max, n)
	if n == 0 {
		d.Alone++
	}
	l.degrees += int64(n)
	l.seen++
}

// norm judges a stored vector. Squares are summed in float64, in four lanes
// that do not wait for each other.
func (l *elementLook) norm(internal int, at int64, b []byte) {
	v := l.vector
	decode(v, b)
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(v); i += 4 {
		a, b, c, d := float64(v[i]), float64(v[i+1]), float64(v[i+2]), float64(v[i+3])
		s0, s1, s2, s3 = s0+a*a, s1+b*b, s2+c*c, s3+d*d
	}
	for ; i < len(v); i++ {
		s0 += float64(v[i]) * float64(v[i])
	}
	// No float32 squared and summed overflows a float64, so this is exact: the
	// sum is finite when all the floats are.
	sum := s0 + s1 + s2 + s3
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		l.nan.hit(at)
		return
	}
	n := l.f.Norms
	if n == nil {
		return
	}
	n.Checked++
	off := math.Abs(math.Sqrt(sum) - 1)
	if off <= l.within {
		return
	}
	n.Off++
	n.Worst = max(n.Worst, off)
	if sum == 0 {
		n.Zero++
		l.blank.hit(at)
		l.zeroVectors.set(internal)
		return
	}
	l.norms.hit(at)
}

func (l *elementLook) conclude() {
	f := l.f
	if l.seen > 0 {
		f.Degrees.Mean = float64(l.degrees) / float64(l.seen)
	}
	f.Zeroed, f.BadLists, f.DuplicateLabels, f.ZeroLabels = l.zeroed.Count, l.lists.Count, l.double.Count, l.none.Count
	f.NotFinite = l.nan.Count
	for _, t := range []tally{l.zeroed, l.lists, l.double, l.none, l.nan, l.norms, l.blank} {
		if t.Count > 0 {
			f.fault(t.Fault)
		}
	}
}

// lengths reads length.bin. The length of a vector of zeros is 0, and that of
// every other a positive number.
func (e *exam) lengths(ctx context.Context, zero bitset) error {
	r := e.r
	if r.length == nil {
		return nil // told by sizes
	}
	bad := newTally(FaultNorms, LengthFile, "a length that is not a positive number", "the norm the vector had")
	count := int(min(r.header.Elements, uint64(r.files.Length.Apparent)/4))
	buf := make([]byte, min(windowSize, 4*count))
	for from := 0; from < count; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(count-from, len(buf)/4)
		if err := r.readAt(r.length, LengthFile, buf[:4*n], 4*int64(from)); err != nil {
			return err
		}
		for i := range n {
			v := math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
			ok := v > 0 && !math.IsInf(float64(v), 0)
			if !ok && !(v == 0 && zero.has(from+i)) {
				bad.hit(4 * int64(from+i))
			}
		}
		from += n
		e.read(4 * n)
	}
	e.f.Norms.BadLengths = bad.Count
	if bad.Count > 0 {
		e.f.fault(bad.Fault)
	}
	return nil
}

// links walks link_lists.bin.
func (e *exam) links(ctx context.Context) error {
	r, f := e.r, e.f
	if r.links == nil || uint64(r.files.Links.Apparent) < 4*r.header.Elements {
		f.Links = noLinks()
		return nil // told by sizes
	}
	budget := int64(0)
	told := func(internal, level int, at int64) {
		if internal < r.stored { // the header counts what it likes
			e.levels.add(internal, level, at)
		}
	}
	if e.Sample > 0 {
		budget, told = sampledLinks, nil
	}
	var err error
	f.Links, err = r.walkLinks(ctx, budget, told)
	l := f.Links
	e.read(int(min(l.Bytes, 1<<30)))
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
