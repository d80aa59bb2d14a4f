package hnswlib_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"castellan/palace/hnswlib"
)

func TestElementsNoIndexCanHoldAreRefusedAndTheOthersStay(t *testing.T) {
	t.Parallel()
	b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Space: hnswlib.Cosine, Dimension: 2}, 0)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		label uint64
		v     []float32
		ok    bool
	}{
		{5, []float32{1, 2}, true},
		{5, []float32{3, 4}, false},
		{0, []float32{3, 4}, false},
		{6, []float32{3}, false},
		{6, []float32{3, 4, 5}, false},
		{6, []float32{nan, 1}, false},
		{6, []float32{1, inf}, false},
		{6, []float32{3e30, 3e30}, false}, // its square is beyond float32
		{6, []float32{0, 0}, true},
		{math.MaxUint64, []float32{-1, 0}, true},
	} {
		var refused *hnswlib.BuildError
		if err := b.Add(c.label, c.v); c.ok != (err == nil) || err != nil && !errors.As(err, &refused) {
			t.Errorf("%d %v: %v", c.label, c.v, err)
		}
	}
	g, err := b.Build(context.Background())
	if err != nil || g.Len() != 3 {
		t.Fatalf("%d elements, %v", g.Len(), err)
	}
	got := search(t, g, []float32{2, 4}, 3, 10, nil)
	if len(got) != 3 || got[0].Label != 5 || got[1] != (hnswlib.Hit{Label: 6, Distance: 1}) || got[2].Label != math.MaxUint64 {
		t.Errorf("%v", got)
	}
}

func TestShapesNoIndexCanHaveAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []hnswlib.BuildOptions{
		{}, {Dimension: -1}, {Dimension: 1<<16 + 1}, {Dimension: 4, M: 1}, {Dimension: 4, M: -3},
		{Dimension: 4, M: 40000}, {Dimension: 4, EfConstruction: 1 << 40}, {Dimension: 4, Space: 9},
	} {
		var refused *hnswlib.BuildError
		if _, err := hnswlib.NewBuilder(o, 10); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Dimension: 4}, -5); err != nil || b == nil {
		t.Error(err)
	}
}

func TestBuildTakesNoMoreMemoryThanItMay(t *testing.T) {
	t.Parallel()
	b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Dimension: 1, M: 30000}, 0)
	must(t, err)
	for i := range 30000 {
		must(t, b.Add(uint64(i)+1, []float32{float32(i)}))
	}
	var large *hnswlib.TooLargeError
	if _, err := b.Build(context.Background()); !errors.As(err, &large) || large.Need < 30000*60000*8 {
		t.Errorf("14 GB of lists: %v", err)
	}
}

func TestBuildTellsItsProgressAndStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	all := vectors(4000, 4)
	for _, workers := range []int{1, 2} {
		ctx, cancel := context.WithCancel(context.Background())
		calls, stopAt := 0, math.MaxInt
		b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Dimension: 4, Workers: workers, Progress: func(done, total int) {
			calls++
			if done < 1 || done > total || total != len(all) {
				t.Errorf("%d of %d", done, total)
			}
			if done >= stopAt {
				cancel()
			}
		}}, len(all))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range all {
			if err := b.Add(uint64(i)+1, v); err != nil {
				t.Fatal(err)
			}
		}
		if workers == 2 {
			stopAt = 2000
		}
		g, err := b.Build(ctx)
		switch {
		case stopAt < len(all) && (!errors.Is(err, context.Canceled) || g != nil || calls > 3):
			t.Errorf("cancelled at half: %v after %d calls", err, calls)
		case stopAt > len(all) && (err != nil || calls != 4):
			t.Errorf("%d calls, %v", calls, err)
		}
		cancel()
	}
}

// One in M of the elements of a level reaches the next.
func TestLevelsThinOutByM(t *testing.T) {
	t.Parallel()
	dir, _ := written(t, built(t, hnswlib.BuildOptions{M: 4, EfConstruction: 4}, vectors(20000, 1)))
	f, err := open(t, dir).WalkLinks(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// Elements times the mean level, 1/(M-1), times a block of 4*4+4 bytes.
	blocks := float64(f.Bytes-4*20000) / 20
	if want := 20000.0 / 3; math.Abs(blocks-want) > 400 || f.MaxLevel < 4 || f.MaxLevel > 13 {
		t.Errorf("%v lists above level 0, not some %v; the highest level is %d", blocks, want, f.MaxLevel)
	}
}
