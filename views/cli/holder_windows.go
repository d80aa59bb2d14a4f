package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockExclusively locks one byte at offset 0, as Python's msvcrt.locking does
// for MemPalace.
func lockExclusively(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}

func homeVariable() string { return "USERPROFILE" }
