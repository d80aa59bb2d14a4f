package health

import (
	"context"
	"testing"

	"castellan/palace"
)

func TestACalledOffCheckEndsWithoutAVerdictOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := makeSpecimen(t, "dimensionality-none")
	e := examinerIn(t, t.TempDir())
	site := e.opts.Manager.Examine(context.Background(), dir)
	ctx, cancel := context.WithCancel(context.Background())
	var shares []float64
	r := e.Watch(ctx, palace.Found{Ref: site.Ref}, Full, Watch{Progress: func(p Progress) {
		shares = append(shares, p.Share())
		cancel()
	}})
	if len(shares) == 0 || r.Error == nil || len(e.kept) != 0 {
		t.Errorf("%v told, %v, %d kept", shares, r.Error, len(e.kept))
	}
}

func TestWhoWatchesHearsEveryFindingAndHowFarItIs(t *testing.T) {
	t.Parallel()
	dir := makeSpecimen(t, "equal-counts-differ")
	e := examinerIn(t, t.TempDir())
	site := e.opts.Manager.Examine(context.Background(), dir)
	heard := map[Code]int{}
	last := -1.0
	r := e.Watch(context.Background(), palace.Found{Ref: site.Ref}, Full, Watch{
		Finding:  func(f Finding) { heard[f.Code]++ },
		Progress: func(p Progress) { last = p.Share() },
	})
	for _, f := range r.Findings {
		heard[f.Code]--
	}
	for code, n := range heard {
		if n != 0 {
			t.Errorf("%s was told %+d times more than it is in the report", code, n)
		}
	}
	if last <= 0 || last > 1 {
		t.Errorf("the last share told was %v", last)
	}
}
