//go:build unix

package dbfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// O_NONBLOCK: should a FIFO take the file's place after we looked at its type, opening it must not wait for a writer.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC

// SQLite locks single bytes at 1 GiB: PENDING, RESERVED, then 510 bytes that readers share (os.h of SQLite).
const (
	pendingByte = 0x40000000
	sharedFirst = pendingByte + 2
	sharedSize  = 510

	// deadMansSwitch is the byte of a -shm that everybody who has it open keeps locked: behind the index header
	// and the locks of readers and writers (UNIX_SHM_DMS in os_unix.c).
	deadMansSwitch = (22+8)*4 + 8
)

func idOfInfo(info fs.FileInfo) FileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}
}

func idOfPath(_ string, info fs.FileInfo) (FileID, error) { return idOfInfo(info), nil }

func idOfFile(f *os.File) (FileID, error) {
	info, err := f.Stat()
	if err != nil {
		return FileID{}, err
	}
	return idOfInfo(info), nil
}

// allocated is what the file occupies on disk in bytes; smaller than its size when it has holes.
func allocated(_ string, info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

// foreignWriter reports whether another process holds a write lock (RESERVED, PENDING or EXCLUSIVE) on the
// database. It only asks the kernel and takes no lock. Locks of this very process are not seen: see [Hold].
func foreignWriter(f *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_RDLCK, Start: pendingByte, Len: 2 + sharedSize}
	err := onDescriptor(f, func(fd uintptr) error { return unix.FcntlFlock(fd, unix.F_GETLK, &lock) })
	return err == nil && lock.Type != unix.F_UNLCK
}

// attended reports whether another process has the -shm open, by the lock that each keeps on its dead man's switch,
// or that this cannot be told.
func attended(shm *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: deadMansSwitch, Len: 1}
	err := onDescriptor(shm, func(fd uintptr) error { return unix.FcntlFlock(fd, unix.F_GETLK, &lock) })
	return err != nil || lock.Type != unix.F_UNLCK
}

func onDescriptor(f *os.File, do func(fd uintptr) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}
