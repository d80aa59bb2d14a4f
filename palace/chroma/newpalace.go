package chroma

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"castellan/palace/durable"
)

// seed is a database as Chroma 1.5 leaves it when it has made one and nobody
// has used it: all migrations applied, the default tenant and database. Chroma
// compares every migration's text with its own, so it is made by Chroma.
//
//go:embed seed/chroma.sqlite3
var seed []byte

// Create makes an empty palace in dir, and dir with it (mode 0700). It refuses
// a directory in which there is a database or a part of one: SQLite would
// apply a journal that is left from an earlier database to the new one. The
// database appears under its name whole or not at all.
func Create(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritable(dir, err)
	}
	path := filepath.Join(dir, DatabaseFile)
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_, err := os.Lstat(path + suffix)
		if err == nil {
			return occupied(dir, path+suffix)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return unwritable(dir, err)
		}
	}
	beside, err := writeBeside(dir)
	if beside != "" {
		defer os.Remove(beside)
	}
	if err != nil {
		return unwritable(dir, err)
	}
	// A link, unlike a rename, never takes the place of what has appeared meanwhile.
	err = os.Link(beside, path)
	if errors.Is(err, fs.ErrExist) {
		return occupied(dir, path)
	}
	if err != nil {
		// A file system without links. MemPalace's lock, which the caller holds, keeps others out.
		if err = os.Rename(beside, path); err != nil {
			return unwritable(dir, err)
		}
	}
	if err := durable.SyncDir(dir); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

// writeBeside writes the seed under a name of its own, and answers with that.
func writeBeside(dir string) (name string, err error) {
	f, err := os.CreateTemp(dir, DatabaseFile+".new-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(seed)
	if err == nil {
		err = f.Sync()
	}
	return f.Name(), errors.Join(err, f.Close())
}

func occupied(dir, path string) error {
	return &RefusedError{Palace: dir, Reason: RefusedOccupied, Detail: fmt.Sprintf("%s is there already", path), Err: fs.ErrExist}
}

func unwritable(dir string, err error) error {
	return &RefusedError{Palace: dir, Reason: RefusedUnwritable, Detail: fmt.Sprintf("no palace can be made there: %v", err), Err: err}
}
