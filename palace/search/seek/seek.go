// Package seek opens a searcher on a collection of a palace: it joins what the
// engines of a palace can give (vectors, the stored index, the full-text index)
// to the ways to search in palace/search, which knows none of them.
package seek

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/search"
)

// closets is the collection in which MemPalace keeps its pointers to sources.
const closets = "mempalace_closets"

// maxGraph is how many vectors a graph in memory is built of at most: it takes
// a millisecond or two for each.
const maxGraph = 20_000

// noModel is why words are not searched for by their meaning.
const noModel = "no embedding model is installed that could turn words into a vector"

// Options for Open; the zero value is good for one question.
type Options struct {
	// Kept keeps vectors and index in memory for the next question.
	Kept *Kept
	// Embedder makes a vector of the words of a question; without one words are
	// searched for as words, and NoEmbedder says why there is none.
	Embedder   search.Embedder
	NoEmbedder string
	// Now times the search; time.Now if nil.
	Now func() time.Time
}

// Open makes a searcher on a collection. It holds nothing open of its own: the
// palace must stay open while it is used.
func Open(ctx context.Context, p *palace.Palace, collection string, with Options) (*search.Searcher, error) {
	c, err := p.Collection(ctx, collection)
	if err != nil {
		return nil, err
	}
	o := search.Options{Embedder: with.Embedder, NoEmbedder: cmp.Or(with.NoEmbedder, noModel), Now: with.Now, Engines: map[string]func(context.Context, backend.Filter) (search.Engine, error){
		search.Graph: func(ctx context.Context, f backend.Filter) (search.Engine, error) { return graph(ctx, c, f) },
	}}
	// Closets are hints; a palace without them is searched as well.
	if list, err := p.Collections(ctx); err == nil && collection != closets {
		for _, info := range list {
			if info.Name == closets {
				if o.Closets, err = p.Collection(ctx, closets); err != nil {
					return nil, err
				}
			}
		}
	}
	if p.Kind() == backend.Chroma {
		o.Made = p.RecordedModel(collection)
		o.Texts = texts{p, collection}
		o.Engines[search.Stored] = func(ctx context.Context, _ backend.Filter) (search.Engine, error) {
			if with.Kept != nil {
				return with.Kept.index(ctx, p, c)
			}
			return stored(ctx, p, c)
		}
	}
	if with.Kept != nil {
		o.Engines[search.Exact] = func(ctx context.Context, f backend.Filter) (search.Engine, error) {
			return with.Kept.exact(ctx, p, c, f)
		}
	}
	return search.New(c, o), nil
}

func graph(ctx context.Context, c search.Source, f backend.Filter) (search.Engine, error) {
	n, err := c.Count(ctx, f)
	if err != nil {
		return nil, err
	}
	if n > maxGraph {
		return nil, fmt.Errorf("%d vectors are too many to build one for a question; %d are the most", n, maxGraph)
	}
	v, err := search.LoadVectors(ctx, c, f, 0)
	if err != nil {
		return nil, err
	}
	return search.NewGraphSearch(ctx, v)
}

// withCollection runs fn on the engine's own view of a collection.
func withCollection(ctx context.Context, p *palace.Palace, name string, fn func(*chroma.Collection) error) error {
	return p.With(ctx, func(b backend.Backend) error {
		inner, err := b.Collection(ctx, name)
		if err != nil {
			return err
		}
		c, ok := inner.(*chroma.Collection)
		if !ok {
			return &backend.UnsupportedBackendError{Palace: p.Ref().Path, Kind: p.Kind()}
		}
		return fn(c)
	})
}

// texts is Chroma's full-text index.
type texts struct {
	p          *palace.Palace
	collection string
}

func (t texts) EachMatch(ctx context.Context, terms []string, f backend.Filter, fn func(id string, at int64, text string) bool) error {
	started := false
	err := withCollection(ctx, t.p, t.collection, func(c *chroma.Collection) error {
		if started {
			return fmt.Errorf("%w: the database was replaced while it was asked", chroma.ErrNoFullText)
		}
		return c.EachTextMatch(ctx, terms, f, func(id string, at int64, text string) bool {
			started = true
			return fn(id, at, text)
		})
	})
	if errors.Is(err, chroma.ErrNoFullText) {
		return fmt.Errorf("%w: %w", search.ErrNoTextIndex, err)
	}
	return err
}
