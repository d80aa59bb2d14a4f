package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"castellan/palace/backend"
)

// byHand computes distances in float64 and sorts everything.
func byHand(m *memory, q []float32, space string) []near {
	var list []near
	for i, r := range m.records {
		var dot, qq, vv, l2 float64
		for j := range q {
			a, b := float64(q[j]), float64(r.Embedding[j])
			dot, qq, vv, l2 = dot+a*b, qq+a*a, vv+b*b, l2+(a-b)*(a-b)
		}
		d := 1 - dot/math.Sqrt(qq*vv)
		switch space {
		case "l2":
			d = l2
		case "ip":
			d = 1 - dot
		}
		list = append(list, near{float32(d), i, r.ID})
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.at, b.at))
	})
	return list
}

func random(rng *rand.Rand, n, dim int) [][]float32 {
	list := make([][]float32, n)
	for i := range list {
		list[i] = make([]float32, dim)
		for j := range list[i] {
			list[i][j] = float32(rng.NormFloat64() * 3)
		}
	}
	return list
}

func TestTheScanFindsWhatIsNearest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, space := range []string{"cosine", "l2", "ip", ""} {
		m := collection(space, random(rng, 700, 19)...)
		loaded, err := LoadVectors(t.Context(), m, backend.Filter{}, 0)
		must(t, err)
		for _, q := range random(rng, 5, 19) {
			want := byHand(m, q, space)
			for _, e := range []Engine{NewExactScan(m), loaded} {
				for _, k := range []int{1, 10, 257, 1000} {
					found, err := e.Search(t.Context(), Query{Vector: q, K: k})
					must(t, err)
					if found.Considered != 700 || len(found.Hits) != min(k, 700) {
						t.Fatalf("%s %T: %d hits of %d considered", space, e, len(found.Hits), found.Considered)
					}
					for i, h := range found.Hits {
						// Neighbours closer than rounding may change places.
						if tolerance := 1e-5 * (1 + math.Abs(float64(want[i].distance))); math.Abs(*h.Distance-float64(want[i].distance)) > tolerance {
							t.Fatalf("%s %T: hit %d is %s at %g, by hand it is %s at %g", space, e, i, h.ID, *h.Distance, want[i].id, want[i].distance)
						}
					}
				}
			}
		}
	}
}

func TestTiesStandInTheOrderOfFiling(t *testing.T) {
	t.Parallel()
	v := [][]float32{{0, 1}, {1, 0}, {2, 0}, {1, 0}, {0, -1}, {3, 0}, {1, 0}}
	found, err := NewExactScan(collection("cosine", v...)).Search(t.Context(), Query{Vector: []float32{5, 0}, K: 4})
	must(t, err)
	sameIDs(t, found.Hits, "a1", "a2", "a3", "a5")
	for _, h := range found.Hits {
		if *h.Distance != 0 {
			t.Errorf("%s is at %g", h.ID, *h.Distance)
		}
	}
}

// Chroma keeps a vector of zeros as it is, and it is at 1 from everything.
func TestZeroVectorsAreAtOne(t *testing.T) {
	t.Parallel()
	found, err := NewExactScan(collection("cosine", []float32{0, 0}, []float32{1, 0}, []float32{-1, 0})).Search(t.Context(), Query{Vector: []float32{1, 0}, K: 3})
	must(t, err)
	sameIDs(t, found.Hits, "a1", "a0", "a2")
	if d := *found.Hits[1].Distance; d != 1 {
		t.Errorf("zeros are at %g", d)
	}
}

func TestVectorsThatCannotBeComparedAreCounted(t *testing.T) {
	t.Parallel()
	nan, huge := float32(math.NaN()), float32(3e38)
	m := collection("cosine", []float32{1, 0}, nil, []float32{nan, 1}, []float32{1, 2, 3}, []float32{huge, huge}, []float32{0, 1})
	for _, load := range []bool{false, true} {
		var e Engine = NewExactScan(m)
		if load {
			v, err := LoadVectors(t.Context(), m, backend.Filter{}, 0)
			must(t, err)
			e = v
		}
		found, err := e.Search(t.Context(), Query{Vector: []float32{1, 0}, K: 9})
		must(t, err)
		sameIDs(t, found.Hits, "a0", "a5")
		if found.Considered != 2 || found.Unreached != 4 {
			t.Errorf("%d considered and %d unreached", found.Considered, found.Unreached)
		}
	}
}

func TestAScanWithoutAnyVectorSaysSo(t *testing.T) {
	t.Parallel()
	_, err := NewExactScan(collection("cosine", nil, nil)).Search(t.Context(), Query{Vector: []float32{1}, K: 1})
	if !errors.Is(err, ErrNoVectors) {
		t.Errorf("got %v", err)
	}
	found, err := NewExactScan(collection("cosine")).Search(t.Context(), Query{Vector: []float32{1}, K: 1})
	if err != nil || len(found.Hits) != 0 {
		t.Errorf("an empty collection gives %v, %v", found, err)
	}
}

func TestQuestionsThatCannotBeAskedAreRefused(t *testing.T) {
	t.Parallel()
	m := collection("cosine", []float32{1, 0})
	var size *DimensionError
	if _, err := NewExactScan(m).Search(t.Context(), Query{Vector: []float32{1, 0, 0}, K: 1}); !errors.As(err, &size) || size.Want != 2 || size.Got != 3 {
		t.Errorf("a vector of three gives %v", err)
	}
	if _, err := NewExactScan(m).Search(t.Context(), Query{Vector: []float32{1, float32(math.Inf(1))}, K: 1}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("infinity gives %v", err)
	}
}

func TestAScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := collection("cosine", []float32{1, 0})
	for _, ask := range []func() error{
		func() error { _, err := NewExactScan(m).Search(ctx, Query{Vector: []float32{1, 0}, K: 1}); return err },
		func() error {
			_, err := NewKeywordSearch(m, nil).Search(ctx, Query{Words: "document", K: 1})
			return err
		},
		func() error { _, err := LoadVectors(ctx, m, backend.Filter{}, 0); return err },
		func() error { _, err := New(m, Options{}).Search(ctx, Question{Words: "document"}); return err },
		func() error { _, err := New(m, Options{}).Measure(ctx, nil); return err },
	} {
		if err := ask(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestExceptLeavesOneOut(t *testing.T) {
	t.Parallel()
	m := collection("cosine", []float32{1, 0}, []float32{1, 0.1}, []float32{0, 1})
	found, err := NewExactScan(m).Search(t.Context(), Query{Vector: []float32{1, 0}, K: 2, Except: "a0"})
	must(t, err)
	sameIDs(t, found.Hits, "a1", "a2")
}

func TestNearestKeepsTheBestOfAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for k := range 12 {
		all := make([]near, 60)
		for i := range all {
			all[i] = near{float32(rng.IntN(20)), i, fmt.Sprint(i)}
		}
		n := nearest{k: k}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, r := range all {
			if n.beats(r.distance) {
				n.offer(r)
			}
		}
		slices.SortFunc(all, nearer)
		var want []string
		for _, r := range all[:k] {
			want = append(want, r.id)
		}
		sameIDs(t, n.hits(), want...)
	}
}
