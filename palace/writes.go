package palace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/exact"
)

// writes is what a manager was told about writing; see Options.
type writes struct {
	wait   time.Duration
	onWait func(backend.Ref, locks.Holder)
	watch  Watcher
}

// ReplacedError says that a writer was kept past a repair or a restore: the
// database it was opened on is not the palace's any more. It is
// backend.ErrClosed. Open the collection for writing again.
type ReplacedError struct {
	Path string
	Err  error // how it showed; may be nil
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s: its database was replaced after the collection was opened for writing; open it again", e.Path)
}

// Unwrap lets errors.Is(err, backend.ErrClosed) hold.
func (e *ReplacedError) Unwrap() []error {
	if e.Err == nil {
		return []error{backend.ErrClosed}
	}
	return []error{backend.ErrClosed, e.Err}
}

// NotWritableError says that an engine is read but not written.
type NotWritableError struct {
	Path string
	Kind backend.Kind
}

func (e *NotWritableError) Error() string {
	return fmt.Sprintf("%s is kept by %s, which Castellan reads but does not write", e.Path, e.Kind)
}

// change runs fn, which changes what b holds, through the seam. Unlike a
// question it runs once: what of a change that failed has been done only its
// engine knows. fn's context carries the lease that protects it.
func (p *Palace) change(ctx context.Context, b backend.Backend, fn func(context.Context) error) error {
	now, err := p.enter()
	if err != nil {
		return err
	}
	defer p.inflight.Done()
	if now != b {
		return &ReplacedError{Path: p.ref.Path}
	}
	if err := p.manager.AllowsWrites(p.ref.Path); err != nil {
		return err
	}
	// Close ends the waiting, not a write that has begun.
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(p.life, func() { stop(closedError(p.ref.Path)) })()
	err = p.seam.do(waiting, func(l *locks.Lease) error {
		// While it waited for its turn, all of this could change.
		switch {
		case p.life.Err() != nil:
			return closedError(p.ref.Path)
		case p.current() != b:
			return &ReplacedError{Path: p.ref.Path}
		case !p.inPlace():
			return &MovedError{Path: p.ref.Path}
		}
		return fn(locks.WithLease(ctx, l))
	})
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() == nil && p.life.Err() != nil:
		return closedError(p.ref.Path)
	case err != nil && p.superseded(b, err) && !errors.As(err, new(*ReplacedError)):
		return &ReplacedError{Path: p.ref.Path, Err: err}
	}
	return err
}

// fresh is the backend as it is now. It asks a question that is answered by the
// database which is at the palace's path, so that a change made through it does
// not find that out half way.
func (p *Palace) fresh(ctx context.Context) (b backend.Backend, err error) {
	err = p.With(ctx, func(now backend.Backend) error {
		b = now
		_, err := now.Collections(ctx)
		return err
	})
	return b, err
}

// maker is the side of a backend that can change it.
func (p *Palace) maker(b backend.Backend) (backend.Maker, error) {
	switch b := b.(type) {
	case *chroma.Palace:
		return b.Writable(chroma.Writing{Alone: p.alone}), nil
	case *exact.Palace:
		return b.Writable(exact.Writing{Now: p.manager.around.now}), nil
	case backend.Maker:
		return b, nil
	}
	return nil, &NotWritableError{Path: p.ref.Path, Kind: p.ref.Kind}
}

// CreateCollection makes a collection and opens it for writing, like Writer. It
// fails with a *backend.ExistsError where the name is taken.
func (p *Palace) CreateCollection(ctx context.Context, c backend.NewCollection) (backend.Writer, error) {
	b, err := p.fresh(ctx)
	if err != nil {
		return nil, err
	}
	m, err := p.maker(b)
	if err != nil {
		return nil, err
	}
	w := &writer{palace: p, of: b}
	err = p.change(ctx, b, func(ctx context.Context) (err error) {
		w.inner, err = m.CreateCollection(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// DeleteCollection removes a collection and every file that only it used.
func (p *Palace) DeleteCollection(ctx context.Context, name string) error {
	b, err := p.fresh(ctx)
	if err != nil {
		return err
	}
	m, err := p.maker(b)
	if err != nil {
		return err
	}
	return p.change(ctx, b, func(ctx context.Context) error { return m.DeleteCollection(ctx, name) })
}
