package palace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// Palace is one open palace, shared by everybody who opened it. After Close
// every method that can fail does so with backend.ErrClosed, at once and for
// ever.
type Palace struct {
	manager *Manager
	open    opener
	ref     backend.Ref
	// pin keeps the directory's inode from being given to another directory
	// while this handle is known by it.
	pin io.Closer

	mu        sync.Mutex
	spellings []string
	backend   backend.Backend
	closing   bool
	inflight  sync.WaitGroup
	done      chan struct{} // closed when Close has finished
	closeErr  error

	reopening sync.Mutex

	seam seam
	// life ends when Close begins: who still waits to write gives up then.
	life context.Context
	end  context.CancelFunc
}

var _ backend.Backend = (*Palace)(nil)

// openPalace opens what lies at ref. It answers with neither palace nor error
// when the directory was replaced meanwhile.
func (m *Manager) openPalace(ctx context.Context, ref backend.Ref) (_ *Palace, err error) {
	p := &Palace{manager: m, open: m.openers[ref.Kind], ref: ref, spellings: []string{ref.Path}, done: make(chan struct{})}
	p.seam = seam{handle: newGate(), take: p.takeLock, wait: m.writes.wait}
	p.life, p.end = context.WithCancel(context.Background())
	if p.open == nil {
		return nil, &backend.UnsupportedBackendError{Palace: ref.Path, Kind: ref.Kind}
	}
	if p.pin, err = pinDirectory(ref.Real); err != nil {
		return nil, explain(ref.Path, err)
	}
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, p.pin.Close())
		}
	}()
	b, err := p.open(ctx, ref.Real)
	if err != nil {
		return nil, err
	}
	if !p.inPlace() {
		return nil, b.Close()
	}
	p.backend, kept = b, true
	return p, nil
}

// Ref says which palace this is; Path is the spelling it was first opened by.
func (p *Palace) Ref() backend.Ref { return p.ref }

// Kind is the engine.
func (p *Palace) Kind() backend.Kind { return p.ref.Kind }

// Aliases are the spellings, other than Ref's, by which it was opened or can
// be reached.
func (p *Palace) Aliases() []string {
	p.mu.Lock()
	list := slices.Clone(p.spellings)
	p.mu.Unlock()
	for _, a := range bindAliases(p.ref.Real) {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == p.ref.Path || s == p.ref.Real })
}

// LockPaths are the spellings under which locks of this palace may be keyed.
func (p *Palace) LockPaths() []string { return LockPaths(p.ref, p.Aliases()) }

// With runs fn on the backend as it is now, which is a *chroma.Palace or an
// *exact.Palace, and keeps it open meanwhile. When another database file has
// taken the place of the one that was open, as after a restore, it is opened
// and fn runs once more: fn must start from nothing each time. It must not
// close the palace.
func (p *Palace) With(ctx context.Context, fn func(backend.Backend) error) error {
	b, err := p.enter()
	if err != nil {
		return err
	}
	defer p.inflight.Done()
	for try := 0; ; try++ {
		err := fn(b)
		if err == nil || try == 2 || !p.superseded(b, err) {
			return err
		}
		if b, err = p.reopen(ctx, b); err != nil {
			return err
		}
	}
}

// superseded reports that a question failed because its backend is not the
// right one any more: its file was replaced, or somebody else noticed first and
// closed it.
func (p *Palace) superseded(b backend.Backend, err error) bool {
	var stale *dbfile.StaleError
	return errors.As(err, &stale) || errors.Is(err, backend.ErrClosed) && p.current() != b
}

func (p *Palace) current() backend.Backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.backend
}

// enter keeps the palace from being closed until p.inflight.Done.
func (p *Palace) enter() (backend.Backend, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, closedError(p.ref.Path)
	}
	p.inflight.Add(1)
	return p.backend, nil
}

// reopen replaces a backend whose database file was replaced. Questions that
// still run on the old one finish first.
func (p *Palace) reopen(ctx context.Context, old backend.Backend) (backend.Backend, error) {
	p.reopening.Lock()
	defer p.reopening.Unlock()
	if now := p.current(); now != old {
		return now, nil
	}
	if !p.inPlace() {
		return nil, &MovedError{Path: p.ref.Path}
	}
	b, err := p.open(ctx, p.ref.Real)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.backend = b
	p.mu.Unlock()
	return b, old.Close()
}

// inPlace reports whether the directory is still the one that was opened.
func (p *Palace) inPlace() bool {
	id, err := identify(p.ref.Real)
	return err == nil && id == p.ref.ID
}

// welcome notes a spelling and reports whether the handle is still open.
func (p *Palace) welcome(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closing && !slices.Contains(p.spellings, path) {
		p.spellings = append(p.spellings, path)
	}
	return !p.closing
}

// forgetSpelling reports whether the palace was known by path.
func (p *Palace) forgetSpelling(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.spellings, path)
	if i >= 0 {
		p.spellings = slices.Delete(p.spellings, i, i+1)
	}
	return i >= 0
}

// State tells whether anything has been made of the database: Uninitialised
// while it has no collection, then OK.
func (p *Palace) State(ctx context.Context) (State, error) {
	list, err := p.Collections(ctx)
	switch {
	case err != nil:
		return Unreadable, err
	case len(list) == 0:
		return Uninitialised, nil
	}
	return OK, nil
}

// Collections lists what the palace holds, by name.
func (p *Palace) Collections(ctx context.Context) (list []backend.CollectionInfo, err error) {
	err = p.With(ctx, func(b backend.Backend) (err error) {
		list, err = b.Collections(ctx)
		return err
	})
	return list, err
}

// Collection opens a view of one collection. It lives as long as the palace
// and needs no closing.
func (p *Palace) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c := &collection{palace: p, name: name}
	err := c.with(ctx, func(inner backend.Collection) error {
		c.info = inner.Info()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close refuses new work, and writes that still wait for their turn; it waits
// for work in flight, lets go of every file and is forgotten by the manager, so
// that the next Open starts afresh. It closes the palace for everybody who has
// it. Every call answers like the first.
func (p *Palace) Close() error {
	p.mu.Lock()
	first := !p.closing
	p.closing = true
	p.mu.Unlock()
	if !first {
		<-p.done
		return p.closeErr
	}
	p.end()
	defer func() {
		p.closeErr = errors.Join(p.closeErr, p.pin.Close())
		p.manager.forget(p)
		close(p.done)
	}()
	p.inflight.Wait()
	if err := p.backend.Close(); err != nil {
		p.closeErr = fmt.Errorf("closing %s: %w", p.ref.Path, err)
	}
	return p.closeErr
}

// database is the path of the engine's SQLite file.
func (p *Palace) database() string {
	for _, f := range artifactFiles {
		if f.kind == p.ref.Kind {
			return filepath.Join(p.ref.Real, f.name)
		}
	}
	return p.ref.Real
}
