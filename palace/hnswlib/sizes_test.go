package hnswlib_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

func TestStatTellsSizesWithoutTheFiles(t *testing.T) {
	t.Parallel()
	dir := segments(t, "synced")[0]
	f, err := hnswlib.Stat(dir)
	if err != nil || f.Header.Apparent != 100 || f.Level0.Apparent != 4257040 || f.Length.Apparent != 10160 ||
		f.Links.Apparent != 20972 || f.Pickle.Apparent != 299330 || f.Apparent() != 4587602 ||
		!f.Level0.Regular || f.Level0.Allocated == 0 || f.Allocated() < f.Level0.Allocated || f.Newest().IsZero() {
		t.Errorf("%+v, %v", f, err)
	}
	empty := t.TempDir()
	f, err = hnswlib.Stat(empty)
	if err != nil || f.Header.Present || f.Pickle.Present || f.Apparent() != 0 || f.LinkRatio() != 0 || !f.Newest().IsZero() {
		t.Errorf("empty directory: %+v, %v", f, err)
	}
	if err := os.Mkdir(filepath.Join(empty, hnswlib.LinksFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if f, err := hnswlib.Stat(empty); err != nil || !f.Links.Present || f.Links.Regular {
		t.Errorf("a directory for a file: %+v, %v", f, err)
	}
	var missing *hnswlib.MissingError
	if _, err := hnswlib.Stat(filepath.Join(empty, "none")); !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// MemPalace #344 and #525: terabytes by their length, little on the disk.
func TestExplodedLinkListsAreNeitherReadWholeNorTakenForDiskUse(t *testing.T) {
	dir := small(t)
	resize(t, dir, hnswlib.LinksFile, 20<<30)
	f, err := hnswlib.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f.LinkRatio() < hnswlib.BloatRatio || f.Links.Apparent != 20<<30 {
		t.Errorf("%+v", f.Links)
	}
	if runtime.GOOS == "linux" && f.Links.Allocated > 1<<20 {
		t.Errorf("a sparse file takes %d bytes", f.Links.Allocated)
	}
	r := open(t, dir)
	l, err := r.WalkLinks(context.Background(), 0)
	if err != nil || l.Records != 300 || l.Bytes != 2492 || l.TrailingBytes != 20<<30-2492 || l.Partial {
		t.Errorf("%+v, %v", l, err)
	}
	// A header that promises as many elements as the file could hold records.
	patch(t, dir, hnswlib.HeaderFile, 12, append(u64(1<<32-2), u64(1<<32-2)...)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	facts, err := open(t, dir).Examine(context.Background(), 8, 100)
	runtime.ReadMemStats(&after)
	if err != nil || !facts.Links.Partial || facts.Links.Bytes > 2<<20 || facts.Links.TrailingBytes != 0 || facts.Examined != 100 {
		t.Errorf("%+v, %v", facts, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("a glance allocated %d bytes", got)
	}
}

func TestSampleIsSpreadOverTheWholeFile(t *testing.T) {
	t.Parallel()
	dir := small(t)
	patch(t, dir, hnswlib.Level0File, 290*element, make([]byte, 10*element)...)
	patch(t, dir, hnswlib.Level0File, 0, make([]byte, 10*element)...)
	f, err := open(t, dir).Examine(context.Background(), 8, 60)
	if err != nil || !f.Sampled || f.Examined != 60 || f.Zeroed != 4 {
		t.Errorf("%+v, %v", f, err)
	}
	if !slices.ContainsFunc(f.Faults, func(v hnswlib.Fault) bool { return v.Kind == hnswlib.FaultZeroed && v.Offset == 0 }) {
		t.Errorf("%v", f.Faults)
	}
	f, err = open(t, dir).Examine(context.Background(), 8, 1000)
	if err != nil || f.Sampled || f.Examined != 300 || f.Zeroed != 20 {
		t.Errorf("a sample of more than all: %+v, %v", f, err)
	}
}

// What Chroma writes for these is the file as it was; a header with every
// dimension and M must be read by its own offsets.
func TestDimensionComesFromTheOffsets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dimension, m int }{{1, 2}, {8, 16}, {384, 16}, {768, 48}, {3072, 5}, {1 << 16, 64}} {
		h := hnswlib.NewHeader(c.dimension, c.m, 1, 100)
		if h.Dimension() != c.dimension || h.Layout() != nil || h.Check(c.dimension) != nil {
			t.Errorf("%+v: %d, %v, %v", c, h.Dimension(), h.Layout(), h.Check(c.dimension))
		}
		faults := h.Check(c.dimension + 1)
		if len(faults) != 1 || faults[0].Field != "dimension" || faults[0].Got == faults[0].Want {
			t.Errorf("another dimension: %v", faults)
		}
	}
	if h := hnswlib.NewHeader(384, 16, 100, 100); h.ElementSize != 1676 || h.LabelOffset != 1668 || h.DataOffset != 132 {
		t.Errorf("%+v", h)
	}
	if faults := (hnswlib.Header{}).Check(8); len(faults) != 1 || faults[0].Kind != hnswlib.FaultZeroed {
		t.Errorf("a header of zeros: %v", faults)
	}
}

// An element larger than the others' window still comes whole.
func TestWidestVectorsAreRead(t *testing.T) {
	t.Parallel()
	s := hnswtest.Segment{Dimension: 1 << 16, M: 2, Vectors: vectors(3, 1<<16), Levels: []int{0, 1, 0}}
	dir := t.TempDir()
	if err := hnswtest.Write(dir, s); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := open(t, dir).Vectors(context.Background(), []int{0, 1, 2}, func(i int, v []float32) error {
		n++
		if !slices.Equal(v, s.Vectors[i]) {
			t.Errorf("element %d differs", i)
		}
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d visits, %v", n, err)
	}
}
