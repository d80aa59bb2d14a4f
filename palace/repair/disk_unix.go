//go:build unix

package repair

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes is what this user may still write on the file system of path; -1
// when it cannot be told.
func freeBytes(path string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// onDisk is what a file takes, far less than its length where it has holes.
func onDisk(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Blocks) * 512
	}
	return info.Size()
}

// sameOwner gives path to the owner of like, where we may: a palace that root
// repairs must stay its owner's.
func sameOwner(path, like string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return os.Lchown(path, int(s.Uid), int(s.Gid))
	}
	return nil
}
