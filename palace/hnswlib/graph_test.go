package hnswlib_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"castellan/palace/hnswlib"
)

// clustered makes n vectors around a few centres, as texts are.
func clustered(n, dimension, centres int) [][]float32 {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	middle := vectors(centres, dimension)
	all := make([][]float32, n)
	for i := range all {
		all[i] = slices.Clone(middle[rng.IntN(centres)])
		for j := range all[i] {
			all[i][j] += 0.3 * float32(rng.NormFloat64())
		}
	}
	return all
}

// jittered are vectors near some of the given ones.
func jittered(all [][]float32, n int) [][]float32 {
	rng := rand.New(rand.NewPCG(12, uint64(n)))
	qs := make([][]float32, n)
	for i := range qs {
		qs[i] = slices.Clone(all[rng.IntN(len(all))])
		for j := range qs[i] {
			qs[i][j] += 0.1 * float32(rng.NormFloat64())
		}
	}
	return qs
}

// built is a graph of the vectors with labels from 1.
func built(t testing.TB, o hnswlib.BuildOptions, all [][]float32) *hnswlib.Graph {
	t.Helper()
	if len(all) > 0 {
		o.Dimension = len(all[0])
	}
	b, err := hnswlib.NewBuilder(o, len(all))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range all {
		if err := b.Add(uint64(i)+1, v); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// exact answers by comparing with all, in float64; skip leaves labels out.
func exact(space hnswlib.Space, all [][]float32, q []float32, k int, skip func(label uint64) bool) []hnswlib.Hit {
	var hits []hnswlib.Hit
	for i, v := range all {
		if skip != nil && skip(uint64(i)+1) {
			continue
		}
		var dot, vv, qq, l2 float64
		for j := range v {
			a, b := float64(v[j]), float64(q[j])
			dot += a * b
			vv += a * a
			qq += b * b
			l2 += (a - b) * (a - b)
		}
		d := map[hnswlib.Space]float64{hnswlib.L2: l2, hnswlib.IP: 1 - dot, hnswlib.Cosine: 1 - dot/math.Sqrt(vv*qq)}[space]
		hits = append(hits, hnswlib.Hit{Label: uint64(i) + 1, Distance: float32(d)})
	}
	slices.SortFunc(hits, func(a, b hnswlib.Hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Label, b.Label))
	})
	return hits[:min(k, len(hits))]
}

// recall is the part of the right answers that were found.
func recall(got, want []hnswlib.Hit) float64 {
	found := 0
	for _, w := range want {
		if slices.ContainsFunc(got, func(h hnswlib.Hit) bool { return h.Label == w.Label }) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

func search(t testing.TB, g *hnswlib.Graph, q []float32, k, ef int, allow func(uint64) bool) []hnswlib.Hit {
	t.Helper()
	hits, err := g.Search(context.Background(), q, k, ef, allow)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestBuiltGraphFindsWhatAnExactScanFinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		all   [][]float32
		space hnswlib.Space
		least float64
	}{
		"clusters, cosine": {clustered(3000, 32, 40), hnswlib.Cosine, 0.98},
		"clusters, l2":     {clustered(3000, 32, 40), hnswlib.L2, 0.98},
		"random, l2":       {vectors(2000, 16), hnswlib.L2, 0.97},
		"random, cosine":   {vectors(2000, 16), hnswlib.Cosine, 0.97},
		// The inner product is no distance: long vectors are near to everything.
		"random, ip": {vectors(2000, 16), hnswlib.IP, 0.9},
		"one":        {vectors(1, 4), hnswlib.L2, 1},
		"two":        {vectors(2, 4), hnswlib.Cosine, 1},
		"seventeen":  {vectors(17, 4), hnswlib.IP, 1},
	} {
		for _, workers := range []int{1, 3} {
			g := built(t, hnswlib.BuildOptions{Space: c.space, Workers: workers}, c.all)
			sum, qs := 0.0, jittered(c.all, 60)
			for _, q := range qs {
				want := exact(c.space, c.all, q, 10, nil)
				got := search(t, g, q, 10, 100, nil)
				if len(got) != len(want) {
					t.Fatalf("%s: %d answers", name, len(got))
				}
				sum += recall(got, want)
				for _, h := range got {
					w := exact(c.space, c.all[h.Label-1:h.Label], q, 1, nil)[0].Distance
					if math.Abs(float64(h.Distance-w)) > 1e-4*(1+math.Abs(float64(w))) {
						t.Fatalf("%s: distance of %d is %v, not %v", name, h.Label, h.Distance, w)
					}
				}
			}
			if got := sum / float64(len(qs)); got < c.least {
				t.Errorf("%s, %d workers: recall %.3f", name, workers, got)
			}
			if n := g.Unreachable(); n != 0 {
				t.Errorf("%s, %d workers: %d elements cannot be reached", name, workers, n)
			}
		}
	}
}
