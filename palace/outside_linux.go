package palace

import "os"

// initialPIDNamespace is PROC_PID_INIT_INO: there every process of the machine
// shows.
const initialPIDNamespace = "pid:[4026531836]"

// sharedOutside reports that processes which do not show here may have files
// under dir open: we are in a PID namespace of our own, and dir is not on the
// private root of a container.
func sharedOutside(dir string) bool {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns == initialPIDNamespace {
		return false
	}
	m, ok := mountOf(mounts(), dir)
	return !ok || m.point != "/" || m.fstype != "overlay"
}
