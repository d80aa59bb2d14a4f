//go:build unix

package palace

import (
	"io/fs"
	"syscall"

	"castellan/palace/backend"
)

func fileID(path string, info fs.FileInfo) (backend.FileID, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return backend.FileID{}, &ReadError{Path: path, Err: fs.ErrInvalid}
	}
	return backend.FileID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}, nil
}

// allocated is what the file system really gave, in bytes; st_blocks counts
// units of 512 bytes whatever the block size.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
