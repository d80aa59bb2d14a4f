//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the names in a directory last: a rename that was not followed
// by it may be undone by a power failure. Some file systems know no such thing
// (EINVAL); they keep names their own way.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
