//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockExclusively is flock(2), as MemPalace takes it: fails at once when
// somebody else holds the lock.
func lockExclusively(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

func homeVariable() string { return "HOME" }
