package dbfile

import (
	"context"
	"errors"
	"sync"
)

// Keeper keeps one database open for the many who ask it, until it is closed:
// the file is opened again when it has changed in a way that needs another way
// of reading. It is bound to the file that it opened first; when another takes
// its place, every question fails with a *StaleError.
type Keeper struct {
	path string
	opts Options
	// closed gives the error of whoever comes after Close.
	closed func() error

	mu       sync.Mutex
	db       *DB
	closing  bool
	inflight sync.WaitGroup
	done     chan struct{} // closed when Close has finished
	closeErr error

	reopening sync.Mutex
}

// Keep opens the database at path. closed makes the error that every question
// gets after Close.
func Keep(ctx context.Context, path string, opts Options, closed func() error) (*Keeper, error) {
	db, err := Open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return &Keeper{path: path, opts: opts, closed: closed, db: db, done: make(chan struct{})}, nil
}

// DB is the handle of this moment. It must not be kept: the next question may
// have replaced and closed it.
func (k *Keeper) DB() *DB {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.db
}

// Enter keeps the database from being closed until Leave.
func (k *Keeper) Enter() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return k.closed()
	}
	k.inflight.Add(1)
	return nil
}

// Leave ends what a successful Enter began.
func (k *Keeper) Leave() { k.inflight.Done() }

// View runs do in one read transaction. It may run more than once, on a handle
// opened anew: do must start from nothing each time.
func (k *Keeper) View(ctx context.Context, do func(*Tx) error) error {
	if err := k.Enter(); err != nil {
		return err
	}
	defer k.Leave()
	for try := 0; ; try++ {
		db := k.DB()
		err := keptView(ctx, db, do)
		var stale *StaleError
		if err == nil || try == 2 || !errors.As(err, &stale) {
			return err
		}
		if err := k.reopen(ctx, db, stale); err != nil {
			return err
		}
	}
}

func keptView(ctx context.Context, db *DB, do func(*Tx) error) error {
	if db.Access() == AccessCopy {
		// A private copy cannot notice by itself that the original went on.
		if err := db.Stale(ctx); err != nil {
			return err
		}
	}
	return db.View(ctx, do)
}

// reopen replaces a handle that no longer fits its file. Questions that still
// run on the old one finish first.
func (k *Keeper) reopen(ctx context.Context, old *DB, why *StaleError) error {
	k.reopening.Lock()
	defer k.reopening.Unlock()
	if k.DB() != old {
		return nil
	}
	db, err := Open(ctx, k.path, k.opts)
	if err != nil {
		return err
	}
	if db.Facts().ID != old.Facts().ID {
		return errors.Join(why, db.Close())
	}
	k.mu.Lock()
	k.db = db
	k.mu.Unlock()
	return old.Close()
}

// Close refuses new questions, waits for those under way, lets go of what last
// closes (nil = nothing), and then of the file. Every further call waits for
// the first and answers like it.
func (k *Keeper) Close(last func() error) error {
	k.mu.Lock()
	first := !k.closing
	k.closing = true
	k.mu.Unlock()
	if !first {
		<-k.done
		return k.closeErr
	}
	k.inflight.Wait()
	if last != nil {
		k.closeErr = last()
	}
	k.closeErr = errors.Join(k.closeErr, k.DB().Close())
	close(k.done)
	return k.closeErr
}
