package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyKey names a private copy by the outer state of what was copied, so that opening an unchanged database again
// costs no second copy.
type copyKey struct {
	stamp Stamp
	dir   string
}

// privateCopy is shared by all handles that need it, and removed with the last.
type privateCopy struct {
	users int           // guarded by registry.mu
	ready chan struct{} // closed when dir, main and err are set
	dir   string
	main  string
	err   error
}

// openCopy copies the database with what is needed to recover it, recovers the copy, and reads that.
func openCopy(ctx context.Context, facts Facts, opts Options) (*DB, error) {
	limit := opts.CopyLimit
	if limit == 0 {
		limit = DefaultCopyLimit
	}
	need := facts.Size + facts.WAL.Size
	if facts.Hot {
		// A rollback gives the file the length that the journal names, and a crafted journal names terabytes.
		need = max(facts.Size, facts.hotExtent) + facts.WAL.Size + facts.Journal.Size
	}
	if need > limit {
		if facts.Hot {
			return nil, &HotJournalError{Path: facts.Path, Bytes: need, Limit: max(limit, 0)}
		}
		return nil, &UnreadWALError{Path: facts.Path, Frames: facts.WALFrames, Bytes: need, Limit: max(limit, 0)}
	}
	c, release, err := open.copyOf(ctx, copyKey{facts.stamp, opts.CopyDir}, func() (string, string, error) {
		return makeCopy(ctx, facts, opts.CopyDir)
	})
	if err != nil {
		return nil, err
	}
	d := newDB(facts, AccessCopy, c.main, opts)
	d.drop = release
	d.params = append(d.params, "mode=ro", "immutable=1")
	if err := d.start(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.probe(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// copyOf returns the copy for key, made by make unless somebody has it or is making it already.
func (r *registry) copyOf(ctx context.Context, key copyKey, make func() (dir, main string, err error)) (*privateCopy, func() error, error) {
	for {
		r.mu.Lock()
		c, found := r.copies[key]
		if !found {
			c = newPrivateCopy()
			r.copies[key] = c
		}
		c.users++
		r.mu.Unlock()

		release := func() error { return r.dropCopy(key, c) }
		if !found {
			c.dir, c.main, c.err = make()
			if c.err != nil {
				r.mu.Lock()
				delete(r.copies, key) // whoever comes next tries anew
				r.mu.Unlock()
			}
			close(c.ready)
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return nil, nil, errors.Join(fmt.Errorf("waiting for a private copy: %w", ctx.Err()), release())
		}
		if c.err == nil {
			return c, release, nil
		}
		err := errors.Join(c.err, release())
		if found && errors.Is(err, context.Canceled) && ctx.Err() == nil {
			continue // whoever was making it gave up; we did not
		}
		return nil, nil, err
	}
}

func newPrivateCopy() *privateCopy { return &privateCopy{ready: make(chan struct{})} }

func (r *registry) dropCopy(key copyKey, c *privateCopy) error {
	r.mu.Lock()
	c.users--
	last := c.users == 0
	if last && r.copies[key] == c {
		delete(r.copies, key)
	}
	r.mu.Unlock()
	if !last || c.dir == "" {
		return nil
	}
	return removePrivate(c.dir)
}

// makeCopy returns a new private directory and the recovered database in it.
func makeCopy(ctx context.Context, facts Facts, parent string) (dir, main string, err error) {
	dir, err = os.MkdirTemp(parent, "castellan-copy-") // 0700
	if err != nil {
		return "", "", fmt.Errorf("making room for a private copy of %q: %w", facts.Path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removePrivate(dir))
			dir = ""
		}
	}()
	main = filepath.Join(dir, "copy.sqlite3")
	if err := copyMain(ctx, facts, main); err != nil {
		return dir, "", err
	}
	if facts.WAL.Size > 0 {
		if err := copySidecar(ctx, facts, "-wal", facts.WAL.Size, main); err != nil {
			return dir, "", err
		}
	}
	if facts.Hot {
		if err := copySidecar(ctx, facts, "-journal", facts.Journal.Size, main); err != nil {
			return dir, "", err
		}
		if err := dropSuperJournal(main + "-journal"); err != nil {
			return dir, "", fmt.Errorf("preparing a private copy of %q: %w", facts.Path, err)
		}
	}
	// No lock was held, so that the owner could start a recovery of its own. If it did, the copy mixes two states.
	now, err := StampOf(facts.Path)
	if err != nil {
		return dir, "", err
	}
	if now != facts.stamp {
		return dir, "", &StaleError{Path: facts.Path, Reason: "it was written to while it was copied"}
	}
	return dir, main, recoverCopy(ctx, facts, main)
}

func copyMain(ctx context.Context, facts Facts, main string) error {
	p, err := locate(facts.Path)
	if err != nil {
		return err
	}
	f, err := open.acquire(p)
	if err != nil {
		return err
	}
	defer open.release(f)
	if f.id != facts.ID {
		return &StaleError{Path: facts.Path, Reason: "another file has taken its place"}
	}
	return copyPart(ctx, facts.Path, f.raw, facts.Size, main)
}

func copySidecar(ctx context.Context, facts Facts, suffix string, size int64, main string) error {
	name := facts.RealPath + suffix
	f, err := os.OpenFile(name, openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Path: facts.Path, Reason: "its " + suffix + " is gone", Err: err}
	}
	if err != nil {
		return classify(name, err)
	}
	defer f.Close() // no locks on it: closing drops nothing
	info, err := f.Stat()
	if err != nil {
		return classify(name, err)
	}
	if err := regular(name, info); err != nil {
		return err
	}
	return copyPart(ctx, name, f, size, main+suffix)
}

// copyPart writes the first size bytes of src to a new file that only this user can read.
func copyPart(ctx context.Context, name string, src io.ReaderAt, size int64, to string) (err error) {
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copying %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	buf := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("copying %q: %w", name, err)
		}
		n, err := src.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if _, werr := dst.Write(buf[:n]); werr != nil {
			return fmt.Errorf("copying %q: %w", name, werr)
		}
		at += int64(n)
		if err == io.EOF && at < size {
			return &StaleError{Path: name, Reason: "it was cut while it was copied"}
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("copying %q: %w", name, err)
		}
	}
	return nil
}

// dropSuperJournal takes the name of a super-journal off the end of a copied journal. That the super-journal exists
// was established before; SQLite must not open it, which could be a FIFO, nor ever think of deleting it.
func dropSuperJournal(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for size := info.Size(); ; {
		super, at, err := superJournal(f, size)
		if err != nil || super == "" {
			return err
		}
		if err := f.Truncate(at); err != nil {
			return err
		}
		size = at
	}
}

// recoverCopy lets SQLite roll back the journal and fold the log into the copy, as it would have done in place.
func recoverCopy(ctx context.Context, facts Facts, main string) (err error) {
	pool, err := sql.Open("sqlite", dsn(main, "mode=rw", "_defensive=1", "_pragma=trusted_schema(0)"))
	if err != nil {
		return fmt.Errorf("recovering a private copy of %q: %w", facts.Path, err)
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, wrap(facts.Path, "recovering a private copy of", pool.Close())) }()
	var cookie int64
	if err := pool.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&cookie); err != nil {
		return wrap(facts.Path, "recovering a private copy of", err)
	}
	if facts.WAL.Size == 0 {
		return nil
	}
	// The copy is read as immutable afterwards, so everything must be in its main file.
	var busy, frames, moved int
	if err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return wrap(facts.Path, "recovering a private copy of", err)
	}
	return nil
}

func removePrivate(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing a private copy: %w; delete %q by hand", err, dir)
	}
	return nil
}
