package exact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"castellan/palace/backend"
	"castellan/palace/dbfile"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writeTx is one write transaction on a connection of its own.
//
// Its statements run without the caller's context: SQLite answers an interrupt
// of an INSERT by rolling the whole transaction back, after which the next
// statement would be committed alone. The context is looked at between them.
type writeTx struct {
	path     string
	wait     time.Duration
	now      string // for created_at and updated_at
	release  func()
	pool     *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	begun    bool // and neither committed nor rolled back
}

// writeParams distrust what is read as a looker does. MemPalace leaves foreign
// keys unchecked and so do we: it deletes in an order of its own.
var writeParams = []string{
	"mode=rw", // never make a database where none is
	"_defensive=1", "_dqs=0", "_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)", "_pragma=foreign_keys(0)",
}

// writeCacheKiB keeps a batch of a thousand records in memory until its commit.
const writeCacheKiB = 32 << 10

// write runs do in one write transaction on the file that the palace was opened
// on, with tables of the shape that MemPalace 3.11 makes. All of it is in the
// database when write returns nil, and none of it otherwise.
func (w *Writable) write(ctx context.Context, do func(*writeTx, query) error) error {
	if err := w.file.Enter(); err != nil {
		return err
	}
	defer w.file.Leave()
	facts := w.DB().Facts()
	return w.writing.run(ctx, facts.RealPath, func(tx *writeTx) error {
		// Only now, with the file reserved, does a look at the path tell which file that is.
		if id, err := dbfile.Identify(facts.RealPath); err != nil || id != facts.ID {
			return &dbfile.StaleError{Path: facts.Path, Reason: "another file has taken its place", Err: err}
		}
		q, err := tx.ensureSchema(ctx, w.dir)
		if err != nil {
			return err
		}
		return do(tx, q)
	})
}

// run opens a connection to the database at path, a write transaction on it,
// and commits what do has written.
func (w Writing) run(ctx context.Context, path string, do func(*writeTx) error) (err error) {
	tx := &writeTx{path: path, wait: w.Wait, now: timestamp(w.Now()), prepared: map[string]*sql.Stmt{}}
	defer func() { err = errors.Join(err, tx.close()) }()
	if err := tx.open(ctx); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("writing to %q: %w", path, err)
	}
	return tx.commit(ctx)
}

func (t *writeTx) open(ctx context.Context) (err error) {
	if t.release, err = dbfile.Hold(ctx, t.path); err != nil {
		return err
	}
	if t.pool, err = sql.Open("sqlite", writeDSN(t.path)); err != nil {
		return fmt.Errorf("opening %q for writing: %w", t.path, err)
	}
	if t.conn, err = t.pool.Conn(ctx); err != nil {
		return writeError(t.path, "opening for writing", err)
	}
	// As MemPalace does with every writable open. A file system that cannot share memory keeps the journal it has.
	if err := t.patiently(ctx, "opening for writing", "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if err := t.patiently(ctx, "reserving", "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	t.begun = true
	return t.exec("opening for writing", fmt.Sprintf("PRAGMA cache_size = -%d", writeCacheKiB))
}

func (t *writeTx) commit(ctx context.Context) error {
	err := t.patiently(ctx, "committing to", "COMMIT")
	t.begun = t.begun && err != nil
	return err
}

// close ends the connection, and with it a transaction that was not committed.
// The last connection of all tidies the log into the database file.
func (t *writeTx) close() (err error) {
	for _, s := range t.prepared {
		s.Close()
	}
	if t.begun {
		// It fails where SQLite has rolled back by itself, as on a full disk.
		_ = t.exec("rolling back", "ROLLBACK")
	}
	if t.conn != nil {
		t.conn.Close()
	}
	if t.pool != nil {
		err = t.pool.Close()
	}
	if t.release != nil {
		t.release()
	}
	return err
}

// patiently tries a statement again while others have the database locked.
func (t *writeTx) patiently(ctx context.Context, doing, statement string) error {
	began := time.Now()
	for delay := time.Millisecond; ; delay = min(2*delay, 50*time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s %q: %w", doing, t.path, err)
		}
		err := t.exec(doing, statement)
		if !errors.Is(err, dbfile.ErrBusy) {
			return err
		}
		if time.Since(began) > t.wait {
			return &BusyError{Path: t.path, Waited: time.Since(began), Doing: doing}
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// exec runs a statement once. doing says in an error what it was about.
func (t *writeTx) exec(doing, query string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), query, args...)
	return writeError(t.path, doing, err)
}

// again runs a statement that will run many times.
func (t *writeTx) again(doing, query string, args ...any) (sql.Result, error) {
	s := t.prepared[query]
	if s == nil {
		var err error
		if s, err = t.conn.PrepareContext(context.Background(), query); err != nil {
			return nil, writeError(t.path, doing, err)
		}
		t.prepared[query] = s
	}
	res, err := s.ExecContext(context.Background(), args...)
	return res, writeError(t.path, doing, err)
}

// Query makes the transaction a reader of what it is about to change.
func (t *writeTx) Query(ctx context.Context, query string, args ...any) (resultSet, error) {
	rows, err := t.conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	if err != nil {
		return nil, writeError(t.path, "reading", err)
	}
	return writeRows{rows, t.path}, nil
}

type writeRows struct {
	*sql.Rows
	path string
}

func (r writeRows) Err() error { return writeError(r.path, "reading", r.Rows.Err()) }

// writeDSN spells a path as SQLite's URI.
func writeDSN(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/dir
	} else if strings.HasPrefix(path, "//") {
		path = "//" + path // a server's name would be taken for the URI's authority
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(writeParams, "&")
}

// writeError names the database and what was done to it.
func writeError(path, doing string, err error) error {
	var driver *sqlite.Error
	if !errors.As(err, &driver) {
		return err
	}
	known := &dbfile.SQLError{Path: path, Doing: doing, Code: driver.Code(), Err: err}
	switch driver.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &backend.DamagedError{Path: path, Part: doing, Err: known}
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return &UnwritableError{Path: path, Err: known}
	}
	return known
}
