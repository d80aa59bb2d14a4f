//go:build unix

package palace

import (
	"io/fs"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownerOf names user and group, by number where there is no name, as in a
// container whose users are not those of the host.
func ownerOf(info fs.FileInfo) (owner, group string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	owner, group = strconv.FormatUint(uint64(st.Uid), 10), strconv.FormatUint(uint64(st.Gid), 10)
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return owner, group
}

// writable asks the kernel with the effective user, which also knows of
// read-only mounts. It changes nothing, not even an access time.
func writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
