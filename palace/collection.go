package palace

import (
	"context"
	"sync"

	"castellan/palace/backend"
)

// collection is a view that outlives the backend beneath it: it finds the
// collection again, by name, when the palace had to open its database anew.
type collection struct {
	palace *Palace
	name   string
	info   backend.CollectionInfo

	mu    sync.Mutex
	of    backend.Backend
	inner backend.Collection
}

func (c *collection) with(ctx context.Context, fn func(backend.Collection) error) error {
	return c.palace.With(ctx, func(b backend.Backend) error {
		inner, err := c.find(ctx, b)
		if err != nil {
			return err
		}
		return fn(inner)
	})
}

func (c *collection) find(ctx context.Context, b backend.Backend) (backend.Collection, error) {
	c.mu.Lock()
	of, inner := c.of, c.inner
	c.mu.Unlock()
	if of == b {
		return inner, nil
	}
	inner, err := b.Collection(ctx, c.name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.of, c.inner = b, inner
	c.mu.Unlock()
	return inner, nil
}

// Info is what was known when the view was opened.
func (c *collection) Info() backend.CollectionInfo { return c.info }

func (c *collection) Count(ctx context.Context, f backend.Filter) (n int64, err error) {
	err = c.with(ctx, func(inner backend.Collection) (err error) {
		n, err = inner.Count(ctx, f)
		return err
	})
	return n, err
}

func (c *collection) Get(ctx context.Context, q backend.Query) (page backend.Page, err error) {
	err = c.with(ctx, func(inner backend.Collection) (err error) {
		page, err = inner.Get(ctx, q)
		return err
	})
	return page, err
}

func (c *collection) Facets(ctx context.Context, f backend.Filter, keys ...string) (list []backend.Facet, err error) {
	err = c.with(ctx, func(inner backend.Collection) (err error) {
		list, err = inner.Facets(ctx, f, keys...)
		return err
	})
	return list, err
}
