package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"castellan/palace/backend"
)

// trial is some questions and the right answers to them, by which engines are
// measured.
type trial struct {
	k         int
	questions [][]float32
	right     []map[string]bool
	// last is the distance of the last right answer: what is as near is right
	// as well.
	last []float64
}

// newTrial draws questions from stored vectors, always the same ones.
func newTrial(v *Vectors, questions, k int) *trial {
	t := &trial{k: k}
	if v.Len() == 0 {
		return t
	}
	rng := rand.New(rand.NewPCG(uint64(v.Len()), 0x5eed))
	for range questions {
		t.questions = append(t.questions, jitter(v.row(rng.IntN(v.Len())), rng))
	}
	return t
}

// truth finds the right answers among loaded vectors.
func (t *trial) truth(ctx context.Context, v *Vectors) error {
	for _, q := range t.questions {
		found, err := v.Search(ctx, Query{Vector: q, K: t.k})
		if err != nil {
			return err
		}
		t.answered(found.Hits)
	}
	return nil
}

// truthOf finds the right answers among all vectors of a source, in one walk
// for all questions.
func (t *trial) truthOf(ctx context.Context, s Source) error {
	space := spaceOf(s)
	best := make([]nearest, len(t.questions))
	asked := make([][]float32, len(t.questions))
	for i, q := range t.questions {
		v, err := askable(s, q, space)
		if err != nil {
			return err
		}
		best[i].k, asked[i] = t.k, v
	}
	first := 0
	var page block
	err := eachPage(ctx, s, backend.Filter{}, func(list []backend.Record) error {
		for _, r := range list {
			if page.dim == 0 {
				page = block{space: space, dim: len(r.Embedding)}
			}
			page.add(r.ID, r.Embedding)
		}
		for i := range best {
			page.offer(&best[i], asked[i], first, "")
		}
		first += len(page.ids)
		page.reset()
		return ctx.Err()
	})
	for i := range best {
		t.answered(best[i].hits())
	}
	return err
}

func (t *trial) answered(hits []Hit) {
	right := make(map[string]bool, len(hits))
	last := 0.0
	for _, h := range hits {
		right[h.ID], last = true, *h.Distance
	}
	t.right, t.last = append(t.right, right), append(t.last, last)
}

// measure asks an engine all questions.
func (t *trial) measure(ctx context.Context, e Engine) (Measured, error) {
	m := Measured{Name: e.Name(), Questions: len(t.questions)}
	var times []time.Duration
	got, want := 0, 0
	for i, q := range t.questions {
		start := time.Now()
		found, err := e.Search(ctx, Query{Vector: q, K: t.k})
		times = append(times, time.Since(start))
		if err != nil {
			return m, err
		}
		m.Vectors = found.Considered
		want += len(t.right[i])
		n := 0
		for _, h := range found.Hits {
			if t.right[i][h.ID] || *h.Distance <= t.last[i] {
				n++
			}
		}
		got += min(n, len(t.right[i]))
	}
	if want > 0 {
		m.Recall = float64(got) / float64(want)
	}
	if len(times) > 0 {
		slices.Sort(times)
		m.Median, m.Slow = times[len(times)/2], times[len(times)*95/100]
	}
	return m, nil
}
