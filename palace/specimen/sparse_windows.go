package specimen

import (
	"os"

	"golang.org/x/sys/windows"
)

// nextData knows of no holes here: every byte counts as stored.
func nextData(_ *os.File, off int64) (int64, error) { return off, nil }

// allowHoles marks f as sparse; without the mark NTFS would store every zero
// of a file that is made longer.
func allowHoles(f *os.File) error {
	var n uint32
	return windows.DeviceIoControl(windows.Handle(f.Fd()), windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &n, nil)
}
