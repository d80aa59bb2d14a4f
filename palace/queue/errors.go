package queue

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrInvalid in the answer of an Applier sets the entry aside: trying again
	// would bring the same refusal. A *backend.InvalidRecordError does so too.
	ErrInvalid = errors.New("the write is not valid")
	// ErrOutcomeUnknown in the answer of an Applier says that the write may have
	// been made. The entry stays, as StateUnknown.
	ErrOutcomeUnknown = errors.New("whether the write was made is not known")
	// ErrDraining: another process, or goroutine, applies the entries now.
	ErrDraining = errors.New("the waiting writes are being applied already")
)

// FullError says that an entry does not fit. Nothing was kept.
type FullError struct {
	Dir string
	// What is "entry", "entries" or "bytes"; Limit is what there may be of it,
	// and Have what there would have been.
	What        string
	Have, Limit int64
}

func (e *FullError) Error() string {
	if e.What == "entry" {
		return fmt.Sprintf("the write has %d bytes and cannot be kept for later, where %d are the most; write in smaller batches", e.Have, e.Limit)
	}
	return fmt.Sprintf("no more writes are kept for later in %s: %d %s would be there, %d may; free the palace and let them be applied, or drop some",
		e.Dir, e.Have, e.What, e.Limit)
}

// ConflictError says that another write waits under the same id.
type ConflictError struct {
	ID, Path string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("another write waits under the id %q (%s); give this one an id of its own", e.ID, e.Path)
}

// StoreError says what of the queue's own files could not be read or written.
// After a failed Park the write is either kept or not; parking it again under
// its id is safe.
type StoreError struct {
	Path string
	Err  error
}

func (e *StoreError) Error() string {
	step := "free space on its disk, or see that the directory can be written to, and try again"
	if errors.Is(e.Err, fs.ErrPermission) {
		step = "make it readable and writable for this user; it may have been made by another one, with sudo perhaps"
	}
	return fmt.Sprintf("writes that wait in %s: %v; %s", e.Path, e.Err, step)
}

func (e *StoreError) Unwrap() error { return e.Err }

// PoisonedError says what is wrong with the file of an entry.
type PoisonedError struct {
	Path, Reason string
	Err          error // may be nil
}

func (e *PoisonedError) Error() string {
	reason := e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	return fmt.Sprintf("the waiting write %s cannot be applied: %s; look at the file, then drop the entry", e.Path, reason)
}

func (e *PoisonedError) Unwrap() error { return e.Err }

// RefusedError says why an entry is still there after Drain.
type RefusedError struct {
	Entry Entry // without its records
	Err   error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the waiting write %s (%s to %s): %v", e.Entry.Name, e.Entry.Operation, e.Entry.Collection, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }
