package chroma

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
	path      string
	conn      *sql.Conn
	prepared  map[string]*sql.Stmt
	committed bool
}

// writeParams distrust what is read as a looker does. Chroma sets
// foreign_keys=OFF: it means to delete rows in an order of its own.
var writeParams = []string{
	"mode=rw", // never make a database where none is
	"_defensive=1", "_dqs=0", "_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)", "_pragma=foreign_keys(0)",
}

// writeCacheKiB keeps a batch of a thousand records in memory until its commit.
// A smaller cache would spill into the file early, which locks readers out
// from then on.
const writeCacheKiB = 32 << 10

// writeTo runs do in one write transaction. All of it is in the database when
// writeTo returns nil, and none of it otherwise.
func (w *Writable) writeTo(ctx context.Context, do func(*writeTx) error) error {
	return w.connected(ctx, func(tx *writeTx, facts dbfile.Facts) error {
		if err := tx.begin(ctx, w.writing.Wait); err != nil {
			return err
		}
		// Only now, with the file reserved, does a look at the path tell which file that is.
		if id, err := dbfile.Identify(facts.RealPath); err != nil || id != facts.ID {
			return &dbfile.StaleError{Path: facts.Path, Reason: "another file has taken its place", Err: err}
		}
		if err := do(tx); err != nil {
			return err
		}
		return tx.commit(ctx, w.writing.Wait)
	})
}

// connected hands do a connection that can write, in no transaction yet. One
// that do leaves open is rolled back.
func (w *Writable) connected(ctx context.Context, do func(*writeTx, dbfile.Facts) error) (err error) {
	if err := w.file.Enter(); err != nil {
		return err
	}
	defer w.file.Leave()
	facts := w.DB().Facts()
	release, err := dbfile.Hold(ctx, facts.RealPath)
	if err != nil {
		return err
	}
	defer release()
	pool, err := sql.Open("sqlite", writeDSN(facts.RealPath))
	if err != nil {
		return fmt.Errorf("opening %q for writing: %w", facts.RealPath, err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return writeError(facts.RealPath, "opening for writing", err)
	}
	tx := &writeTx{path: facts.RealPath, conn: conn, prepared: map[string]*sql.Stmt{}}
	defer tx.close()
	return do(tx, facts)
}

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

func (t *writeTx) begin(ctx context.Context, wait time.Duration) error {
	if err := t.patiently(ctx, wait, "reserving", "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	return t.exec("opening for writing", fmt.Sprintf("PRAGMA cache_size = -%d", writeCacheKiB))
}

// commit waits for readers: in a rollback-journal database each keeps it from
// happening. SQLite lets no new ones in meanwhile.
func (t *writeTx) commit(ctx context.Context, wait time.Duration) error {
	err := t.patiently(ctx, wait, "committing to", "COMMIT")
	t.committed = err == nil
	return err
}

// patiently tries a statement again while others have the database locked.
func (t *writeTx) patiently(ctx context.Context, wait time.Duration, doing, statement string) error {
	began := time.Now()
	for delay := time.Millisecond; ; delay = min(2*delay, 50*time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s %q: %w", doing, t.path, err)
		}
		err := t.exec(doing, statement)
		if !errors.Is(err, dbfile.ErrBusy) {
			return err
		}
		if time.Since(began) > wait {
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

// close ends the connection, and with it a transaction that was not committed.
func (t *writeTx) close() {
	for _, s := range t.prepared {
		s.Close()
	}
	if !t.committed {
		// It fails where SQLite has rolled back by itself, as on a full disk.
		_ = t.exec("rolling back", "ROLLBACK")
	}
	t.conn.Close()
}

// exec runs a statement once. doing says in an error what it was about.
func (t *writeTx) exec(doing, query string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), query, args...)
	return writeError(t.path, doing, err)
}

// again runs a statement that will run many times.
func (t *writeTx) again(doing, query string, args ...any) (sql.Result, error) {
	s, err := t.prepare(query)
	if err != nil {
		return nil, writeError(t.path, doing, err)
	}
	res, err := s.ExecContext(context.Background(), args...)
	return res, writeError(t.path, doing, err)
}

// number asks for one integer; false without a row.
func (t *writeTx) number(doing, query string, args ...any) (int64, bool, error) {
	s, err := t.prepare(query)
	if err != nil {
		return 0, false, writeError(t.path, doing, err)
	}
	var n int64
	err = s.QueryRowContext(context.Background(), args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, writeError(t.path, doing, err)
}

func (t *writeTx) prepare(query string) (*sql.Stmt, error) {
	if s := t.prepared[query]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err == nil {
		t.prepared[query] = s
	}
	return s, err
}

// QueryContext lets the package's readers ask within the write.
func (t *writeTx) QueryContext(ctx context.Context, query string, args ...any) (resultSet, error) {
	rows, err := t.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, writeError(t.path, "reading", err)
	}
	return writeRows{rows, t.path}, nil
}

// QueryRowContext asks for one row within the write.
func (t *writeTx) QueryRowContext(ctx context.Context, query string, args ...any) scanner {
	return writeRow{t.conn.QueryRowContext(ctx, query, args...), t.path}
}

type writeRows struct {
	*sql.Rows
	path string
}

func (r writeRows) Err() error { return writeError(r.path, "reading", r.Rows.Err()) }

type writeRow struct {
	row  *sql.Row
	path string
}

func (r writeRow) Scan(dest ...any) error { return writeError(r.path, "reading", r.row.Scan(dest...)) }

// writeError names the database, what was done to it, and what to do next.
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
		return &RefusedError{Palace: filepath.Dir(path), Reason: RefusedUnwritable, Detail: "the database cannot be written to: " + err.Error(), Err: err}
	}
	return known
}
