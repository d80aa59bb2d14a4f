package chroma

import (
	"context"
	"sync"

	"castellan/palace/dbfile"
)

// querier asks within one transaction: a view, or a write under way.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (resultSet, error)
	QueryRowContext(ctx context.Context, query string, args ...any) scanner
}

type scanner interface{ Scan(dest ...any) error }

// resultSet is what the readers of this package use of a statement's rows.
type resultSet interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

type view struct{ tx *dbfile.Tx }

func (v view) QueryContext(ctx context.Context, query string, args ...any) (resultSet, error) {
	return v.tx.Query(ctx, query, args...)
}

func (v view) QueryRowContext(ctx context.Context, query string, args ...any) scanner {
	return rowScanner{v.tx, ctx, query, args}
}

// rowScanner puts off a one-row question until it is known where its answer
// goes.
type rowScanner struct {
	tx    *dbfile.Tx
	ctx   context.Context
	query string
	args  []any
}

func (r rowScanner) Scan(dest ...any) error { return r.tx.QueryRow(r.ctx, r.query, r.args, dest...) }

// shapeCache keeps the shape of the database: it changes only when somebody
// migrates the palace, and SQLite counts that.
type shapeCache struct {
	mu      sync.Mutex
	version int64
	shape   shape
}

func (c *shapeCache) read(ctx context.Context, q querier) (shape, error) {
	var version int64
	if err := q.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return shape{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shape.columns != nil && c.version == version {
		return c.shape, nil
	}
	s, err := readShape(ctx, q)
	if err != nil {
		return shape{}, err
	}
	c.version, c.shape = version, s
	return s, nil
}
