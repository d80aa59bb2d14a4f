package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// MakeDirs makes a directory and those above it, for their owner alone, so that
// they last: a file is not safe in a directory that the next power cut forgets.
// What is there already stays as it is. before, if given, is called ahead of
// each one that is made.
func MakeDirs(path string, before func()) error {
	var missing []string
	for dir := path; ; dir = filepath.Dir(dir) {
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
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if before != nil {
			before()
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}
