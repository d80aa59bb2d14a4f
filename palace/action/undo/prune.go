package undo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace/durable"
)

// prune removes the oldest entries beyond the bounds. The newest always stays:
// it is the way back from what is about to be done.
func (s *Store) prune() error {
	list, err := s.List()
	if err != nil {
		return err
	}
	var bytes int64
	for i, e := range list {
		bytes += e.Bytes
		if i == 0 || i < s.o.MaxEntries && bytes <= s.o.MaxBytes {
			continue
		}
		bytes -= e.Bytes
		if err := s.remove(e.ID); err != nil {
			return s.broken(err)
		}
	}
	return nil
}

// remove takes an entry's name away first, so that none is ever seen in parts.
func (s *Store) remove(id string) error {
	old := filepath.Join(s.dir, oldPrefix+id)
	s.at("retire")
	if err := os.Rename(s.Path(id), old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.at("remove")
	return os.RemoveAll(old)
}

// tidy removes what killed programs left: drafts, and entries half removed.
func (s *Store) tidy() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) && !strings.HasPrefix(e.Name(), oldPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// makeDirs makes the store's directory, durably: an entry is not safe in a
// directory that the next power cut forgets.
func (s *Store) makeDirs() error {
	var made []string
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("is not a directory")}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return err
		}
		made = append(made, dir)
	}
	for _, dir := range slices.Backward(made) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := durable.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}
