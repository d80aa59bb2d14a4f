package closing

import (
	"syscall"

	"castellan/locks"
)

// polite is the signal that asks for an end. Chroma servers have been seen to go
// on after SIGTERM, busy and deaf; SIGINT ends them, also where they were
// started with it ignored, as a script's background process is.
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
