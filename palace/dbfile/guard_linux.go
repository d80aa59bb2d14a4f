package dbfile

import (
	"errors"
	"io"
	"sync"

	"golang.org/x/sys/unix"
)

// guards counts the views that are between checking the state of a file and reading it. The first takes a SHARED
// lock on the database, the last drops it. It is an open-file-description lock: it belongs to our descriptor alone, so
// dropping it leaves SQLite's own locks be, and closing other descriptors leaves it be.
//
// While it is held nobody can switch the journal mode, and the last writer of a WAL database cannot delete the
// sidecars as it closes. Without it SQLite would create an empty -wal if that happened right after we had seen one.
type guards struct {
	mu sync.Mutex
	n  int
}

// guard returns errLocked if a writer is committing. A file system without such locks is read unguarded.
func (f *file) guard() (release func(), err error) {
	g := &f.guards
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n == 0 {
		err := f.lockShared(unix.F_RDLCK)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, errLocked
		}
		if err != nil {
			return func() {}, nil
		}
	}
	g.n++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.n--; g.n == 0 {
			_ = f.lockShared(unix.F_UNLCK) // an unlock of our own range cannot fail
		}
	}, nil
}

func (f *file) lockShared(kind int16) error {
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	return onDescriptor(f.raw, func(fd uintptr) error { return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &lock) })
}
