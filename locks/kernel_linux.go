package locks

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxTable bounds what is read of /proc/locks: some 60 bytes a lock.
const maxTable = 32 << 20

// kernelLock is one line of the kernel's lock table.
type kernelLock struct {
	waiting bool   // "->": blocked on the lock above
	kind    string // FLOCK, POSIX, OFDLCK, LEASE, ...
	write   bool
	pid     int // who took it; 0 = not visible from here, -1 = belongs to the open file
	dev     uint64
	ino     uint64
}

// lockTable reads /proc/locks. A table that cannot be read whole is an error:
// half of it would make held locks look free.
func (o *Observer) lockTable() ([]kernelLock, error) {
	path := filepath.Join(o.proc, "locks")
	raw, err := readUpTo(path, maxTable)
	if err != nil {
		return nil, err
	}
	if len(raw) == maxTable {
		return nil, fmt.Errorf("%s: more than %d bytes", path, maxTable)
	}
	var out []kernelLock
	for line := range bytes.Lines(raw) {
		l, err := parseLock(string(line))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, l)
	}
	return out, nil
}

var errLockLine = errors.New("a line that is no lock")

// parseLock reads a line such as
//
//	1: FLOCK  ADVISORY  WRITE 8736 fe:00:9979027 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 8741 fe:00:9979027 0 EOF
//
// (proc_locks(5)). The device is hexadecimal, the inode decimal; a lock
// without a file has "<none>:0" there.
func parseLock(line string) (kernelLock, error) {
	f := strings.Fields(line)
	var l kernelLock
	if len(f) > 1 && f[1] == "->" {
		l.waiting = true
		f = append(f[:1], f[2:]...)
	}
	if len(f) < 6 {
		return l, fmt.Errorf("%w: %q", errLockLine, line)
	}
	l.kind, l.write = f[1], f[3] == "WRITE"
	pid, err := strconv.Atoi(f[4])
	if err != nil {
		return l, fmt.Errorf("%w: %q", errLockLine, line)
	}
	l.pid = pid
	place := strings.Split(f[5], ":")
	if len(place) != 3 {
		return l, nil
	}
	major, err1 := strconv.ParseUint(place[0], 16, 32)
	minor, err2 := strconv.ParseUint(place[1], 16, 32)
	ino, err3 := strconv.ParseUint(place[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return l, fmt.Errorf("%w: %q", errLockLine, line)
	}
	l.dev, l.ino = unix.Mkdev(uint32(major), uint32(minor)), ino
	return l, nil
}

// descriptor is what /proc/PID/fdinfo/FD says of an open file.
type descriptor struct {
	writable bool
	locks    []kernelLock
}

// parseDescriptor reads an fdinfo file (proc_pid_fdinfo(5)). Its lock lines
// are the locks that belong to this very descriptor, whoever took them: that
// is how a lock shows that was inherited, or taken in another PID namespace.
func parseDescriptor(raw []byte) descriptor {
	var d descriptor
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "flags":
			flags, err := strconv.ParseUint(strings.TrimSpace(value), 8, 64)
			d.writable = err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
		case "lock":
			if l, err := parseLock(value); err == nil {
				d.locks = append(d.locks, l)
			}
		}
	}
	return d
}

// flocked tells whether the descriptor holds a flock, which is what MemPalace
// uses: its own record locks would not keep anyone out.
func (d descriptor) flocked() bool {
	for _, l := range d.locks {
		if l.kind == "FLOCK" {
			return true
		}
	}
	return false
}

// strongest is the strongest lock through the descriptor.
func (d descriptor) strongest() string {
	lock := ""
	for _, l := range d.locks {
		switch {
		case l.kind == "LEASE" || l.kind == "DELEG":
		case l.write:
			return "write"
		default:
			lock = "read"
		}
	}
	return lock
}
