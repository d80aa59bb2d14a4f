package dbfile

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

const (
	// backupPages are copied in one go, under one SHARED lock; writers commit in between.
	backupPages = 1024
	// backupRestarts is how often a writer may make the copy start over before it is kept waiting until we are done.
	backupRestarts = 3
)

// Snapshot makes a consistent private copy with SQLite's backup API, in a new directory under dir (the handle's
// CopyDir if dir is empty), for questions that take too long to ask under a lock. Close deletes it. Unlike all other handles
// a snapshot lets a view write, because SQLite spells some questions that way, as FTS5 its integrity-check; what it
// writes is rolled back.
func (d *DB) Snapshot(ctx context.Context, dir string) (*DB, error) {
	if dir == "" {
		dir = d.dir
	}
	private, err := os.MkdirTemp(dir, "castellan-snapshot-") // 0700
	if err != nil {
		return nil, fmt.Errorf("making room for a snapshot of %q: %w", d.path, err)
	}
	snap, err := d.snapshotIn(ctx, private)
	if err != nil {
		return nil, errors.Join(err, removePrivate(private))
	}
	return snap, nil
}

// Backup writes a consistent copy to the new file name, readable by this user alone, and leaves it there, on disk and
// not just on its way. An existing file is never overwritten. After an error nothing is left.
func (d *DB) Backup(ctx context.Context, name string) error { return d.backupTo(ctx, name, "FULL") }

func (d *DB) backupTo(ctx context.Context, name, synchronous string) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.inflight.Done()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("backing up %q: %w", d.path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("backing up %q: %w", d.path, err)
	}
	if err := d.backup(ctx, name, synchronous); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func (d *DB) snapshotIn(ctx context.Context, private string) (*DB, error) {
	main := filepath.Join(private, "snapshot.sqlite3")
	if err := d.backupTo(ctx, main, "OFF"); err != nil {
		return nil, err
	}
	facts, err := Inspect(ctx, main)
	if err != nil {
		return nil, err
	}
	snap := newDB(facts, AccessSnapshot, main, Options{CacheKiB: d.cacheKiB, MaxConns: cap(d.slots), CopyDir: d.dir})
	snap.path = d.path
	snap.params = []string{"mode=rw", "_defensive=1", "_dqs=0", "_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)"}
	if err := snap.start(); err != nil {
		return nil, errors.Join(err, snap.Close())
	}
	snap.drop = func() error { return removePrivate(private) }
	return snap, nil
}

// backup copies the database into the empty file name, some pages at a time.
func (d *DB) backup(ctx context.Context, name, synchronous string) error {
	s, err := d.session(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	// The first read also opens the log and loads the cache parameters under the guard.
	tx, err := s.begin(ctx, busyWait)
	if err != nil {
		return err
	}
	if err := tx.Rollback(); err != nil {
		return wrap(d.path, "reading", err)
	}
	err = s.conn.Raw(func(conn any) error {
		source, ok := conn.(backupSource)
		if !ok {
			return fmt.Errorf("the SQLite driver offers no backup (%T)", conn)
		}
		// No journal: a copy that was not finished is removed.
		b, err := source.NewBackup(dsn(name, "mode=rw", "_pragma=journal_mode(OFF)", "_pragma=synchronous("+synchronous+")"))
		if err != nil {
			return err
		}
		err = d.steps(ctx, source, b)
		if ferr := b.Finish(); err == nil {
			err = ferr // otherwise it repeats the error of the step
		}
		return err
	})
	if err != nil {
		return wrap(d.path, "backing up", err)
	}
	return d.check()
}

// backupSource is the part of the driver's connection that a backup needs.
type backupSource interface {
	NewBackup(dst string) (*sqlite.Backup, error)
	driver.ExecerContext
}

func (d *DB) steps(ctx context.Context, source backupSource, b *sqlite.Backup) (err error) {
	held := false
	defer func() {
		if held {
			err = errors.Join(err, run(context.WithoutCancel(ctx), source, "ROLLBACK"))
		}
	}()
	for left, restarts := -1, 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		more := false
		err := d.guarded(ctx, busyWait, func() (err error) {
			if restarts >= backupRestarts && !held {
				if err := holdStill(ctx, source); err != nil {
					return err
				}
				held = true
			}
			more, err = b.Step(backupPages)
			return err
		})
		if err != nil || !more {
			return err
		}
		if left >= 0 && b.Remaining() >= left {
			restarts++
		}
		left = b.Remaining()
	}
}

// holdStill opens a read transaction, so that from here on nothing can change and make the copy start over.
func holdStill(ctx context.Context, source backupSource) error {
	if err := run(ctx, source, "BEGIN"); err != nil {
		return err
	}
	err := run(ctx, source, "PRAGMA schema_version")
	if err != nil {
		err = errors.Join(err, run(context.WithoutCancel(ctx), source, "ROLLBACK"))
	}
	return err
}

func run(ctx context.Context, source backupSource, statement string) error {
	_, err := source.ExecContext(ctx, statement, nil)
	return err
}
