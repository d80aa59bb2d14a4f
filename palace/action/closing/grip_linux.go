package closing

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// grip is a hold on one process that outlives its pid: a signal sent through it
// reaches that process or nobody, also when the pid has been used again.
type grip struct{ fd int }

// openGrip holds on to whoever has the pid now. Who that is, is to be looked at
// after this, not before. The error is os.ErrProcessDone when nobody has it.
func openGrip(pid int) (grip, error) {
	fd, err := unix.PidfdOpen(pid, 0) // close-on-exec by itself
	switch {
	case err == nil:
		return grip{fd}, nil
	case errors.Is(err, unix.ESRCH):
		return grip{}, os.ErrProcessDone
	case errors.Is(err, unix.ENOSYS):
		return grip{}, fmt.Errorf("this kernel cannot tell a process from the next one with its PID (Linux 5.3 can): %w", errors.ErrUnsupported)
	}
	return grip{}, fmt.Errorf("pidfd_open: %w", err)
}

func (g grip) signal(s syscall.Signal) error {
	err := unix.PidfdSendSignal(g.fd, s, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// reachable asks the kernel for permission; nothing is sent.
func (g grip) reachable() error { return g.signal(0) }

// exited is true for a zombie as well: it holds no file any more.
func (g grip) exited() bool {
	for {
		fds := []unix.PollFd{{Fd: int32(g.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
	}
}

func (g grip) close() error { return unix.Close(g.fd) }
