package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Problem says why a path does not lead to a SQLite database that can be looked at.
type Problem string

// The problems a [FileError] can name.
const (
	Missing      Problem = "missing"
	DanglingLink Problem = "dangling-link"
	LinkLoop     Problem = "link-loop"
	Denied       Problem = "permission-denied"
	Directory    Problem = "directory"
	Pipe         Problem = "pipe"
	Socket       Problem = "socket"
	Device       Problem = "device"
	SymbolicLink Problem = "symbolic-link" // a sidecar only: SQLite follows no link there
	Empty        Problem = "empty"
	Truncated    Problem = "truncated"
	NotDatabase  Problem = "not-a-database"
	Unreadable   Problem = "unreadable" // anything else the system said; Err has it
)

// ErrNotDatabase matches both the header's verdict and SQLite's own (SQLITE_NOTADB).
var ErrNotDatabase = errors.New("not a SQLite database")

// FileError names a file and why it is refused. It matches [fs.ErrNotExist] and [fs.ErrPermission] where they apply.
type FileError struct {
	Path    string
	Problem Problem
	Detail  string // what was seen, for people; may be empty
	Err     error  // what the system said; may be nil
}

func (e *FileError) Error() string {
	text := fmt.Sprintf("%q %s", e.Path, problemWords[e.Problem])
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if e.Problem == Unreadable && e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + "; " + e.Next()
}

// Next is the step a person can take.
func (e *FileError) Next() string { return problemNext[e.Problem] }

func (e *FileError) Unwrap() error { return e.Err }

// Is lets [ErrNotDatabase] match, and the io/fs sentinels where the system's error carries none of them.
func (e *FileError) Is(target error) bool {
	switch target {
	case ErrNotDatabase:
		return e.Problem == NotDatabase
	case fs.ErrNotExist:
		return e.Problem == Missing || e.Problem == DanglingLink
	case fs.ErrPermission:
		return e.Problem == Denied
	}
	return false
}

var problemWords = map[Problem]string{
	Missing:      "does not exist",
	DanglingLink: "is a link that leads nowhere",
	LinkLoop:     "is a link that leads back to itself",
	Denied:       "may not be read by this user",
	Directory:    "is a directory, not a database file",
	Pipe:         "is a named pipe, not a database file",
	Socket:       "is a socket, not a database file",
	Device:       "is a device, not a database file",
	SymbolicLink: "is a symbolic link, which SQLite does not follow beside a database",
	Empty:        "has zero bytes",
	Truncated:    "is cut off before the end of its first page",
	NotDatabase:  "is not a SQLite database",
	Unreadable:   "cannot be read",
}

var problemNext = map[Problem]string{
	Missing:      "check the path",
	DanglingLink: "restore what the link pointed to, or correct the link",
	LinkLoop:     "correct the link",
	Denied:       "run as the user who owns the palace, or ask for read permission on the file and its directories",
	Directory:    "name the database file inside it",
	Pipe:         "find out what created it, then move it away",
	Socket:       "find out what created it, then move it away",
	Device:       "name a regular file",
	SymbolicLink: "replace the link by the file it leads to while nothing has the database open",
	Empty:        "do not open it with MemPalace or Chroma, which would start a new database in it; restore a backup",
	Truncated:    "restore a backup",
	NotDatabase:  "restore a backup, or check the path",
	Unreadable:   "check the disk and the path",
}

// classify turns what the system said about path into a FileError.
func classify(path string, err error) error {
	var known *FileError
	if errors.As(err, &known) {
		return err
	}
	e := &FileError{Path: path, Problem: Unreadable, Err: err}
	switch {
	case errors.Is(err, syscall.ELOOP):
		e.Problem = LinkLoop
	case errors.Is(err, fs.ErrPermission):
		e.Problem = Denied
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Problem = Missing
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			e.Problem = DanglingLink
			if target, rerr := os.Readlink(path); rerr == nil {
				e.Detail = fmt.Sprintf("to %q", target)
			}
		}
	}
	return e
}

// regular refuses everything that is not a plain file, before anything opens it: opening a FIFO can wait for ever.
func regular(path string, info fs.FileInfo) error {
	e := &FileError{Path: path}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		e.Problem = Directory
	case mode&fs.ModeSymlink != 0:
		e.Problem = SymbolicLink
	case mode&fs.ModeNamedPipe != 0:
		e.Problem = Pipe
	case mode&fs.ModeSocket != 0:
		e.Problem = Socket
	default:
		e.Problem = Device
	}
	return e
}
