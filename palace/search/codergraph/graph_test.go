//go:build !windows

package codergraph

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func rows(n, dim int) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]float32, n*dim)
	for i := range list {
		list[i] = float32(rng.NormFloat64())
	}
	return list
}

func TestTheSameVectorsGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	all := rows(300, 8)
	for _, l2 := range []bool{false, true} {
		a, err := Build(t.Context(), all, 8, l2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Search(all[:8], 200)
		if err != nil || len(got) == 0 || len(got) > 200 {
			t.Fatalf("%d found, %v", len(got), err)
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != len(got) || got[0] < 0 || got[len(got)-1] >= 300 {
			t.Errorf("found %v", got)
		}
		if l2 && !slices.Contains(got, 0) {
			t.Error("a stored vector is not found")
		}
	}
}

func TestPanicsOfTheLibraryAreErrors(t *testing.T) {
	t.Parallel()
	g, err := Build(t.Context(), rows(30, 4), 4, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Search(make([]float32, 7), 3); err == nil {
		t.Error("a vector of another size is taken")
	}
}

func TestBuildingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, rows(30, 4), 4, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
