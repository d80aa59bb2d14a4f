package exact

import (
	"fmt"
	"time"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// ClosedError is the answer to every use of a palace, or of a view of it, after
// Close. It matches backend.ErrClosed and says it in MemPalace's words, which
// people search for.
type ClosedError struct{ Palace string }

func (e *ClosedError) Error() string {
	return e.Palace + ": SQLiteExactCollection has been closed; open the palace again"
}

func (e *ClosedError) Unwrap() error { return backend.ErrClosed }

// DimensionMismatchError says that a vector has not the length that its
// collection is fixed to by its first write, or not that of the others of its
// call. Where it kept a record from being written it matches
// *backend.InvalidRecordError too.
type DimensionMismatchError struct {
	Palace, Collection string
	Want, Got          int // floats
	// Record is the one that the vector came with; nil for the vector of a
	// search.
	Record *backend.InvalidRecordError
}

func (e *DimensionMismatchError) Error() string {
	text := fmt.Sprintf("%s: collection %q expects vectors of %d floats, got %d; use the embedding model it was filed with",
		e.Palace, e.Collection, e.Want, e.Got)
	if e.Record != nil {
		text += fmt.Sprintf("; record %d (%q) and the whole call were not written", e.Record.Index, e.Record.ID)
	}
	return text
}

func (e *DimensionMismatchError) Unwrap() error {
	if e.Record == nil {
		return nil // not a nil pointer in an interface that is not nil
	}
	return e.Record
}

// NotKeptError refuses what the sqlite_exact format has no place for, instead
// of forgetting it silently.
type NotKeptError struct {
	Palace, Collection string
	What               string
}

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("%s: collection %q: sqlite_exact cannot keep %s; leave it out, or use a chroma palace", e.Palace, e.Collection, e.What)
}

// BusyError says that others kept the database locked for as long as a write
// was willing to wait. Nothing was written. It matches dbfile.ErrBusy.
type BusyError struct {
	Path   string
	Waited time.Duration
	Doing  string
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s %s: others kept it locked for %s; nothing was written; wait for them to finish, then try again",
		e.Doing, e.Path, e.Waited.Round(time.Millisecond))
}

func (e *BusyError) Unwrap() error { return dbfile.ErrBusy }

// UnwritableError says that the database, or its directory, does not let
// itself be written to.
type UnwritableError struct {
	Path string
	Err  error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%s cannot be written to: %v; nothing was written; check the permissions of the file, its sidecars and its directory", e.Path, e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }
