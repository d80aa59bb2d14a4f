package chroma

import (
	"context"
	"errors"
	"fmt"
	"time"

	"castellan/palace/dbfile"

	"modernc.org/sqlite"
)

// Mending is one write transaction on the database of a palace that a sound
// write would be refused for. It knows no rules: who mends has to know what
// Chroma makes of every row.
type Mending struct{ tx *writeTx }

// Mend runs do in one transaction, all of which is in the database when Mend
// returns nil, and none of it otherwise. It wants the palace to itself, as
// Writing.Alone tells, and a schema that is no newer than known.
func (w *Writable) Mend(ctx context.Context, do func(*Mending) error) error {
	return w.writeTo(ctx, func(tx *writeTx) error {
		s, err := readShape(ctx, tx)
		if err != nil {
			return err
		}
		schema, err := readSchema(ctx, tx, s)
		if err != nil {
			return err
		}
		if !schema.Known() || s.empty() {
			return w.refuse("", RefusedOldSchema, "its schema is not one that Castellan knows")
		}
		if err := w.wantAlone(ctx); err != nil {
			return err
		}
		return do(&Mending{tx})
	})
}

func (w *Writable) wantAlone(ctx context.Context) error {
	alone, err := w.alone(ctx)
	if err == nil && !alone {
		err = w.refuse("", RefusedInUse, "another process may have the palace open")
	}
	return err
}

// Exec runs a statement and says how many rows it changed.
func (m *Mending) Exec(query string, args ...any) (int64, error) {
	res, err := m.tx.again("mending", query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Define runs a statement that changes the schema.
func (m *Mending) Define(query string) error { return m.tx.exec("mending", query) }

// Number asks for one integer; false without a row.
func (m *Mending) Number(query string, args ...any) (int64, bool, error) {
	return m.tx.number("mending", query, args...)
}

// Each hands the rows of a question to fn, values as they are stored.
func (m *Mending) Each(ctx context.Context, query string, args []any, columns int, fn func(row []any) error) error {
	rows, err := m.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	row, dest := make([]any, columns), make([]any, columns)
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Vacuum writes the database anew without its free pages. SQLite does it in one
// transaction, with a scratch copy in its temporary directory and a journal
// beside the database, each as large as the database may be.
func (w *Writable) Vacuum(ctx context.Context) error {
	return w.connected(ctx, func(tx *writeTx, _ dbfile.Facts) error {
		tx.committed = true // there is none to roll back
		if err := w.wantAlone(ctx); err != nil {
			return err
		}
		return tx.patiently(ctx, w.writing.Wait, "vacuuming", "VACUUM")
	})
}

// Restore makes the database what the file is, in one transaction of SQLite's
// backup API: the file keeps its inode, and a kill leaves a journal that rolls
// back to what was there.
func (w *Writable) Restore(ctx context.Context, file string) error {
	return w.connected(ctx, func(tx *writeTx, facts dbfile.Facts) error {
		tx.committed = true
		if err := w.wantAlone(ctx); err != nil {
			return err
		}
		return tx.conn.Raw(func(driver any) error {
			from, ok := driver.(interface {
				NewRestore(string) (*sqlite.Backup, error)
			})
			if !ok {
				return errors.New("this build of SQLite cannot restore; this is a defect of Castellan, please report it")
			}
			b, err := from.NewRestore(writeDSN(file))
			if err != nil {
				return writeError(file, "opening a backup", err)
			}
			return errors.Join(w.restore(ctx, facts.RealPath, b), b.Finish())
		})
	})
}

// restore copies all pages at once: nobody ever sees some of them.
func (w *Writable) restore(ctx context.Context, path string, b *sqlite.Backup) error {
	began := time.Now()
	for {
		more, err := b.Step(-1)
		if err = writeError(path, "restoring", err); !errors.Is(err, dbfile.ErrBusy) {
			if err == nil && more {
				err = fmt.Errorf("restoring %q: SQLite stopped before the end", path)
			}
			return err
		}
		if time.Since(began) > w.writing.Wait {
			return &BusyError{Path: path, Waited: time.Since(began), Doing: "restoring"}
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
