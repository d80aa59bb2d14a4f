package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"castellan/palace/backend"

	"github.com/dustin/go-humanize"
)

// Options are what a Searcher may use beside the drawers themselves; each part
// may be missing.
type Options struct {
	// Embedder makes a vector of the words of a question. Without one they are
	// searched for as words; NoEmbedder says why there is none.
	Embedder   Embedder
	NoEmbedder string
	// Made names who made the vectors, where something else than the collection
	// itself records it.
	Made string
	// Closets are asked for hints about sources.
	Closets Source
	// Texts is the full-text index.
	Texts TextIndex
	// Engines make the engines beside the exact scan, by name, for one filter.
	// An engine that cannot answer says why. One named Exact stands in for the
	// scan that reads all vectors for each question, where it can.
	Engines map[string]func(ctx context.Context, f backend.Filter) (Engine, error)
	// Weights of the hybrid ranking; DefaultWeights if zero.
	Weights Weights
	// Now is time.Now unless a test sets it.
	Now func() time.Time
}

// Searcher answers questions about one collection.
type Searcher struct {
	source Source
	o      Options
}

// New makes a Searcher over the drawers in source.
func New(source Source, o Options) *Searcher {
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Searcher{source, o}
}

// Question is what a person asks: words, or a drawer that others shall be like.
type Question struct {
	Words string
	Like  string // an id; then Words are not looked at
	// Filter narrows the drawers, Results is how many are wanted.
	Filter  backend.Filter
	Results int
	// Engine is the name of the engine that is asked for; empty chooses.
	Engine string
}

// Answer is what was found and how far it can be believed.
type Answer struct {
	Hits []Hit
	// Engine is the name of the one that answered. Brief says what it looked at
	// and what it took, Reason also why it was this one.
	Engine, Brief, Reason string
	// Degraded says that the answer is less than what was asked for, and Lacks
	// in what; Reason has that too.
	Degraded bool
	Lacks    []string
	// Considered is the number of drawers compared with, Unreached that of
	// drawers whose vector cannot be read.
	Considered, Unreached int
	Elapsed               time.Duration
	// Terms are the words to mark in the texts.
	Terms []string
}

// MaxResults bounds the hits of one answer, which are in memory with their
// texts.
const MaxResults = 1000

// NotFoundError says that there is no drawer of that id.
type NotFoundError struct{ Collection, ID string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s holds no drawer %q; castellan drawers lists what there is", e.Collection, e.ID)
}

// EngineError says that there is no engine of that name here.
type EngineError struct{ Name string }

func (e *EngineError) Error() string {
	return fmt.Sprintf("no engine %q; there are exact, stored, graph and keyword", e.Name)
}

// Search answers a question. What keeps it from the engine that was asked for
// makes a lesser answer that says so, and not an error, as long as some other
// engine can answer.
func (s *Searcher) Search(ctx context.Context, q Question) (Answer, error) {
	if !slices.Contains([]string{"", Exact, Stored, Graph, Keyword}, q.Engine) {
		return Answer{}, &EngineError{q.Engine}
	}
	q.Results = min(max(q.Results, 1), MaxResults)
	r := &run{Searcher: s, q: q, start: s.o.Now()}
	err := r.answer(ctx)
	r.Elapsed = s.o.Now().Sub(r.start)
	if err == nil {
		r.explain()
	}
	return r.Answer, err
}

// run is one question on its way.
type run struct {
	*Searcher
	Answer
	q     Question
	start time.Time
	why   []string // what the reason consists of, beside the figures
	note  string
}

func (r *run) degrade(why string) {
	r.Degraded = true
	r.Lacks = append(r.Lacks, why)
	r.why = append(r.why, why)
}

func (r *run) answer(ctx context.Context) error {
	if r.q.Like != "" {
		return r.like(ctx)
	}
	r.Terms = Terms(r.q.Words)
	if r.q.Engine == Keyword {
		r.why = append(r.why, "as asked for")
		return r.keywords(ctx, r.q.Words, "")
	}
	vector, why, err := r.embed(ctx)
	if err != nil {
		return err
	}
	if vector == nil {
		r.degrade(why)
		return r.keywords(ctx, r.q.Words, "")
	}
	return r.hybrid(ctx, vector)
}

func (r *run) keywords(ctx context.Context, words, except string) error {
	found, err := NewKeywordSearch(r.source, r.o.Texts).Search(ctx, Query{Words: words, Filter: r.q.Filter, K: r.q.Results, Except: except})
	if err != nil {
		return err
	}
	r.Engine, r.Hits, r.Considered, r.note = Keyword, found.Hits, found.Considered, found.Note
	return nil
}

// like finds what is near to a drawer by its stored vector.
func (r *run) like(ctx context.Context) error {
	list, err := fetch(ctx, r.source, []string{r.q.Like}, backend.Documents|backend.Metadatas|backend.Embeddings)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &NotFoundError{r.source.Info().Name, r.q.Like}
	}
	words := ""
	if list[0].Document != nil {
		words = *list[0].Document
	}
	if list[0].Embedding == nil || r.q.Engine == Keyword {
		if r.q.Engine != Keyword {
			r.degrade("the vector of this drawer is neither in the index nor in the queue, so its words were compared")
		}
		r.Terms = Terms(words)
		return r.keywords(ctx, words, r.q.Like)
	}
	ok, err := r.vectors(ctx, Query{Vector: list[0].Embedding, Filter: r.q.Filter, K: r.q.Results, Except: r.q.Like})
	if err != nil {
		return err
	}
	if !ok {
		r.Terms = Terms(words)
		return r.keywords(ctx, words, r.q.Like)
	}
	space := spaceOf(r.source)
	for i := range r.Hits {
		r.Hits[i].Score = similarity(*r.Hits[i].Distance, space)
	}
	return nil
}

// How much wider than the page the candidates are drawn: MemPalace's figures.
// When copies of one text leave the page short, the pool grows fourfold.
const (
	poolFactor = 4
	poolGrowth = 4
	poolScale  = 16
	poolMost   = 500
)

// hybrid ranks what is near by BM25 as well.
func (r *run) hybrid(ctx context.Context, vector []float32) error {
	var by map[string]float64
	if r.o.Closets != nil {
		var err error
		by, err = boosts(ctx, r.o.Closets, Query{Vector: vector, Filter: r.q.Filter, K: 2 * r.q.Results})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			// A hint that cannot be had is no reason not to answer.
			r.why = append(r.why, "the closets gave no hints ("+err.Error()+")")
		}
	}
	pool := poolFactor * r.q.Results
	for scale := 1; ; scale *= poolGrowth {
		k := pool
		if scale > 1 {
			k = min(pool*scale, max(poolMost, pool))
		}
		ok, err := r.vectors(ctx, Query{Vector: vector, Filter: r.q.Filter, K: k})
		if err != nil {
			return err
		}
		if !ok {
			return r.keywords(ctx, r.q.Words, "")
		}
		fetched := len(r.Hits)
		if err := draw(ctx, r.source, r.Hits, by, r.q.Words); err != nil {
			return err
		}
		rank(r.Hits, r.q.Words, spaceOf(r.source), r.o.Weights)
		hits := fold(withoutRepeats(r.Hits, by))
		folded := slices.ContainsFunc(hits, func(h Hit) bool { return len(h.AlsoIn) > 0 })
		r.Hits = hits[:min(r.q.Results, len(hits))]
		if len(r.Hits) >= r.q.Results || fetched < k || !folded || scale >= poolScale || k >= poolMost {
			return nil
		}
	}
}

// vectors asks a vector engine, the one that was asked for if it can answer and
// the exact scan otherwise. It answers false when no vector can be reached.
func (r *run) vectors(ctx context.Context, q Query) (bool, error) {
	engine := r.scan(ctx)
	if r.q.Engine == Stored || r.q.Engine == Graph {
		other, err := r.engine(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			r.degrade("not the " + Words(r.q.Engine) + ": " + err.Error())
			r.q.Engine = Exact // the pool may be drawn again
		} else {
			engine = other
		}
	}
	found, err := engine.Search(ctx, q)
	if err != nil && ctx.Err() == nil && engine.Name() != Exact {
		r.degrade("not the " + Words(r.q.Engine) + ": " + err.Error())
		r.q.Engine = Exact
		engine = r.scan(ctx)
		found, err = engine.Search(ctx, q)
	}
	r.Engine, r.note = engine.Name(), found.Note
	r.Considered, r.Unreached = found.Considered, found.Unreached
	switch {
	case errors.Is(err, ErrNoVectors):
		r.degrade("the vectors cannot be read, so words were searched for and not meaning")
		return false, nil
	case err != nil:
		return false, err
	}
	return true, r.fill(ctx, found.Hits)
}

// scan is the exact scan.
func (r *run) scan(ctx context.Context) Engine {
	if open, ok := r.o.Engines[Exact]; ok && (r.q.Engine == "" || r.q.Engine == Exact) {
		if e, err := open(ctx, r.q.Filter); err == nil {
			return e
		}
	}
	return NewExactScan(r.source)
}

func (r *run) engine(ctx context.Context) (Engine, error) {
	open, ok := r.o.Engines[r.q.Engine]
	if !ok {
		return nil, errors.New("this kind of palace has none")
	}
	return open(ctx, r.q.Filter)
}

// fill reads the drawers of hits. One that was deleted meanwhile is left out.
func (r *run) fill(ctx context.Context, hits []Hit) error {
	ids := make([]string, len(hits))
	at := make(map[string]int, len(hits))
	for i, h := range hits {
		ids[i], at[h.ID] = h.ID, i
	}
	list, err := fetch(ctx, r.source, ids, backend.Documents|backend.Metadatas)
	if err != nil {
		return err
	}
	r.Hits = make([]Hit, len(list))
	for i, rec := range list {
		h := hits[at[rec.ID]]
		h.Record = rec
		if rec.Document != nil {
			h.Text = *rec.Document
		}
		r.Hits[i] = h
	}
	return nil
}

// Words is the name of an engine in plain words.
func Words(name string) string {
	switch name {
	case Stored:
		return "stored index"
	case Graph:
		return "graph"
	case Keyword:
		return "keyword search"
	}
	return "exact scan"
}

// explain tells which engine answered, what it looked at, how long that took,
// and what is wrong with it.
func (r *run) explain() {
	what := "vectors"
	if r.Engine == Keyword {
		what = "drawers with these words"
	}
	if r.Unreached > 0 && r.Engine != Keyword {
		drawers := "drawers have"
		if r.Unreached == 1 {
			drawers = "drawer has"
		}
		r.degrade(fmt.Sprintf("%s %s no vector that can be read and cannot be among these", humanize.Comma(int64(r.Unreached)), drawers))
	}
	r.Brief = fmt.Sprintf("%s: %s %s, %s", Words(r.Engine), humanize.Comma(int64(r.Considered)), what, took(r.Elapsed))
	r.Reason = r.Brief
	for _, w := range append(r.why, r.note) {
		if w != "" {
			r.Reason += "; " + w
		}
	}
}

func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
