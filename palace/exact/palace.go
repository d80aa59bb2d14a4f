package exact

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// DatabaseFile is the name of the database inside a palace.
const DatabaseFile = "sqlite_exact.sqlite3"

// Options for Open; the zero value is good.
type Options struct {
	Database dbfile.Options
}

// Palace is an opened sqlite_exact palace. It is bound to the database file
// that it opened: when another file takes its place, every question fails with
// a *dbfile.StaleError, and the palace has to be opened anew.
type Palace struct {
	dir  string
	opts Options

	mu       sync.Mutex
	db       *dbfile.DB
	closed   bool
	inflight sync.WaitGroup
	done     chan struct{} // closed when Close has finished
	closeErr error

	reopening sync.Mutex
}

// Open opens the palace in dir for reading. It fails with what
// castellan/palace/dbfile says of the database file.
func Open(ctx context.Context, dir string, opts Options) (*Palace, error) {
	db, err := dbfile.Open(ctx, filepath.Join(dir, DatabaseFile), opts.Database)
	if err != nil {
		return nil, err
	}
	return &Palace{dir: dir, opts: opts, db: db, done: make(chan struct{})}, nil
}

// Kind is backend.SQLiteExact.
func (p *Palace) Kind() backend.Kind { return backend.SQLiteExact }

// Dir is the directory as it was given to Open.
func (p *Palace) Dir() string { return p.dir }

// DB is the handle of the database at this moment. The palace's own questions
// open the file again when it has changed under a handle that cannot see it,
// so the handle must not be kept.
func (p *Palace) DB() *dbfile.DB {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.db
}

// Collections lists what the palace holds, by name. A database without tables
// holds nothing yet.
func (p *Palace) Collections(ctx context.Context) ([]backend.CollectionInfo, error) {
	var list []backend.CollectionInfo
	err := p.view(ctx, func(q query) error {
		list = nil
		found, err := q.collections(ctx)
		for _, c := range found {
			list = append(list, c.info)
		}
		return err
	})
	return list, err
}

// Collection opens a view of one collection; it fails with a
// *backend.CollectionNotFoundError when there is none of that name.
func (p *Palace) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c, err := p.collection(ctx, name)
	if err != nil {
		return nil, err // not a nil *Collection in an interface that is not nil
	}
	return c, nil
}

func (p *Palace) collection(ctx context.Context, name string) (*Collection, error) {
	c := &Collection{palace: p}
	err := p.view(ctx, func(q query) error {
		found, err := q.collection(ctx, name)
		c.info = found.info
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close refuses new questions, waits for those under way and lets go of every
// file.
func (p *Palace) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if !first {
		<-p.done
		return p.closeErr
	}
	p.inflight.Wait()
	p.closeErr = p.DB().Close()
	close(p.done)
	return p.closeErr
}

// enter keeps the palace from being closed until p.inflight.Done.
func (p *Palace) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return &ClosedError{Palace: p.dir}
	}
	p.inflight.Add(1)
	return nil
}

// view runs do in one read transaction. A handle that was opened as immutable,
// because no writer was there, goes stale as soon as one writes; the file is
// opened again then and do runs once more, so it must start from nothing.
func (p *Palace) view(ctx context.Context, do func(query) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.inflight.Done()
	for try := 0; ; try++ {
		db := p.DB()
		err := p.viewOnce(ctx, db, do)
		var stale *dbfile.StaleError
		if err == nil || try == 2 || !errors.As(err, &stale) {
			return err
		}
		if err := p.reopen(ctx, db, stale); err != nil {
			return err
		}
	}
}

func (p *Palace) viewOnce(ctx context.Context, db *dbfile.DB, do func(query) error) error {
	if db.Access() == dbfile.AccessCopy {
		// A private copy cannot notice by itself that the original went on.
		if err := db.Stale(ctx); err != nil {
			return err
		}
	}
	return db.View(ctx, func(tx *dbfile.Tx) error {
		q, err := newQuery(ctx, lookTx{tx}, p.dir)
		if err != nil {
			return err
		}
		return do(q)
	})
}

// reopen replaces a handle that no longer fits its file. Questions that still
// run on the old one finish first.
func (p *Palace) reopen(ctx context.Context, old *dbfile.DB, why *dbfile.StaleError) error {
	p.reopening.Lock()
	defer p.reopening.Unlock()
	if p.DB() != old {
		return nil
	}
	db, err := dbfile.Open(ctx, filepath.Join(p.dir, DatabaseFile), p.opts.Database)
	if err != nil {
		return err
	}
	if db.Facts().ID != old.Facts().ID {
		return errors.Join(why, db.Close())
	}
	p.mu.Lock()
	p.db = db
	p.mu.Unlock()
	return old.Close()
}
