//go:build unix

package change

import "golang.org/x/sys/unix"

// freeBytes is what this user may still write on the file system of path; -1
// when it cannot be told.
func freeBytes(path string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
