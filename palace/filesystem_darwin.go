package palace

import "golang.org/x/sys/unix"

// remoteType names the file system under dir when it is not a local one.
func remoteType(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}

// readOnlyMount reports a file system that nobody can write to.
func readOnlyMount(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Flags&unix.MNT_RDONLY != 0
}
