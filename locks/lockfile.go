package locks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sentinel is the length of what stands before the identity: byte 0 is the one
// that Windows locks, so it is neither read nor written.
const sentinel = 1

// maxReplaced bounds how often a lock is taken anew because its file was
// removed in between. Each round needs somebody who removes one.
const maxReplaced = 100

var (
	// errBusy: another open file has the lock, of this process or another one.
	errBusy = errors.New("the lock is held")

	errReplaced = errors.New("somebody keeps removing the lock file")
)

// openLock is an open lock file. It belongs to one goroutine until it is
// held, and changes no more while it is.
type openLock struct {
	path string
	f    *os.File
	info fs.FileInfo // identity of the open file; stays true while it is open
}

// openLockFile opens a lock file for reading and writing and makes it, and its
// directory, when missing. It never truncates: what a holder wrote is its.
//
// MemPalace creates the directories with the umask's mode and narrows
// ~/.mempalace to 0700 once it writes its configuration; here they are 0700
// from the start. os.File sets close-on-exec, so no program that this one
// starts inherits a lock.
func openLockFile(path string) (*openLock, error) {
	const flags = os.O_RDWR | os.O_CREATE | nonblock
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "lock", Path: path, Err: errors.New("not a regular file, so it locks nothing")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &openLock{path: path, f: f, info: info}, nil
}

// grab takes the lock at path without waiting, or answers errBusy. A lock
// belongs to the inode, not to the name: one that was won on a file which has
// been removed since excludes nobody, so the file is compared after the lock
// is won and the whole repeated when it is another one.
func grab(path string) (*openLock, error) {
	for range maxReplaced {
		l, err := openLockFile(path)
		if err != nil {
			return nil, err
		}
		if err := tryLock(l.f); err != nil {
			return nil, errors.Join(err, l.f.Close())
		}
		current, err := l.current()
		if current {
			return l, nil
		}
		if err := errors.Join(err, l.drop()); err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: errReplaced}
}

// current tells whether the path still leads to the file that is open here.
func (l *openLock) current() (bool, error) {
	now, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking whether a lock still holds: %w", err)
	}
	return os.SameFile(l.info, now), nil
}

// sign writes who holds the lock behind the sentinel, as MemPalace does:
// truncated to its length first, then written. Only a holder may sign.
//
// Nothing decides by this text, and a full disk must not keep anybody from
// locking what they are about to tidy up. When it cannot be written the text
// of an earlier holder goes, too, so that nobody reads a wrong name.
func (l *openLock) sign(identity []byte) {
	err := l.f.Truncate(sentinel + int64(len(identity)))
	if err == nil {
		_, err = l.f.WriteAt(identity, sentinel)
	}
	if err != nil {
		_ = l.f.Truncate(sentinel)
	}
}

// drop gives the lock back and closes the file. The file stays, with its text.
func (l *openLock) drop() error { return errors.Join(unlock(l.f), l.f.Close()) }

// ownIdentity is the text of this process: its pid and the first three
// arguments. MemPalace repeats the text in its own messages, so it carries no
// secrets and no control characters.
func ownIdentity() []byte {
	argv := os.Args[:min(3, len(os.Args))]
	return []byte(strings.TrimSpace(strconv.Itoa(os.Getpid()) + " " + commandLine(argv)))
}
