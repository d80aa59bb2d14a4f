package dbfile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	_ "modernc.org/sqlite" // registers the driver
	sqlite3 "modernc.org/sqlite/lib"
)

// Defaults for the zero [Options].
const (
	DefaultCacheKiB  = 2048
	DefaultCopyLimit = 1 << 30 // bytes
	DefaultMaxConns  = 4
)

// Options for [Open]; the zero value is good.
type Options struct {
	CacheKiB  int    // page cache of each connection
	CopyLimit int64  // largest private copy in bytes, journal and log included; negative: never copy
	CopyDir   string // where private copies go; the system's temporary directory if empty
	MaxConns  int    // views that can run at the same time
}

// DB is a database opened for looking. Its methods may be used from several goroutines.
type DB struct {
	path     string // as given to Open
	main     string // the file that SQLite reads: the original, or a private one
	access   Access
	facts    Facts
	params   []string
	cacheKiB int
	dir      string // for snapshots and copies of this handle

	file  *file         // the original, acquired; nil if SQLite reads a private file
	pool  *sql.DB       // nil for AccessWAL, see session
	slots chan struct{} // bounds the views of AccessWAL
	drop  func() error  // removes private files; nil if there are none

	mu       sync.Mutex
	closed   bool
	inflight sync.WaitGroup
	done     chan struct{} // closed when Close has finished
	closeErr error
}

// Open opens the database at path for looking, in the way that its state calls for. It fails with a [*FileError], a
// [*HotJournalError], an [*UnreadWALError] or a [*SQLError]. A database that a writer keeps locked opens; its views
// wait for the writer, bounded, and may answer [ErrBusy].
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	for try := 0; ; try++ {
		db, err := openOnce(ctx, path, opts)
		var stale *StaleError
		if err == nil || try == 4 || !errors.As(err, &stale) {
			return db, err
		}
	}
}

func openOnce(ctx context.Context, path string, opts Options) (*DB, error) {
	f, facts, err := look(ctx, path)
	if err != nil && !recoverable(facts, err) {
		if f != nil {
			open.release(f)
		}
		return nil, err
	}
	access := facts.access()
	if access == AccessCopy {
		open.release(f)
		return openCopy(ctx, facts, opts)
	}
	d := newDB(facts, access, facts.RealPath, opts)
	d.file = f
	switch access {
	case AccessRO:
		// readonly_shm: should the mode change behind our back, at least no -shm comes of it.
		d.params = append(d.params, "mode=ro", "readonly_shm=1")
	case AccessWAL:
		d.params = append(d.params, "mode=ro")
	case AccessImmutable:
		d.params = append(d.params, "mode=ro", "immutable=1")
	}
	if err := d.start(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	err = d.probe(ctx)
	if err == nil || errors.Is(err, ErrBusy) {
		return d, nil
	}
	if cerr := d.Close(); cerr != nil {
		return nil, errors.Join(err, cerr)
	}
	if access == AccessWAL && needsRecovery(err) {
		return openCopy(ctx, facts, opts)
	}
	return nil, err
}

// recoverable reports that the start of the file is unreadable because of the very transaction that a hot journal
// is there to undo.
func recoverable(facts Facts, err error) bool {
	var e *FileError
	return facts.Hot && errors.As(err, &e) && e.Path == facts.Path && (e.Problem == NotDatabase || e.Problem == Truncated)
}

// needsRecovery reports that the shared index of a log is broken although somebody has it open, or does not fit the
// log: only somebody who may write can repair it.
func needsRecovery(err error) bool {
	switch codeOf(err) {
	case sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_CANTLOCK,
		sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

func newDB(facts Facts, access Access, main string, opts Options) *DB {
	return &DB{
		path: facts.Path, main: main, access: access, facts: facts,
		params:   append([]string(nil), lookParams...),
		cacheKiB: cmp.Or(max(opts.CacheKiB, 0), DefaultCacheKiB),
		dir:      opts.CopyDir,
		slots:    make(chan struct{}, cmp.Or(max(opts.MaxConns, 0), DefaultMaxConns)),
		done:     make(chan struct{}),
	}
}

// start makes the pool. A WAL database has none: an idle connection would keep its last writer from tidying up the
// log, and keep -shm open read-only in the way of a writer in this process.
func (d *DB) start() error {
	if d.access == AccessWAL {
		return nil
	}
	pool, err := sql.Open("sqlite", dsn(d.main, d.params...))
	if err != nil {
		return fmt.Errorf("opening %q: %w", d.path, err)
	}
	pool.SetMaxOpenConns(cap(d.slots))
	pool.SetMaxIdleConns(cap(d.slots))
	d.pool = pool
	return nil
}

// Path is the path given to [Open].
func (d *DB) Path() string { return d.path }

// Access is how the database is read.
func (d *DB) Access() Access { return d.access }

// Facts are those of the moment of opening. For a private copy they are the original's, for a snapshot its own.
func (d *DB) Facts() Facts { return d.facts }

// Stale answers nil while the handle fits the file, and a [*StaleError] when the caller should close it and open the
// path again: another file at the path, another journal mode, anything written to a database that is read as
// immutable or as a copy. Changes that the next view sees anyway do not make a handle stale; compare stamps for those.
func (d *DB) Stale(ctx context.Context) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.inflight.Done()
	if err := ctx.Err(); err != nil {
		return wrap(d.path, "looking at", err)
	}
	if d.access != AccessCopy {
		if err := d.check(); err != nil {
			return err
		}
		return d.blocked()
	}
	now, err := StampOf(d.path)
	if err != nil || now != d.facts.stamp {
		return &StaleError{Path: d.path, Reason: "it was written to after it was copied", Err: err}
	}
	return nil
}

// blocked notices a journal whose writer has died. A view leaves that to SQLite, which finds it anyway.
func (d *DB) blocked() error {
	if d.access != AccessRO {
		return nil
	}
	j, err := d.file.journalOf(d.main)
	if err != nil {
		return err
	}
	if j.state == HotJournal || j.state == SpentJournal {
		return &StaleError{Path: d.path, Reason: "its writer died, a journal is left"}
	}
	return nil
}

// Close waits for the views in flight, closes all connections and removes private files. Every call returns the
// result of the first. A view must not close the handle it runs on.
func (d *DB) Close() error {
	d.mu.Lock()
	first := !d.closed
	d.closed = true
	d.mu.Unlock()
	if !first {
		<-d.done
		return d.closeErr
	}
	d.inflight.Wait()
	var errs []error
	if d.pool != nil {
		errs = append(errs, wrap(d.path, "closing", d.pool.Close()))
	}
	if d.file != nil {
		open.release(d.file) // after the connections: this closes the last descriptor
	}
	if d.drop != nil {
		errs = append(errs, d.drop())
	}
	d.closeErr = errors.Join(errs...)
	close(d.done)
	return d.closeErr
}

// enter keeps the handle from being closed until inflight.Done.
func (d *DB) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("%q: %w", d.path, ErrClosed)
	}
	d.inflight.Add(1)
	return nil
}
