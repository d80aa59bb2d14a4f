//go:build unix

package closing

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner of the file it is to replace: root must not take
// a configuration away from its user.
func keepOwner(f *os.File, like fs.FileInfo) error {
	if like == nil {
		return nil
	}
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if got, ok := info.Sys().(*syscall.Stat_t); ok && got.Uid == want.Uid && got.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
