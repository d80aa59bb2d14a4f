package chroma

import (
	"fmt"
	"time"

	"castellan/palace/dbfile"
)

// Refusal says what keeps a palace from being written to.
type Refusal string

// The reasons why a sound write is not made.
const (
	RefusedOldSchema   Refusal = "old-schema"       // Chroma will migrate it first
	RefusedPosition    Refusal = "poisoned"         // a position no queue ever reached
	RefusedBlob        Refusal = "position-blob"    // a position as older Chroma stored it
	RefusedUncovered   Refusal = "uncovered"        // a vector position without an index that holds the vectors
	RefusedQueue       Refusal = "queue"            // a waiting row that Chroma stumbles over
	RefusedSegments    Refusal = "segments"         // not one segment of each scope
	RefusedInUse       Refusal = "in-use"           // another process may have the palace open
	RefusedUnwritable  Refusal = "unwritable"       // file system or permissions
	RefusedOccupied    Refusal = "occupied"         // there is a database, or a part of one, already
	RefusedNoDatabase  Refusal = "no-database"      // no default database to make a collection in
	RefusedName        Refusal = "name"             // Chroma would not take the name
	RefusedParameter   Refusal = "parameter"        // Chroma would not take a parameter
	RefusedLeftBehind  Refusal = "left-behind"      // done, but index files could not be removed
	RefusedText        Refusal = "text"             // documents that only Chroma can take out of its full-text index
	RefusedOutOfNumber Refusal = "out-of-sequences" // the queue's numbers are beyond what any queue reaches
)

var refusalNext = map[Refusal]string{
	RefusedOldSchema:   "open it once with the MemPalace or Chroma that keeps it, which brings it up to date, then try again",
	RefusedPosition:    "run castellan repair in its max-seq-id mode, then try again",
	RefusedBlob:        "run castellan repair in its max-seq-id mode, then try again",
	RefusedUncovered:   "let nothing write to it, and run castellan repair: the next purge would delete the only copy of vectors",
	RefusedQueue:       "run castellan doctor, which shows the row, and repair the queue",
	RefusedSegments:    "run castellan doctor on the palace",
	RefusedInUse:       "close the programs that have the palace open, then try again",
	RefusedUnwritable:  "run as the user who owns the palace, and check that its directory and disk can be written to",
	RefusedOccupied:    "choose another directory, or move what is there away",
	RefusedNoDatabase:  "open it once with the MemPalace or Chroma that keeps it, which makes the database anew",
	RefusedName:        "choose a name of 3 to 512 letters, digits, dots, dashes and underscores that begins and ends with a letter or digit",
	RefusedParameter:   "leave the parameter out to get what MemPalace uses",
	RefusedLeftBehind:  "remove the directories by hand once nothing has them open",
	RefusedText:        "delete those drawers, let MemPalace open the palace once, then try again",
	RefusedOutOfNumber: "run castellan doctor on the palace",
}

// RefusedError says why nothing was written to a palace, and the way out. (For
// RefusedLeftBehind everything was written, and files are left.)
type RefusedError struct {
	// Palace is the directory, Collection the name where only one is concerned.
	Palace, Collection string
	Reason             Refusal
	Detail             string // what was seen, for people
	Err                error  // what the system said; may be nil
}

func (e *RefusedError) Error() string {
	subject := e.Palace
	if e.Collection != "" {
		subject += ", collection " + e.Collection
	}
	return fmt.Sprintf("%s: %s; %s", subject, e.Detail, e.Next())
}

// Next is the step a person can take.
func (e *RefusedError) Next() string { return refusalNext[e.Reason] }

func (e *RefusedError) Unwrap() error { return e.Err }

// BusyError says that others kept the database locked for all the time that a
// write waited. Nothing was written. It matches dbfile.ErrBusy.
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
