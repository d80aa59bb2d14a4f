//go:build unix

package hnswlib

import (
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// allocated counts blocks of 512 bytes, whatever the file system's own size.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
