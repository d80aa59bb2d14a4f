package seek_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"castellan/palace/backend"
	"castellan/palace/search"
	"castellan/palace/search/seek"
	"castellan/palace/specimen"
)

// What is kept must answer as what is read, also when many ask at once, and be
// forgotten when the palace changes.
func TestWhatIsKeptAnswersAsWhatIsRead(t *testing.T) {
	t.Parallel()
	dir := sample(t, "synced")
	p := open(t, dir)
	kept := seek.NewKept()
	like := firstID(t, p)
	find := func(q search.Question, with seek.Options) search.Answer {
		t.Helper()
		s, err := seek.Open(t.Context(), p, drawers, with)
		if err != nil {
			t.Error(err)
			return search.Answer{}
		}
		a, err := s.Search(t.Context(), q)
		if err != nil {
			t.Error(err)
		}
		return a
	}
	same := func() {
		t.Helper()
		var wg sync.WaitGroup
		for _, q := range []search.Question{
			{Like: like, Results: 20}, {Like: like, Results: 20, Engine: search.Stored},
			{Like: like, Results: 20, Filter: backend.Filter{Where: backend.Equal("wing", "wing_code")}},
		} {
			want := find(q, seek.Options{})
			for range 3 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					got := find(q, seek.Options{Kept: kept})
					if got.Engine != want.Engine || got.Considered != want.Considered || len(got.Hits) != len(want.Hits) {
						t.Errorf("%s\n%s", got.Reason, want.Reason)
						return
					}
					for i, h := range got.Hits {
						if h.ID != want.Hits[i].ID || *h.Distance != *want.Hits[i].Distance {
							t.Errorf("hit %d is %s at %g, read it is %s at %g", i, h.ID, *h.Distance, want.Hits[i].ID, *want.Hits[i].Distance)
							return
						}
					}
				}()
			}
		}
		wg.Wait()
	}
	same()
	before := find(search.Question{Like: like}, seek.Options{Kept: kept}).Considered
	// Another palace takes the place of the files: half of the index is gone.
	level0, err := filepath.Glob(filepath.Join(dir, "*", "data_level0.bin"))
	if err != nil || len(level0) == 0 {
		t.Fatal(err, level0)
	}
	for _, path := range level0 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/2); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	same()
	if after := find(search.Question{Like: like}, seek.Options{Kept: kept}); after.Considered >= before || !after.Degraded {
		t.Errorf("%d vectors were considered and now %d: %s", before, after.Considered, after.Reason)
	}
}

func TestAWaitForWhatIsKeptEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "fresh"))
	s, err := seek.Open(t.Context(), p, specimen.Drawers, seek.Options{Kept: seek.NewKept()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, search.Question{Like: firstID(t, p)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
