package palace

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// NotFoundError says that there is no directory at a palace's path.
type NotFoundError struct {
	Path string
	// Nearest is the deepest directory on the way that does exist.
	Nearest string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s: no such palace (the path exists up to %s); check the spelling, or create it with mempalace init", e.Path, e.Nearest)
}

// Unwrap lets errors.Is(err, fs.ErrNotExist) hold.
func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// NotPermittedError says who owns what could not be looked at.
type NotPermittedError struct {
	// Path is the file or directory that refuses, which may lie above or
	// inside the palace.
	Path string
	// Owner and Group are names, or numbers where no name is known; empty
	// when even these could not be read.
	Owner, Group string
	Mode         fs.FileMode
	Err          error
}

func (e *NotPermittedError) Error() string {
	who := "its owner cannot be read"
	if e.Owner != "" {
		who = fmt.Sprintf("owner %s, group %s, mode %04o", e.Owner, e.Group, e.Mode.Perm())
	}
	return fmt.Sprintf("%s: permission denied (%s); run as its owner or ask them for access", e.Path, who)
}

// Unwrap lets errors.Is(err, fs.ErrPermission) hold.
func (e *NotPermittedError) Unwrap() error { return e.Err }

// WrongKindError says that a path is something else than it has to be.
type WrongKindError struct {
	Path, Want, Got string
}

func (e *WrongKindError) Error() string {
	return fmt.Sprintf("%s is %s where %s is needed", e.Path, e.Got, e.Want)
}

// DanglingLinkError says that a symlink on the way leads nowhere.
type DanglingLinkError struct {
	// Path is the link, Target what it says.
	Path, Target string
}

func (e *DanglingLinkError) Error() string {
	return fmt.Sprintf("%s is a link to %s, which does not exist; mount or restore the target, or correct the link", e.Path, e.Target)
}

// LinkLoopError says that the symlinks on the way lead in a circle.
type LinkLoopError struct {
	Path string
	Err  error
}

func (e *LinkLoopError) Error() string {
	return fmt.Sprintf("%s: its links lead in a circle; correct one of them", e.Path)
}

// Unwrap is the operating system's own error.
func (e *LinkLoopError) Unwrap() error { return e.Err }

// EmptyDatabaseError says that the database has 0 bytes, or is not there at
// all, while segment directories hold vectors. Chroma would start a new
// database in its place and never look at them again (MemPalace #1893).
type EmptyDatabaseError struct {
	Path     string
	Absent   bool
	Segments []string
}

func (e *EmptyDatabaseError) Error() string {
	what := "is empty (0 bytes)"
	if e.Absent {
		what = "does not exist"
	}
	return fmt.Sprintf("%s %s, but %s still there; do not open it with mempalace, restore the file from a backup first",
		e.Path, what, segmentCount(len(e.Segments)))
}

// NotADatabaseError says that the database file does not begin as SQLite
// files do (MemPalace #585).
type NotADatabaseError struct {
	Path string
	// Segments are the segment directories beside it, whose vectors remain.
	Segments []string
	Err      error
}

func (e *NotADatabaseError) Error() string {
	return fmt.Sprintf("%s is not a database: its header is not SQLite's; %s beside it; restore the file from a backup",
		e.Path, segmentCount(len(e.Segments)))
}

// Unwrap is what the header showed.
func (e *NotADatabaseError) Unwrap() error { return e.Err }

func segmentCount(n int) string {
	if n == 1 {
		return "1 segment directory is"
	}
	return fmt.Sprintf("%d segment directories are", n)
}

// TwoBackendsError says that a directory holds the databases of several
// engines; MemPalace refuses to write there.
type TwoBackendsError struct {
	Path  string
	Files []string
}

func (e *TwoBackendsError) Error() string {
	return fmt.Sprintf("%s holds the databases of several engines (%s); mempalace refuses to write until all but one are moved away",
		e.Path, strings.Join(e.Files, ", "))
}

// UnresponsiveError says that the file system did not answer in time, as a
// network mount does whose server is gone.
type UnresponsiveError struct {
	Path  string
	After time.Duration
}

func (e *UnresponsiveError) Error() string {
	return fmt.Sprintf("%s: the file system did not answer within %s; check the mount", e.Path, e.After)
}

// ReadError is any other failure to look at a path.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.Path, e.Err) }

// Unwrap is the operating system's own error.
func (e *ReadError) Unwrap() error { return e.Err }

// EmptyError says that there is a directory but nothing in it to open.
type EmptyError struct {
	Path string
	// Text is the site's own sentence.
	Text string
}

func (e *EmptyError) Error() string { return e.Text }

// MovedError says that the directory of an open palace was deleted, moved or
// replaced. Close the handle and open the path again.
type MovedError struct {
	Path string
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s is not the palace any more that was opened: it was deleted, moved or replaced; open it again", e.Path)
}
