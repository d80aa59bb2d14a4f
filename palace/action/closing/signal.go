package closing

import (
	"syscall"

	"castellan/locks"
)

// polite is the signal that asks for an end. A Chroma server does not react to
// SIGTERM.
func polite(r locks.Role) syscall.Signal {
	if r == locks.RoleChroma {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGKILL:
		return "SIGKILL"
	}
	return "SIGTERM"
}
