package dbfile

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What SQLite may answer, to be matched with errors.Is. See also [ErrNotDatabase].
var (
	ErrClosed  = errors.New("database handle is closed")
	ErrBusy    = errors.New("locked by another connection")      // SQLITE_BUSY, SQLITE_LOCKED
	ErrCorrupt = errors.New("database is damaged")               // SQLITE_CORRUPT and its extended codes
	ErrMoved   = errors.New("database was moved while open")     // SQLITE_READONLY_DBMOVED
	ErrIO      = errors.New("database could not be read")        // SQLITE_IOERR, SQLITE_CANTOPEN
	ErrWrite   = errors.New("refused to write while looking")    // SQLITE_READONLY
	ErrFull    = errors.New("no room for SQLite's scratch data") // SQLITE_FULL, SQLITE_NOMEM
)

// errLocked is a guard that could not be taken: the same as SQLITE_BUSY, noticed earlier.
var errLocked = errors.New("a writer is committing")

// SQLError is an answer of SQLite about one database. It matches the Err sentinels by its code.
type SQLError struct {
	Path  string
	Doing string // what was asked, for people
	Code  int    // extended result code, as 779 for SQLITE_CORRUPT_INDEX
	Err   error  // the driver's error, with SQLite's message
}

func (e *SQLError) Error() string {
	text := fmt.Sprintf("%s %q: %v", e.Doing, e.Path, e.Err)
	if next := e.Next(); next != "" {
		text += "; " + next
	}
	return text
}

// Next is the step a person can take; empty for a mistake in a statement.
func (e *SQLError) Next() string {
	switch e.kind() {
	case ErrBusy:
		return "wait for the writer to finish, then try again"
	case ErrCorrupt:
		return "make a copy before anything else, then let doctor say which part is damaged"
	case ErrMoved:
		return "open the path again"
	case ErrNotDatabase:
		return problemNext[NotDatabase]
	case ErrIO:
		if e.Code&0xff == sqlite3.SQLITE_CANTOPEN {
			return "check the permissions of the file, its sidecars and its directory; SQLite takes paths up to 512 bytes"
		}
		return "check the disk and its log"
	case ErrWrite:
		return "ask on a snapshot"
	case ErrFull:
		return "free some space or memory"
	}
	return ""
}

func (e *SQLError) kind() error {
	switch e.Code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrBusy
	case sqlite3.SQLITE_CORRUPT:
		return ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		return ErrNotDatabase
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return ErrIO
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM:
		return ErrFull
	case sqlite3.SQLITE_READONLY:
		if e.Code == sqlite3.SQLITE_READONLY_DBMOVED {
			return ErrMoved
		}
		return ErrWrite
	}
	return nil
}

// Unwrap gives the sentinel for the code, if there is one, and the driver's error.
func (e *SQLError) Unwrap() []error {
	if kind := e.kind(); kind != nil {
		return []error{kind, e.Err}
	}
	return []error{e.Err}
}

// wrap names the database in whatever went wrong. Errors that name it already, and those of the caller, pass.
func wrap(path, doing string, err error) error {
	var named *SQLError
	var driver *sqlite.Error
	switch {
	case err == nil, errors.As(err, &named):
		return err
	case errors.As(err, &driver):
		return &SQLError{Path: path, Doing: doing, Code: driver.Code(), Err: err}
	case errors.Is(err, errLocked):
		return &SQLError{Path: path, Doing: doing, Code: sqlite3.SQLITE_BUSY, Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s %q: %w", doing, path, err)
	}
	return err
}

func codeOf(err error) int {
	var e *SQLError
	if errors.As(err, &e) {
		return e.Code
	}
	return sqlite3.SQLITE_OK
}

// StaleError says that a handle no longer fits the file it was opened on. Close it and open the path again.
type StaleError struct {
	Path   string
	Reason string
	Err    error // what the read said, if anything; may be nil
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%q has changed since it was opened (%s); open it again", e.Path, e.Reason)
}

func (e *StaleError) Unwrap() error { return e.Err }

// HotJournalError refuses a database whose last writer died within a transaction, because the private copy in which
// the transaction would be rolled back is too large.
type HotJournalError struct {
	Path         string
	Bytes, Limit int64
}

func (e *HotJournalError) Error() string {
	return fmt.Sprintf("%q has a hot journal: its last writer died in the middle of a transaction, and the %d bytes needed to "+
		"roll it back in a private copy exceed the limit of %d; raise the limit, or let the program that owns the "+
		"database open it, which rolls it back in place", e.Path, e.Bytes, e.Limit)
}

// UnreadWALError refuses a database whose log holds transactions that only a recovery can show, because the private
// copy in which it would be recovered is too large.
type UnreadWALError struct {
	Path         string
	Frames       int // pages in the log, up to the last commit
	Bytes, Limit int64
}

func (e *UnreadWALError) Error() string {
	return fmt.Sprintf("%q has %d frames in its -wal that can be read only after a recovery, and the %d bytes needed to recover "+
		"a private copy exceed the limit of %d; raise the limit, or let the program that owns the database open it",
		e.Path, e.Frames, e.Bytes, e.Limit)
}

// ColumnError refuses a result column that the driver would alter: it parses text from columns declared DATE, DATETIME
// or TIMESTAMP into times, and the text as stored would be lost. Select it as +column, which has no declared type.
type ColumnError struct {
	Path, Column, Declared string
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("reading %q: column %q is declared %s, and its text would be taken for a time; select +%s",
		e.Path, e.Column, e.Declared, e.Column)
}
