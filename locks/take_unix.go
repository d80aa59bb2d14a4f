//go:build unix

package locks

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the flock(2) of f, or answers errBusy.
//
// The system call is made here because a lock package such as gofrs/flock owns
// the file it locks: what has to happen on this very descriptor while it is
// held (compare the inode, write the identity behind the sentinel) is out of
// reach there. flock, not fcntl: MemPalace's fcntl.flock is this call, and
// record locks (F_SETLK) keep nobody out who uses it.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errBusy
		default:
			return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// unlock says it outright. Closing alone is not enough: a child that is between
// fork and exec has a copy of the descriptor, and the lock would stay until it
// gets to its exec.
func unlock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		return &fs.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}
