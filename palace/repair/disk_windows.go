package repair

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// freeBytes is what this user may still write on the volume of path; -1 when
// it cannot be told.
func freeBytes(path string) int64 {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return -1
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return -1
	}
	return int64(free)
}

func onDisk(info fs.FileInfo) int64 { return info.Size() }

func sameOwner(string, string) error { return nil }
