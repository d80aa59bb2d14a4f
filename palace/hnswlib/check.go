package hnswlib

import (
	"math"
	"strconv"
)

// Layout reports as a *HeaderError the first field that keeps the files from
// being read at all: version and sizes. An index with a sound layout can give
// back its vectors however bad the rest of it is.
func (h Header) Layout() error {
	if f, bad := h.layoutFault(); bad {
		return &HeaderError{Field: f.Field, Offset: f.Offset, Got: f.Got, Want: f.Want}
	}
	return nil
}

func (h Header) layoutFault() (Fault, bool) {
	if h.Version != 1 {
		return headerFault("version", atVersion, strconv.Itoa(int(h.Version)), "1"), true
	}
	dim := h.Dimension()
	for _, c := range []struct {
		ok    bool
		field string
		at    int64
		got   uint64
		want  string
	}{
		{h.OffsetLevel0 == 0, "offsetLevel0", atOffsetLevel0, h.OffsetLevel0, "0"},
		{h.M >= 1 && h.M <= maxM, "M", atM, h.M, "1 to " + utoa(maxM)},
		{h.MaxM == h.M, "maxM", atMaxM, h.MaxM, "M, " + utoa(h.M)},
		{h.MaxM0 == 2*h.M, "maxM0", atMaxM0, h.MaxM0, "2*M, " + utoa(2*h.M)},
		{h.DataOffset == h.MaxM0*4+4, "offsetData", atDataOffset, h.DataOffset, "maxM0*4+4, " + utoa(h.MaxM0*4+4)},
		{dim > 0, "label_offset", atLabelOffset, h.LabelOffset, "offsetData + 4*dimension"},
		{h.ElementSize == h.LabelOffset+8, "size_data_per_element", atElementSize, h.ElementSize, "label_offset+8, " + utoa(h.LabelOffset+8)},
		{h.Elements <= maxElements, "cur_element_count", atElements, h.Elements, "at most " + utoa(maxElements)},
	} {
		if !c.ok {
			return headerFault(c.field, c.at, utoa(c.got), c.want), true
		}
	}
	return Fault{}, false
}

// Check returns everything the header alone shows to be wrong. dimension is
// that of the collection, 0 if it is not known.
func (h Header) Check(dimension int) []Fault {
	if h == (Header{}) {
		return []Fault{{Kind: FaultZeroed, File: HeaderFile, Count: 1, Got: "100 zero bytes", Want: "a header"}}
	}
	var all []Fault
	add := func(ok bool, field string, at int64, got, want string) {
		if !ok {
			all = append(all, headerFault(field, at, got, want))
		}
	}
	if f, bad := h.layoutFault(); bad {
		all = append(all, f)
	}
	if d := h.Dimension(); dimension > 0 && d > 0 {
		add(d == dimension, "dimension", atLabelOffset, strconv.Itoa(d), strconv.Itoa(dimension)+" as the collection has")
	}
	if h.Capacity < h.Elements || h.Capacity == 0 || h.Capacity > maxElements {
		f := headerFault("max_elements", atCapacity, utoa(h.Capacity), "at least the "+utoa(h.Elements)+" elements there are")
		f.Kind = FaultCapacity
		all = append(all, f)
	}
	level, entry := strconv.Itoa(int(h.MaxLevel)), utoa(uint64(h.EntryPoint))
	if h.Elements == 0 {
		add(h.MaxLevel == -1, "maxlevel", atMaxLevel, level, "-1 without elements")
		add(h.EntryPoint == NoEntry, "enterpoint_node", atEntryPoint, entry, "none without elements")
	} else {
		add(h.MaxLevel >= 0 && h.MaxLevel <= maxLevels, "maxlevel", atMaxLevel, level, "0 to "+strconv.Itoa(maxLevels))
		add(uint64(h.EntryPoint) < h.Elements, "enterpoint_node", atEntryPoint, entry, "one of "+utoa(h.Elements)+" elements")
	}
	if h.M >= 2 && h.M <= maxM {
		want := 1 / math.Log(float64(h.M))
		add(math.Abs(h.Mult-want) <= 1e-9*want, "mult", atMult, ftoa(h.Mult), "1/ln(M), "+ftoa(want))
	}
	add(h.EfConstruction >= 1 && h.EfConstruction <= math.MaxInt32, "ef_construction", atEfConstruction, utoa(h.EfConstruction), "a positive number")
	return all
}

func headerFault(field string, at int64, got, want string) Fault {
	return Fault{Kind: FaultHeader, File: HeaderFile, Field: field, Offset: at, Count: 1, Got: got, Want: want}
}

func utoa(v uint64) string  { return strconv.FormatUint(v, 10) }
func ftoa(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
