package palace

import "golang.org/x/sys/unix"

// remoteMagic are the file systems, by statfs's f_type (statfs(2)), whose
// files live elsewhere or pass through a program.
var remoteMagic = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC:       "9p",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.CODA_SUPER_MAGIC: "Coda",
	0x0bd00bd0:            "Lustre",
	0x786f4256:            "VirtualBox shared folder",
}

// remoteType names the file system under dir when it is one where locks may
// not hold; empty otherwise. FUSE is told more exactly by the mount table.
func remoteType(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	name := remoteMagic[uint32(st.Type)]
	if name != "FUSE" {
		return name
	}
	if m, ok := mountOf(mounts(), dir); ok {
		return fuseName(m.fstype)
	}
	return name
}

// fuseName lets disks pass that merely use FUSE as their driver.
func fuseName(fstype string) string {
	switch fstype {
	case "fuseblk":
		return ""
	case "fuse", "":
		return "FUSE"
	}
	return fstype
}

// readOnlyMount reports a file system that nobody can write to.
func readOnlyMount(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}
