package locks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// initialPIDNamespace is PROC_PID_INIT_INO: the namespace in which every
// process of the machine shows.
const initialPIDNamespace = "pid:[4026531836]"

// foreign are file systems that other machines, or a host, lock without this
// kernel knowing (statfs(2), linux/magic.h).
var foreign = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS",
	unix.OCFS2_SUPER_MAGIC: "OCFS2", unix.CODA_SUPER_MAGIC: "Coda",
	0x01161970: "GFS2", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x786f4256: "vboxsf", 0x19830326: "BeeGFS",
}

// outOfSight says why a lock in dir may be held by somebody this kernel, or
// this process, cannot see; "" = whoever holds one shows.
func (o *Observer) outOfSight(dir string) string {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "the file system of the locks cannot be asked: " + err.Error()
	}
	if name, ok := foreign[uint32(fs.Type)]; ok {
		return fmt.Sprintf("the locks are on %s, where holders on other machines do not show", name)
	}
	ns, err := os.Readlink(filepath.Join(o.proc, "self", "ns", "pid"))
	if err == nil && ns == initialPIDNamespace || o.ownRoot(dir) {
		return ""
	}
	return "this runs in a PID namespace of its own (a container), where holders outside do not show"
}

// ownRoot tells whether dir lies in the root of a container that keeps its
// file system to itself: then nobody outside its PID namespace locks there. A
// directory mounted from elsewhere is shared, and so is the host's own root
// seen from a mere PID namespace.
func (o *Observer) ownRoot(dir string) bool {
	here, ok := o.mountOf(dir)
	root, ok2 := o.mountOf("/")
	if !ok || !ok2 || here.id != root.id {
		return false
	}
	if here.kind == "overlay" {
		return true
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv", "/run/systemd/container"} {
		if _, err := os.Lstat(mark); err == nil {
			return true
		}
	}
	// WSL gives each distribution a PID namespace and a disk.
	release, err := readUpTo(filepath.Join(o.proc, "sys/kernel/osrelease"), 256)
	return err == nil && bytes.Contains(bytes.ToLower(release), []byte("microsoft"))
}

type mount struct {
	id   uint64
	dev  uint64 // of the superblock: what the kernel's lock table names
	kind string
}

func (o *Observer) mountOf(path string) (mount, bool) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_MNT_ID, &st); err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return mount{}, false
	}
	raw, err := readUpTo(filepath.Join(o.proc, "self", "mountinfo"), 16<<20)
	if err != nil {
		return mount{}, false
	}
	for line := range strings.Lines(string(raw)) {
		if m, ok := parseMount(line); ok && m.id == st.Mnt_id {
			return m, true
		}
	}
	return mount{}, false
}

// parseMount reads a line of mountinfo (proc_pid_mountinfo(5)):
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	f := strings.Fields(left)
	g := strings.Fields(right)
	if !ok || len(f) < 3 || len(g) < 1 {
		return mount{}, false
	}
	id, err := strconv.ParseUint(f[0], 10, 64)
	major, minor, ok := strings.Cut(f[2], ":")
	a, err1 := strconv.ParseUint(major, 10, 32)
	b, err2 := strconv.ParseUint(minor, 10, 32)
	if err != nil || err1 != nil || err2 != nil || !ok {
		return mount{}, false
	}
	return mount{id: id, dev: unix.Mkdev(uint32(a), uint32(b)), kind: g[0]}, true
}
