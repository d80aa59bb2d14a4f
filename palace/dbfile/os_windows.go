package dbfile

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

const openFlags = os.O_RDONLY

// SQLite locks single bytes at 1 GiB: PENDING, RESERVED, then the range that readers share (os.h of SQLite).
const pendingByte = 0x40000000

func idOfPath(path string, _ fs.FileInfo) (FileID, error) {
	h, err := metadataHandle(path)
	if err != nil {
		return FileID{}, err
	}
	defer windows.CloseHandle(h)
	return idOfHandle(h)
}

func idOfFile(f *os.File) (FileID, error) { return idOfHandle(windows.Handle(f.Fd())) }

func idOfHandle(h windows.Handle) (FileID, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return FileID{}, err
	}
	return FileID{
		Dev: uint64(info.VolumeSerialNumber),
		Ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}, nil
}

// metadataHandle opens path without the right to read it, which is all an identity needs and disturbs nobody.
func metadataHandle(path string) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	return windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
}

// allocated is what the file occupies on disk in bytes; smaller than its size when it has holes.
func allocated(path string, info fs.FileInfo) int64 {
	h, err := metadataHandle(path)
	if err != nil {
		return info.Size()
	}
	defer windows.CloseHandle(h)
	// FILE_STANDARD_INFO of winbase.h.
	var std struct {
		AllocationSize, EndOfFile int64
		NumberOfLinks             uint32
		DeletePending, Directory  bool
	}
	if windows.GetFileInformationByHandleEx(h, windows.FileStandardInfo, (*byte)(unsafe.Pointer(&std)), uint32(unsafe.Sizeof(std))) != nil {
		return info.Size()
	}
	return std.AllocationSize
}

// attended answers no without asking: locking the byte, the one way to ask here, would keep a newcomer out. Whoever
// has the -shm open and writes makes a handle stale all the same.
func attended(*os.File) bool { return false }

// foreignWriter reports whether somebody holds PENDING or RESERVED. Windows has no way to ask, so the bytes are
// locked for an instant, which is exactly what every SQLite reader does to learn the same thing.
func foreignWriter(f *os.File) bool {
	h := windows.Handle(f.Fd())
	at := &windows.Overlapped{Offset: pendingByte}
	err := windows.LockFileEx(h, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 2, 0, at)
	if err != nil {
		return err == windows.ERROR_LOCK_VIOLATION
	}
	_ = windows.UnlockFileEx(h, 0, 2, 0, &windows.Overlapped{Offset: pendingByte})
	return false
}
