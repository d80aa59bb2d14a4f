package views

import (
	"context"

	"castellan/palace/search"
	"castellan/palace/search/seek"
)

func (c *core) searcher(ctx context.Context, at Place) (*search.Searcher, error) {
	p, err := c.o.Manager.Open(ctx, at.Palace.Ref)
	if err != nil {
		return nil, err
	}
	return seek.Open(ctx, p, at.Collection, seek.Options{Kept: c.kept, Embedder: c.o.Embedder, Now: c.o.Now})
}

func (c *core) Search(ctx context.Context, at Place, q search.Question) (search.Answer, error) {
	s, err := c.searcher(ctx, at)
	if err != nil {
		return search.Answer{}, err
	}
	return s.Search(ctx, q)
}

func (c *core) Measure(ctx context.Context, at Place, done func(part string)) (search.Quality, error) {
	s, err := c.searcher(ctx, at)
	if err != nil {
		return search.Quality{}, err
	}
	return s.Measure(ctx, done)
}
