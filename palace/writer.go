package palace

import (
	"context"
	"errors"
	"sync/atomic"

	"castellan/palace/backend"
)

// Writer opens a collection for writing. Nothing is locked until a write comes;
// each passes the palace's write seam by itself:
//
//   - one write of this process at a time, then the palace lock, under every key
//     of LockPaths, then the engine. Under a lease in the context
//     (locks.WithLease) a write passes; otherwise the palace is locked for the
//     one write, and a palace that somebody holds is a *locks.HeldError, at once
//     or after Options.LockWait.
//   - Reading through a writer takes neither.
//   - All is given back on every path. A panic of the engine goes on to the
//     caller.
//   - Where MemPalace's configuration forbids direct writes it is a
//     *RoutingError; where the directory is another one now, a *MovedError.
//
// A writer belongs to the database it was opened on. Kept past Close, or past a
// repair or restore that put another database in its place, everything it is
// asked fails with backend.ErrClosed.
func (p *Palace) Writer(ctx context.Context, collection string) (backend.Writer, error) {
	w := &writer{palace: p}
	err := p.With(ctx, func(b backend.Backend) error {
		m, err := p.maker(b)
		if err != nil {
			return err
		}
		c, err := m.Collection(ctx, collection)
		if err != nil {
			return err
		}
		inner, ok := c.(backend.Writer)
		if !ok {
			return &NotWritableError{Path: p.ref.Path, Kind: p.ref.Kind}
		}
		w.of, w.inner = b, inner
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

type writer struct {
	palace *Palace
	of     backend.Backend // what inner was opened on
	inner  backend.Writer
	gone   atomic.Bool // of is not the palace's database any more
}

// ask runs a question on the database the writer belongs to.
func (w *writer) ask(fn func() error) error {
	now, err := w.palace.enter()
	if err != nil {
		return err
	}
	defer w.palace.inflight.Done()
	if w.gone.Load() || now != w.of {
		return &ReplacedError{Path: w.palace.ref.Path}
	}
	if err = fn(); err != nil && w.palace.superseded(w.of, err) {
		err = &ReplacedError{Path: w.palace.ref.Path, Err: err}
	}
	return w.note(err)
}

func (w *writer) change(ctx context.Context, fn func(context.Context) error) error {
	if w.gone.Load() {
		return &ReplacedError{Path: w.palace.ref.Path}
	}
	return w.note(w.palace.change(ctx, w.of, fn))
}

// note keeps that the writer's database is gone: putting the old file back must
// not bring a writer to life that somebody has given up.
func (w *writer) note(err error) error {
	var replaced *ReplacedError
	if errors.As(err, &replaced) {
		w.gone.Store(true)
	}
	return err
}

func (w *writer) Info() backend.CollectionInfo { return w.inner.Info() }

func (w *writer) Count(ctx context.Context, f backend.Filter) (n int64, err error) {
	err = w.ask(func() (err error) {
		n, err = w.inner.Count(ctx, f)
		return err
	})
	return n, err
}

func (w *writer) Get(ctx context.Context, q backend.Query) (page backend.Page, err error) {
	err = w.ask(func() (err error) {
		page, err = w.inner.Get(ctx, q)
		return err
	})
	return page, err
}

func (w *writer) Facets(ctx context.Context, f backend.Filter, keys ...string) (list []backend.Facet, err error) {
	err = w.ask(func() (err error) {
		list, err = w.inner.Facets(ctx, f, keys...)
		return err
	})
	return list, err
}

func (w *writer) Add(ctx context.Context, list []backend.Record) error {
	return w.change(ctx, func(ctx context.Context) error { return w.inner.Add(ctx, list) })
}

func (w *writer) Upsert(ctx context.Context, list []backend.Record) error {
	return w.change(ctx, func(ctx context.Context) error { return w.inner.Upsert(ctx, list) })
}

func (w *writer) Update(ctx context.Context, list []backend.Change) error {
	return w.change(ctx, func(ctx context.Context) error { return w.inner.Update(ctx, list) })
}

func (w *writer) Delete(ctx context.Context, f backend.Filter) (n int64, err error) {
	err = w.change(ctx, func(ctx context.Context) (err error) {
		n, err = w.inner.Delete(ctx, f)
		return err
	})
	return n, err
}
