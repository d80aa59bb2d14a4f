//go:build linux || darwin || freebsd

package specimen

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// nextData is the offset of the first byte at or after off that is stored
// rather than a hole; io.EOF when only holes follow.
func nextData(f *os.File, off int64) (int64, error) {
	at, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return 0, io.EOF
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return off, nil // this file system keeps no account of holes
	}
	return at, err
}

// allowHoles prepares f for being sparse, which needs nothing here.
func allowHoles(*os.File) error { return nil }
