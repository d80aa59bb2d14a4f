//go:build unix

package undo

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the names in a directory durable. Some file systems know no
// such thing (EINVAL); they keep names their own way.
func syncDir(dir string) error {
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
