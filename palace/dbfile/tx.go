package dbfile

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Tx asks questions within one view. It is good until the function given to [DB.View] returns.
//
// Values arrive as they are stored: TEXT byte for byte, whether or not it is valid UTF-8 (a database in UTF-16 is
// converted by SQLite), integers as int64. Scanned into an any, a BLOB of no bytes is a []byte, NULL is nil.
type Tx struct {
	db *DB
	tx *sql.Tx
}

// Rows is a result set. Its Err names the database.
type Rows struct {
	*sql.Rows
	db *DB
}

// Err is the error that ended the rows, if one did.
func (r *Rows) Err() error { return wrap(r.db.path, "reading", r.Rows.Err()) }

// Query runs one statement. It fails with a [*ColumnError] if the driver would alter a column of the result.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	rows, err := t.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap(t.db.path, "reading", err)
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		rows.Close()
		return nil, wrap(t.db.path, "reading", err)
	}
	for _, c := range types {
		switch c.DatabaseTypeName() {
		case "DATE", "DATETIME", "TIMESTAMP":
			rows.Close()
			return nil, &ColumnError{Path: t.db.path, Column: c.Name(), Declared: c.DatabaseTypeName()}
		}
	}
	return &Rows{Rows: rows, db: t.db}, nil
}

// QueryRow runs one statement and scans the first row of its result into dest. Without a row the error is
// [sql.ErrNoRows].
func (t *Tx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	rows, err := t.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return wrap(t.db.path, "reading", rows.Close())
}

func cachePragma(kib int) string { return fmt.Sprintf("PRAGMA cache_size = -%d", kib) }

// QuickCheck is PRAGMA quick_check: what is wrong with the b-trees and the virtual tables, full-text indexes included;
// none if all is well. There are at most limit messages, and never more than 100, where SQLite stops by itself. It
// reads the whole database: for a palace that is in use, ask a [DB.Snapshot]. Cancelling ctx ends it at once.
func (d *DB) QuickCheck(ctx context.Context, limit int) ([]string, error) {
	if limit <= 0 || limit > 100 {
		limit = 100
	}
	var found []string
	err := d.View(ctx, func(tx *Tx) error {
		// The driver can interrupt the first step of a statement, not the later ones. Sorting makes the first do it all.
		rows, err := tx.Query(ctx, "SELECT quick_check FROM pragma_quick_check ORDER BY +rowid")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var message string
			if err := rows.Scan(&message); err != nil {
				return err
			}
			// What is wrong within the b-trees comes as one text of many lines.
			found = append(found, strings.Split(message, "\n")...)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return ctx.Err() // the interruption may have come too late for the first step
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 1 && found[0] == "ok" {
		return nil, nil
	}
	return found[:min(len(found), limit)], nil
}
