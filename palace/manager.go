package palace

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/exact"
)

// Manager finds palaces and keeps one handle for each that is open. Its
// methods may be called from several goroutines.
type Manager struct {
	around  surroundings
	looks   looks
	writes  writes
	openers map[backend.Kind]opener
	makers  map[backend.Kind]maker

	// stop ends what is being opened when the manager closes.
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	closed  bool
	done    chan struct{} // closed when Close has finished
	err     error         // what Close answers
	palaces map[backend.FileID]*Palace
	flights map[backend.FileID]*flight
	leaders sync.WaitGroup
}

// opener opens the palace in a directory with one engine.
type opener func(ctx context.Context, dir string) (backend.Backend, error)

// NewManager makes a manager that has nothing open yet.
func NewManager(o Options) *Manager {
	m := &Manager{
		around: o.resolve(),
		writes: writes{wait: o.LockWait, onWait: o.OnLockWait, watch: o.Watch},
		openers: map[backend.Kind]opener{
			backend.Chroma: func(ctx context.Context, dir string) (backend.Backend, error) {
				return opened(chroma.Open(ctx, dir, chroma.Options{}))
			},
			backend.SQLiteExact: func(ctx context.Context, dir string) (backend.Backend, error) {
				return opened(exact.Open(ctx, dir, exact.Options{}))
			},
		},
		makers: map[backend.Kind]maker{
			backend.Chroma: chroma.Create,
			backend.SQLiteExact: func(ctx context.Context, dir string) error {
				w, err := exact.Create(ctx, dir, exact.Options{}, exact.Writing{})
				if err != nil {
					return err
				}
				return w.Close()
			},
		},
		done:    make(chan struct{}),
		palaces: map[backend.FileID]*Palace{},
		flights: map[backend.FileID]*flight{},
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// opened keeps a nil *T from becoming a Backend that is not nil.
func opened[T backend.Backend](b T, err error) (backend.Backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Config reads MemPalace's configuration as it is now.
func (m *Manager) Config() Config { return m.around.loadConfig() }

// Examine looks at a path, made absolute like MemPalace does, without opening
// a database. It always answers: a file system that does not is the answer.
func (m *Manager) Examine(ctx context.Context, path string) Site {
	return m.look(ctx, path, examine)
}

func (m *Manager) look(ctx context.Context, path string, how func(context.Context, string) Site) Site {
	abs := m.around.absolute(path)
	s, err := observe(ctx, &m.looks, abs, lookLimit, func(ctx context.Context) Site { return how(ctx, abs) })
	if err != nil {
		s = Site{State: Unreadable, Err: err, Ref: backend.Ref{Path: abs, Kind: backend.Unknown}}
	}
	return s
}

// flight is one opening under way; others who want the same palace wait for it.
type flight struct {
	done chan struct{}
	// err is what the leader got; set before done is closed. A leader whose
	// own context ended leaves retry instead: that is nobody else's failure.
	err   error
	retry bool
}

// Open gives the handle of the palace at ref.Path, the same one to everybody
// who asks for that directory, by whatever spelling. Palace.Close closes it for
// all of them; Open then makes a new one. When another directory has taken the
// place of one that is open, the old handle is closed first.
//
// ref.Kind chooses between the databases of a directory that holds several;
// otherwise it is found out. Open fails with the Site's error where there is
// nothing to open, with a *backend.UnsupportedBackendError for engines that
// are only recognised, and with backend.ErrClosed once the manager is closed.
func (m *Manager) Open(ctx context.Context, ref backend.Ref) (*Palace, error) {
	if ref.Kind == backend.ChromaHTTP {
		return nil, &backend.UnsupportedBackendError{Palace: ref.Path, Kind: ref.Kind}
	}
	for replaced := 0; ; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("opening %s: %w", ref.Path, err)
		}
		s := m.look(ctx, ref.Path, assess)
		if err := s.openable(ref.Kind); err != nil {
			return nil, err
		}
		if s.Ref.Real == "" {
			s.Ref.Real = s.Ref.Path
		}
		p, wait, err := m.join(s.Ref)
		switch {
		case err != nil:
			return nil, err
		case p != nil:
			return p, nil
		case wait == nil:
			if p, err := m.lead(ctx, s.Ref); p != nil || err != nil {
				return p, err
			}
			// The directory was replaced while it was being opened.
			if replaced++; replaced == 3 {
				return nil, &MovedError{Path: s.Ref.Path}
			}
			continue
		}
		select {
		case <-wait.done:
			if wait.err != nil && !wait.retry {
				return nil, wait.err
			}
		case <-ctx.Done():
		}
	}
}

// join finds the open handle, or what to wait for, or makes the caller the
// leader of a new flight.
func (m *Manager) join(ref backend.Ref) (*Palace, *flight, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, closedError(ref.Path)
	}
	if p := m.palaces[ref.ID]; p != nil {
		if p.welcome(ref.Path) {
			return p, nil, nil
		}
		return nil, &flight{done: p.done, retry: true}, nil
	}
	if f := m.flights[ref.ID]; f != nil {
		return nil, f, nil
	}
	m.flights[ref.ID] = &flight{done: make(chan struct{})}
	m.leaders.Add(1)
	return nil, nil, nil
}

// lead opens a palace for everybody who wants it. It runs on the goroutine of
// the caller: a backend that panics does so in its caller's hands, and those
// who wait try for themselves.
func (m *Manager) lead(ctx context.Context, ref backend.Ref) (p *Palace, err error) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	finished := false
	defer func() {
		m.mu.Lock()
		f := m.flights[ref.ID]
		delete(m.flights, ref.ID)
		if p != nil {
			m.palaces[ref.ID] = p
		}
		m.mu.Unlock()
		f.err, f.retry = err, !finished || outer.Err() != nil
		close(f.done)
		m.leaders.Done()
	}()
	m.evict(ref)
	p, err = m.openPalace(ctx, ref)
	if err != nil && m.ctx.Err() != nil {
		err = closedError(ref.Path)
	}
	finished = true
	return p, err
}

// evict lets go of palaces that once stood at this path and were replaced. One
// that can still be reached, because only a link was turned elsewhere, stays.
func (m *Manager) evict(ref backend.Ref) {
	m.mu.Lock()
	var known []*Palace
	for id, p := range m.palaces {
		if id != ref.ID && p.forgetSpelling(ref.Path) {
			known = append(known, p)
		}
	}
	m.mu.Unlock()
	for _, p := range known {
		if !p.inPlace() {
			// Its files are deleted: what closing them says is of no use to
			// whoever opens the new ones, and Close keeps the answer.
			_ = p.Close()
		}
	}
}

func (m *Manager) forget(p *Palace) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.palaces[p.ref.ID] == p {
		delete(m.palaces, p.ref.ID)
	}
}

// Close closes every palace. What is being opened is cut short; later calls of
// Open fail with backend.ErrClosed. Closing twice is fine.
func (m *Manager) Close() error {
	m.mu.Lock()
	first := !m.closed
	m.closed = true
	m.mu.Unlock()
	if !first {
		<-m.done
		return m.err
	}
	defer close(m.done)
	m.stop()
	m.leaders.Wait()
	m.mu.Lock()
	var list []*Palace
	for _, p := range m.palaces {
		list = append(list, p)
	}
	m.mu.Unlock()
	var errs []error
	for _, p := range list {
		errs = append(errs, p.Close())
	}
	m.err = errors.Join(errs...)
	return m.err
}

func closedError(path string) error { return fmt.Errorf("%s: %w", path, backend.ErrClosed) }
