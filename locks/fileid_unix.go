//go:build unix

package locks

import (
	"io/fs"
	"syscall"
)

func identify(info fs.FileInfo) (fileID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	// The field's width differs between systems, its value does not go negative
	// as an unsigned number.
	return fileID{uint64(st.Dev), uint64(st.Ino)}, true
}
