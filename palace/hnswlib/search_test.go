package hnswlib_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

// The server searched its index and the queue's tail; what it answered out of
// the index must be found here in the same order at the same distances.
func TestSearchOfARealIndexAnswersWhatTheServerAnswered(t *testing.T) {
	t.Parallel()
	dir := segments(t, "synced")[0]
	m, err := pickle.ReadFile(context.Background(), filepath.Join(dir, hnswlib.PickleFile))
	if err != nil {
		t.Fatal(err)
	}
	idOf := make(map[uint64]string)
	for id, label := range m.IDs {
		idOf[label] = id
	}
	var expected struct {
		Collections []answers `json:"collections"`
	}
	b, err := os.ReadFile(filepath.Join(palaces, "synced", "expected.json"))
	if err == nil {
		err = json.Unmarshal(b, &expected)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := loaded(t, dir, hnswlib.Cosine)
	if g.Damage() != (hnswlib.Damage{}) || g.Len() != 2540 || g.Live() != 2380 || g.Dimension() != 384 {
		t.Fatalf("%d elements, %d live, %+v", g.Len(), g.Live(), g.Damage())
	}
	checked := 0
	for _, q := range expected.Collections[0].Queries {
		query := make([]float32, len(q.Query))
		for i, x := range q.Query {
			query[i] = float32(x)
		}
		var theirs []string // of the index
		var distances []float64
		for i, id := range q.IDs {
			if _, ok := m.IDs[id]; ok {
				theirs, distances = append(theirs, id), append(distances, q.Distances[i])
			}
		}
		var ours []string
		for _, h := range search(t, g, query, len(q.IDs)+31, 100, nil) {
			id, ok := idOf[h.Label]
			if !ok {
				t.Fatalf("label %d, which is deleted, was found", h.Label)
			}
			// The 31 operations in the queue delete and change some.
			if i := slices.Index(theirs, id); i >= 0 {
				ours = append(ours, id)
				if math.Abs(float64(h.Distance)-distances[i]) > 2e-6 {
					t.Errorf("%s is at %v, the server said %v", id, h.Distance, distances[i])
				}
			}
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("found %v\nthe server %v", ours, theirs)
		}
		checked += len(theirs)
	}
	if checked < 50 {
		t.Fatalf("only %d answers could be compared", checked)
	}
}

func TestDeletedElementsAreWaysAndNotAnswers(t *testing.T) {
	t.Parallel()
	all := clustered(800, 12, 5)
	deleted := make([]bool, len(all))
	gone := func(label uint64) bool { return deleted[label-1] }
	for i := range deleted {
		deleted[i] = i%3 != 0
	}
	dir := t.TempDir()
	if err := hnswtest.Write(dir, hnswtest.Segment{Dimension: 12, Vectors: all, Deleted: deleted}); err != nil {
		t.Fatal(err)
	}
	g := loaded(t, dir, hnswlib.L2)
	sum := 0.0
	for _, q := range jittered(all, 40) {
		got := search(t, g, q, 10, 100, nil)
		for _, h := range got {
			if gone(h.Label) {
				t.Fatalf("%d is deleted", h.Label)
			}
		}
		sum += recall(got, exact(hnswlib.L2, all, q, 10, gone))
	}
	if sum/40 < 0.95 || g.Live() != 267 {
		t.Errorf("recall %v among %d live", sum/40, g.Live())
	}
	// hnswlib #608: more asked than live.
	if got := search(t, g, all[0], 800, 800, nil); len(got) != 267 {
		t.Errorf("%d of 267 live were found", len(got))
	}
}

func TestFilterIsAskedOnceForAnElementAndPassedThrough(t *testing.T) {
	t.Parallel()
	all := clustered(1500, 12, 30)
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.Cosine}, all)
	odd := func(label uint64) bool { return label%5 != 0 }
	for _, q := range jittered(all, 30) {
		asked := make(map[uint64]int)
		got := search(t, g, q, 10, 200, func(label uint64) bool { asked[label]++; return !odd(label) })
		want := exact(hnswlib.Cosine, all, q, 10, odd)
		if r := recall(got, want); r < 0.9 {
			t.Errorf("recall %v", r)
		}
		for label, n := range asked {
			if n != 1 {
				t.Errorf("asked %d times for %d", n, label)
			}
		}
		for _, h := range got {
			if odd(h.Label) {
				t.Errorf("%d was refused and found", h.Label)
			}
		}
	}
	if got := search(t, g, all[0], 10, 10, func(uint64) bool { return false }); len(got) != 0 {
		t.Errorf("everything was refused and %v found", got)
	}
	// Nothing is found before the search has met it, however far it is.
	if got := search(t, g, all[0], 1, 1, func(label uint64) bool { return label == 1234 }); len(got) != 1 || got[0].Label != 1234 {
		t.Errorf("the only one allowed was not found: %v", got)
	}
}

// Equal vectors fill each other's lists: with hnswlib the rest of the index, or
// they themselves, can be cut off.
func TestEqualVectorsAreAllFoundInTheOrderOfTheirLabels(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2} {
		all := clustered(400, 8, 20)
		for range 300 {
			all = append(all, all[7])
		}
		all = append(all, clustered(200, 8, 20)...)
		g := built(t, hnswlib.BuildOptions{Space: hnswlib.L2, Workers: workers}, all)
		if n := g.Unreachable(); n != 0 {
			t.Errorf("%d elements are cut off", n)
		}
		got := search(t, g, all[7], 301, 400, nil)
		for i, h := range got {
			if want := []uint64{8, uint64(400 + i)}[min(i, 1)]; h.Distance != 0 || h.Label != want {
				t.Fatalf("answer %d is %+v, not label %d", i, h, want)
			}
		}
	}
}

func TestQueriesThatCannotBeAskedAreRefused(t *testing.T) {
	t.Parallel()
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.Cosine}, vectors(50, 3))
	var refused *hnswlib.QueryError
	for _, q := range [][]float32{nil, {1, 2}, {1, 2, float32(math.NaN())}, {float32(math.Inf(1)), 0, 0}, {3e38, 3e38, 0}} {
		if hits, err := g.Search(context.Background(), q, 3, 10, nil); !errors.As(err, &refused) {
			t.Errorf("%v: %v, %v", q, hits, err)
		}
	}
	for _, k := range []int{0, -1} {
		if got := search(t, g, []float32{1, 0, 0}, k, 10, nil); len(got) != 0 {
			t.Errorf("%d asked, %v answered", k, got)
		}
	}
	if got := search(t, g, []float32{0, 0, 0}, math.MaxInt, math.MaxInt, nil); len(got) != 50 {
		t.Errorf("all of 50 asked, %d answered", len(got))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Search(ctx, []float32{1, 0, 0}, 3, 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	none := built(t, hnswlib.BuildOptions{Dimension: 3}, nil)
	if got := search(t, none, []float32{1, 0, 0}, 3, 10, nil); len(got) != 0 || none.Len() != 0 {
		t.Errorf("%v in an empty index", got)
	}
}

func TestManySearchAtOnceAsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	all := clustered(600, 8, 12)
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.IP, Workers: 2}, all)
	qs := jittered(all, 30)
	want := make([][]hnswlib.Hit, len(qs))
	for i, q := range qs {
		want[i] = search(t, g, q, 10, 40, nil)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, q := range qs {
				if got, err := g.Search(context.Background(), q, 10, 40, nil); err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("query %d: %v, %v", i, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestSearchAllocatesItsAnswerOnly(t *testing.T) {
	all := clustered(500, 8, 12)
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.Cosine}, all)
	search(t, g, all[0], 10, 50, nil)
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := g.Search(ctx, all[3], 10, 50, nil); err != nil {
			t.Error(err)
		}
	}); n > 2 && !underRace {
		t.Errorf("%v allocations a search", n)
	}
}
