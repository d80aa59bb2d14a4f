package closing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"castellan/palace/durable"
)

// smallLimit bounds what is read of a configuration; real ones have a few
// hundred bytes.
const smallLimit = 4 << 20

var byteOrderMark = []byte("\ufeff") // Windows editors leave one

// configFile is MemPalace's config.json as it was read.
type configFile struct {
	path string // as it is named
	real string // where it lies, behind symlinks
	raw  []byte
	// info is the file's, or its directory's where it is missing.
	info fs.FileInfo
	// missing: the directory is there, the file is not.
	missing bool
}

// readConfigFile reads the file. Only "there is none" counts as none: one that
// is there and cannot be read is somebody's settings (MemPalace #2356).
func readConfigFile(path string) (*configFile, error) {
	f := &configFile{path: path, real: path}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, f.findDirectory()
	}
	if err == nil {
		f.real = real
		f.raw, err = readSmall(real)
	}
	if err == nil {
		f.info, err = os.Stat(real)
	}
	if err != nil {
		return nil, &HooksError{File: path, Reason: "cannot be read: " + err.Error(), Next: "make it a file that this user can read", Err: err}
	}
	if !utf8.Valid(f.raw) {
		return nil, f.unusable(errors.New("is not UTF-8 text"))
	}
	return f, nil
}

// findDirectory tells "no file" from "no MemPalace here".
func (f *configFile) findDirectory() error {
	if _, err := os.Lstat(f.path); err == nil {
		return &HooksError{File: f.path, Reason: "it is a link to a file that is not there", Next: "put the file in place, or remove the link"}
	}
	dir := filepath.Dir(f.path)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return &HooksError{File: dir, Reason: "MemPalace has no configuration here, and none is made", Next: "run mempalace init first, or go without --pause-hooks", Err: err}
	}
	f.missing, f.info = true, info
	return nil
}

func (f *configFile) unusable(err error) error {
	return &HooksError{File: f.path, Reason: err.Error(), Next: "correct it first: it is not overwritten", Err: err}
}

// json is the text without a byte order mark; an empty object where there is
// no file.
func (f *configFile) json() []byte {
	if f.missing {
		return []byte("{}\n")
	}
	return bytes.TrimPrefix(f.raw, byteOrderMark)
}

func (f *configFile) withJSON(doc []byte) []byte {
	if bytes.HasPrefix(f.raw, byteOrderMark) {
		return append(bytes.Clone(byteOrderMark), doc...)
	}
	return doc
}

// replace puts a new text in place by rename, behind symlinks, with the mode
// and the owner the file had.
func (f *configFile) replace(raw []byte) error {
	mode := fs.FileMode(0o600)
	if !f.missing {
		mode = f.info.Mode().Perm()
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := writeWhole(f.real, raw, mode, f.info); err != nil {
		return &HooksError{File: f.path, Reason: "cannot be written: " + err.Error(), Next: "it is as it was; make it and its directory writable", Err: err}
	}
	return nil
}

func (f *configFile) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.real); err != nil {
		return &HooksError{File: f.path, Reason: "cannot be removed: " + err.Error(), Next: "remove it by hand", Err: err}
	}
	return nil
}

// unchanged keeps us from undoing what somebody else wrote since. There is no
// lock that MemPalace would respect here, so a moment remains.
func (f *configFile) unchanged() error {
	now, err := readSmall(f.real)
	if f.missing && errors.Is(err, fs.ErrNotExist) || err == nil && !f.missing && bytes.Equal(now, f.raw) {
		return nil
	}
	return &HooksError{File: f.path, Reason: "somebody else has just changed it", Next: "try again", Err: err}
}

// readSmall reads a regular file; a FIFO would keep us waiting for ever.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, smallLimit+1))
	if err == nil && len(b) > smallLimit {
		err = fmt.Errorf("%s is larger than 4 MiB", path)
	}
	return b, err
}

// writeWhole replaces a file by rename: whoever reads it sees the old text or
// the new one. like is the file whose owner is kept; nil = there is none.
func writeWhole(path string, text []byte, mode fs.FileMode, like fs.FileInfo) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".castellan-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = keepOwner(f, like)
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}
