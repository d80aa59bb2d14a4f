package undo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
