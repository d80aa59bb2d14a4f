package undo

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrNothing says that nothing waits to be put back.
var ErrNothing = errors.New("there is nothing to undo")

// StoreError says what of the store could not be read or written.
type StoreError struct {
	Path string
	Err  error
}

func (e *StoreError) Error() string {
	step := "free space on its disk, or see that the directory can be written to, and try again"
	if errors.Is(e.Err, fs.ErrPermission) {
		step = "make it readable and writable for this user; it may have been made by another one, with sudo perhaps"
	}
	return fmt.Sprintf("undo records in %s: %v; %s", e.Path, e.Err, step)
}

// Unwrap is the operating system's own error.
func (e *StoreError) Unwrap() error { return e.Err }

// DamagedError says why an entry cannot be used.
type DamagedError struct {
	Path, Reason string
	Err          error // may be nil
}

func (e *DamagedError) Error() string {
	reason := e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	return fmt.Sprintf("the undo record %s cannot be used: %s; what is left of it is in its files; move the directory away to get at older records", e.Path, reason)
}

// Unwrap is what lies beneath.
func (e *DamagedError) Unwrap() error { return e.Err }
