package specimen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// growSparse makes name size bytes long without storing what is added. A file
// that is not there is made.
func growSparse(name string, size int64) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := allowHoles(f); err != nil {
		return err
	}
	return f.Truncate(size)
}

// patch overwrites bytes of a file in place. It fails where the file ends
// before them, so that a specimen never turns out healthy by mistake.
func patch(name string, off int64, b []byte) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if end := off + int64(len(b)); end > info.Size() {
		return fmt.Errorf("%s has %d bytes, cannot write up to %d", name, info.Size(), end)
	}
	_, err = f.WriteAt(b, off)
	return err
}

// cut shortens a file to size bytes; it fails when that is no shortening.
func cut(name string, size int64) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() <= size {
		return fmt.Errorf("%s has %d bytes, cannot cut it to %d", name, info.Size(), size)
	}
	return os.Truncate(name, size)
}

// clearDir removes all that dir holds.
func clearDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copySegment copies the plain files of one segment directory to a new one.
func copySegment(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyFile(os.DirFS(from), e.Name(), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
