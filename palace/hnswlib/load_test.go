package hnswlib_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

// Each damage is left out, counted, and what is left can still be searched.
func TestDamageIsLeftOutAndTheRestIsFound(t *testing.T) {
	t.Parallel()
	all := vectors(300, 8)
	for name, c := range map[string]struct {
		damage func(dir string)
		want   hnswlib.Damage
		least  float64
	}{
		"none":                 {func(string) {}, hnswlib.Damage{}, 0.95},
		"neighbour beyond":     {func(d string) { patch(t, d, hnswlib.Level0File, 7*element+4, u32(1<<31)...) }, hnswlib.Damage{Neighbours: 1}, 0.95},
		"neighbour of itself":  {func(d string) { patch(t, d, hnswlib.Level0File, 7*element+4, u32(7)...) }, hnswlib.Damage{Neighbours: 1}, 0.95},
		"count beyond":         {func(d string) { patch(t, d, hnswlib.Level0File, 9*element, 0xff, 0xff) }, hnswlib.Damage{Lists: 1}, 0.95},
		"a NaN":                {func(d string) { patch(t, d, hnswlib.Level0File, 9*element+4*33, 0xff, 0xff, 0xff, 0xff) }, hnswlib.Damage{Elements: 1}, 0.95},
		"a page of zeros":      {func(d string) { patch(t, d, hnswlib.Level0File, 48*element, make([]byte, 23*element)...) }, hnswlib.Damage{Elements: 23}, 0.8},
		"links missing":        {func(d string) { must(t, os.Remove(filepath.Join(d, hnswlib.LinksFile))) }, hnswlib.Damage{Links: true, Entry: true}, 0.95},
		"links empty":          {func(d string) { resize(t, d, hnswlib.LinksFile, 0) }, hnswlib.Damage{Links: true, Entry: true}, 0.95},
		"links of odd length":  {func(d string) { patch(t, d, hnswlib.LinksFile, 4, u32(67)...) }, hnswlib.Damage{Links: true, Entry: true}, 0.95},
		"link to a lower one":  {func(d string) { patch(t, d, hnswlib.LinksFile, 15*4+8, u32(14)...) }, hnswlib.Damage{Neighbours: 1}, 0.95},
		"entry beyond":         {func(d string) { patch(t, d, hnswlib.HeaderFile, 56, u32(300)...) }, hnswlib.Damage{Entry: true}, 0.95},
		"entry too low":        {func(d string) { patch(t, d, hnswlib.HeaderFile, 56, u32(3)...) }, hnswlib.Damage{Entry: true}, 0.95},
		"levels too many":      {func(d string) { patch(t, d, hnswlib.HeaderFile, 52, u32(1<<30)...) }, hnswlib.Damage{Entry: true}, 0.95},
		"no levels":            {func(d string) { patch(t, d, hnswlib.HeaderFile, 52, u32(1<<32-1)...) }, hnswlib.Damage{Entry: true}, 0.95},
		"length missing":       {func(d string) { must(t, os.Remove(filepath.Join(d, hnswlib.LengthFile))) }, hnswlib.Damage{}, 0.95},
		"ef_construction 2^63": {func(d string) { patch(t, d, hnswlib.HeaderFile, 92, u64(1<<63)...) }, hnswlib.Damage{}, 0.95},
	} {
		dir := small(t)
		c.damage(dir)
		g := loaded(t, dir, hnswlib.Cosine)
		if g.Damage() != c.want {
			t.Errorf("%s: %+v", name, g.Damage())
		}
		sum := 0.0
		for _, q := range jittered(all, 40) {
			want := exact(hnswlib.Cosine, all, q, 10, func(l uint64) bool { return l == 4 || l == 300 })
			sum += recall(search(t, g, q, 10, 100, nil), want)
		}
		if sum/40 < c.least {
			t.Errorf("%s: recall %.3f", name, sum/40)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The graph and the examination of its files agree on what can be reached.
func TestUnreachableElementsAreCountedAsExamineDoes(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(i int) bool{
		"none": func(int) bool { return false }, "all": func(int) bool { return true },
		"most": func(i int) bool { return i%10 != 0 }, "the last": func(i int) bool { return i > 200 },
	} {
		dir := small(t)
		for i := range 300 {
			if empty(i) {
				patch(t, dir, hnswlib.Level0File, int64(i)*element, 0, 0)
			}
		}
		f, err := open(t, dir).Examine(context.Background(), 8, 0)
		must(t, err)
		if n := loaded(t, dir, hnswlib.Cosine).Unreachable(); n != f.Reach.Unreachable || name == "all" && n < 200 {
			t.Errorf("%s: %d, and %d by its files", name, n, f.Reach.Unreachable)
		}
	}
}

func TestElementsCutOffTheFileAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir := small(t)
	resize(t, dir, hnswlib.Level0File, 200*element+5)
	g := loaded(t, dir, hnswlib.L2)
	if d := g.Damage(); g.Len() != 200 || d.Short != 100 || d.Neighbours == 0 || !d.Entry {
		t.Errorf("%d elements, %+v", g.Len(), d)
	}
	for _, h := range search(t, g, vectors(1, 8)[0], 200, 200, nil) {
		if h.Label > 200 {
			t.Errorf("%d was cut off", h.Label)
		}
	}
}

// A sparse file is as long as somebody likes, and a header says what it likes.
func TestLoadTakesNoMoreMemoryThanItMay(t *testing.T) {
	dir := small(t)
	patch(t, dir, hnswlib.HeaderFile, 20, u64(1<<31)...)
	resize(t, dir, hnswlib.Level0File, element<<31)
	resize(t, dir, hnswlib.LinksFile, 1<<40)
	r := open(t, dir)
	var large *hnswlib.TooLargeError
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, limit := range []int64{0, 1, 1 << 30} {
		if _, err := hnswlib.Load(context.Background(), r, hnswlib.L2, limit); !errors.As(err, &large) || large.Need < 1<<38 {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
	// Lists above level 0 are held against the limit as they come.
	all := make([]int, 200)
	for i := range all {
		all[i] = 60
	}
	tall := t.TempDir()
	must(t, hnswtest.Write(tall, hnswtest.Segment{Dimension: 2, Vectors: vectors(200, 2), Levels: all, Rough: true}))
	if g, err := hnswlib.Load(context.Background(), open(t, tall), hnswlib.L2, 200<<10); err != nil || !g.Damage().Links {
		t.Errorf("%v", err)
	}
	if g := loaded(t, tall, hnswlib.L2); g.Damage().Links {
		t.Errorf("%+v", g.Damage())
	}
}

func TestLoadStopsWhenCancelledOrTheFileIsCut(t *testing.T) {
	t.Parallel()
	dir := small(t)
	r := open(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := hnswlib.Load(ctx, r, hnswlib.L2, math.MaxInt64); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	resize(t, dir, hnswlib.Level0File, 1000)
	var short *hnswlib.ShortError
	if _, err := hnswlib.Load(context.Background(), r, hnswlib.L2, 0); !errors.As(err, &short) {
		t.Error(err)
	}
}
