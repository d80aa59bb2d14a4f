package search

import (
	"context"
	"time"

	"castellan/palace/backend"
	"castellan/palace/simd"
)

// Quality is how well the ways to search by meaning do on a collection's own
// vectors.
type Quality struct {
	Collection string
	Dimension  int
	Space      string
	// Drawers is how many there are, Loaded how many vectors were read for the
	// measurement, Unreached how many of those looked at have none.
	Drawers, Loaded, Unreached int
	// Kernel is what computes distances.
	Kernel string
	// Nearest is how many each question asks for.
	Nearest int
	// Engines are the exact scan, the stored index and the graph.
	Engines []Measured
	// Index is the shape of the stored index, nil where there is none.
	Index *IndexShape
}

// Measured is one engine, measured against the exact scan.
type Measured struct {
	Name string
	// Recall is the share of the nearest that were found.
	Recall    float64
	Questions int
	// Median and Slow are times of a question: half of them, and 95 of 100,
	// were quicker.
	Median, Slow time.Duration
	// Build is what had to be done before the first question: loading vectors,
	// reading the index, building the graph.
	Build time.Duration
	// Vectors is how many the engine searched.
	Vectors int
	// Refused says why there is no figure, or why it is not to be used.
	Refused string
}

// IndexShape is what an index looks like from inside.
type IndexShape struct {
	Elements, Tombstones int
	// Unreachable elements are found by no search.
	Unreachable int
	// Levels is the number of elements that reach each level.
	Levels []int
	// MinDegree, MeanDegree and MaxDegree count neighbours on level 0, of which
	// there may be MostDegree.
	MinDegree, MaxDegree, MostDegree int
	MeanDegree                       float64
}

// Shaped is an engine that can tell how its index is made.
type Shaped interface{ Shape() IndexShape }

// Bounds of a measurement: how many vectors are in memory for it (77 MB of 384
// floats), and how many the graph is built of, which takes about a millisecond
// each.
const (
	maxLoaded  = 50_000
	graphDraws = 2_000
)

// Measure measures the exact scan, the stored index and a graph with the same
// questions. done counts the parts that are finished; it may be nil. An engine
// that cannot be measured says why in its place.
func (s *Searcher) Measure(ctx context.Context, done func(part string)) (Quality, error) {
	if done == nil {
		done = func(string) {}
	}
	q := Quality{Collection: s.source.Info().Name, Space: spaceOf(s.source), Kernel: simd.Kernel(), Nearest: testNearest}
	n, err := s.source.Count(ctx, backend.Filter{})
	if err != nil {
		return q, err
	}
	q.Drawers = int(n)
	start := time.Now()
	v, err := LoadVectors(ctx, s.source, backend.Filter{}, maxLoaded)
	if err != nil {
		return q, err
	}
	loading := time.Since(start)
	q.Dimension, q.Loaded, q.Unreached = v.dim, v.Len(), v.unreached
	if v.Len() == 0 {
		return q, ErrNoVectors
	}
	done("vectors")
	t := newTrial(v, testQuestions, testNearest)
	if v.truncated {
		err = t.truthOf(ctx, s.source)
	} else {
		err = t.truth(ctx, v)
	}
	if err != nil {
		return q, err
	}
	exact, err := measureExact(ctx, v, t)
	if err != nil {
		return q, err
	}
	exact.Build = loading
	q.Engines = append(q.Engines, exact)
	done(Exact)
	for _, part := range []struct {
		name    string
		measure func() (Measured, error)
	}{
		{Stored, func() (Measured, error) { return s.measureStored(ctx, t, &q) }},
		{Graph, func() (Measured, error) { return measureGraph(ctx, v) }},
	} {
		m, err := part.measure()
		if ctx.Err() != nil {
			return q, ctx.Err()
		}
		if m.Name = part.name; err != nil {
			m.Refused = err.Error()
		}
		q.Engines = append(q.Engines, m)
		done(part.name)
	}
	return q, nil
}

// measureExact times the scan of what is loaded. It is right by definition, also
// where only a part of a large collection is loaded.
func measureExact(ctx context.Context, v *Vectors, t *trial) (Measured, error) {
	m, err := t.measure(ctx, v)
	m.Recall = 1
	return m, err
}

func (s *Searcher) measureStored(ctx context.Context, t *trial, q *Quality) (Measured, error) {
	var m Measured
	start := time.Now()
	r := run{Searcher: s, q: Question{Engine: Stored}}
	e, err := r.engine(ctx)
	if err != nil {
		return m, err
	}
	took := time.Since(start)
	if shaped, ok := e.(Shaped); ok {
		shape := shaped.Shape()
		q.Index = &shape
	}
	m, err = t.measure(ctx, e)
	m.Build = took
	return m, err
}

// measureGraph builds a graph of some vectors, spread evenly, and measures it
// among those.
func measureGraph(ctx context.Context, v *Vectors) (Measured, error) {
	sample := v.spread(graphDraws)
	var m Measured
	start := time.Now()
	g, err := buildGraph(ctx, sample)
	if err != nil {
		return m, err
	}
	took := time.Since(start)
	t := newTrial(sample, testQuestions, testNearest)
	if err := t.truth(ctx, sample); err != nil {
		return m, err
	}
	m, err = t.measure(ctx, g)
	m.Build = took
	if err == nil && m.Recall < wantedRecall {
		err = &RecallError{m.Recall, m.Questions}
	}
	return m, err
}

// spread is n of the vectors, evenly spaced, or all if there are no more.
func (v *Vectors) spread(n int) *Vectors {
	if v.Len() <= n {
		return v
	}
	out := &Vectors{source: v.source, block: block{space: v.space, dim: v.dim}}
	for i := range n {
		at := i * v.Len() / n
		out.ids = append(out.ids, v.ids[at])
		out.rows = append(out.rows, v.row(at)...)
	}
	return out
}
