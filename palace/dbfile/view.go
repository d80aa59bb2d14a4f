package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// busyWait bounds how long a view waits for a writer to commit. Chroma's commits take milliseconds; whoever holds the
// lock longer holds it for minutes, and a caller with something better to do should hear about it.
const busyWait = 2 * time.Second

// View runs do in one read transaction, whose answers all belong to one state of the database. It is the reader's
// SHARED lock that keeps a writer from committing meanwhile, so do must be short, must not wait for anything else, and
// must not call View on the same handle. The transaction is rolled back at the end. The error of do comes back as
// it is, with SQLite's part in it as a [*SQLError].
func (d *DB) View(ctx context.Context, do func(*Tx) error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.inflight.Done()
	s, err := d.session(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	tx, err := s.begin(ctx, busyWait)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing to lose: nothing was written
	if _, err := tx.ExecContext(ctx, cachePragma(d.cacheKiB)); err != nil {
		return wrap(d.path, "reading", err)
	}
	err = wrap(d.path, "reading", do(&Tx{db: d, tx: tx}))
	if d.access != AccessImmutable {
		return err
	}
	// No lock kept writers out: had one come, the answers may mix two states.
	var stale *StaleError
	if cerr := d.check(); errors.As(cerr, &stale) {
		stale.Err = errors.Join(stale.Err, err)
		return stale
	} else if cerr != nil {
		return errors.Join(err, cerr)
	}
	return err
}

// session is one connection on loan.
type session struct {
	db   *DB
	conn *sql.Conn
	end  func()
}

func (d *DB) session(ctx context.Context) (*session, error) {
	if d.pool != nil {
		conn, err := d.pool.Conn(ctx)
		if err != nil {
			return nil, wrap(d.path, "opening", err)
		}
		return &session{db: d, conn: conn, end: func() { conn.Close() }}, nil
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, wrap(d.path, "waiting for a connection to", ctx.Err())
	}
	end := func() { <-d.slots }
	params := d.params
	readonly, err := d.file.viewSHM(ctx)
	if err != nil {
		end()
		return nil, wrap(d.path, "waiting to read", err)
	}
	if readonly {
		params = append(params[:len(params):len(params)], "readonly_shm=1")
		end = func() { d.file.leaveSHM(); <-d.slots }
	}
	pool, err := sql.Open("sqlite", dsn(d.main, params...))
	if err != nil {
		end()
		return nil, wrap(d.path, "opening", err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		pool.Close()
		end()
		return nil, wrap(d.path, "opening", err)
	}
	return &session{db: d, conn: conn, end: func() { conn.Close(); pool.Close(); end() }}, nil
}

// begin starts a transaction and makes SQLite take its lock, which a bare BEGIN does not.
func (s *session) begin(ctx context.Context, wait time.Duration) (tx *sql.Tx, err error) {
	err = s.db.guarded(ctx, wait, func() error {
		tx, err = s.conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		var cookie int64
		if err = tx.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&cookie); err != nil {
			tx.Rollback()
		}
		return err
	})
	return tx, err
}

// guarded checks the state of the file and, if it still fits, calls do before anybody can change it. do must be
// brief: writers cannot commit meanwhile. While somebody has the database locked, guarded tries again, for wait at most.
// It never waits inside the guard: a writer that waits for us and we for the writer would be a deadlock.
func (d *DB) guarded(ctx context.Context, wait time.Duration, do func() error) error {
	for delay := time.Millisecond; ; delay = min(2*delay, 50*time.Millisecond) {
		err := d.guardedOnce(do)
		if !errors.Is(err, ErrBusy) || wait <= 0 {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return wrap(d.path, "waiting for the writer of", ctx.Err())
		}
		wait -= delay
	}
}

func (d *DB) guardedOnce(do func() error) error {
	if d.file != nil && d.access != AccessImmutable {
		release, err := d.file.guard()
		if err != nil {
			return wrap(d.path, "reading", err)
		}
		defer release()
	}
	if err := d.check(); err != nil {
		return err
	}
	err := wrap(d.path, "reading", do())
	switch {
	case codeOf(err) == sqlite3.SQLITE_READONLY_ROLLBACK:
		return &StaleError{Path: d.path, Reason: "its writer died, a hot journal is left", Err: err}
	case needsRecovery(err):
		return &StaleError{Path: d.path, Reason: "its log needs a recovery", Err: err}
	}
	return err
}

// probe asks SQLite once whether it can read the database, without waiting for anybody.
func (d *DB) probe(ctx context.Context) error {
	s, err := d.session(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	tx, err := s.begin(ctx, 0)
	if err != nil {
		return err
	}
	return wrap(d.path, "reading", tx.Rollback())
}
