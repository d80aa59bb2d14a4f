package specimen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// openDatabase opens the palace's database for writing, with one connection
// and the pragmas given, such as "synchronous(off)". A database that is not
// there is not made.
func openDatabase(dir string, pragmas ...string) (*sql.DB, error) {
	name, err := filepath.Abs(filepath.Join(dir, Database))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: url.Values{"mode": {"rw"}, "_pragma": pragmas}.Encode()}
	if u.Path[0] != '/' {
		u.Path = "/" + u.Path // C:/...
	}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// change runs edit in one transaction on the palace's database and closes the
// database again, so that no side file is left.
func change(ctx context.Context, dir string, edit func(*sql.Tx) error) (err error) {
	db, err := openDatabase(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := edit(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// execEach runs statements without arguments.
func execEach(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
