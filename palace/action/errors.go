package action

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// cancelError is context.Canceled with its own words.
type cancelError string

func (e cancelError) Error() string        { return string(e) }
func (e cancelError) Is(target error) bool { return target == context.Canceled }

// Both are context.Canceled too.
var (
	// ErrCancelled ends a run that somebody cancelled.
	ErrCancelled error = cancelError("cancelled on request")
	// ErrShutdown ends the runs of a program that ends, and refuses new ones.
	ErrShutdown error = cancelError("stopped because the program is ending")
)

// RefusedError is a reason not to do something, with the way out. It stands in
// a plan, and a run that finds it only under its lease returns it.
type RefusedError struct {
	// Kind is one word for scripts, such as disk-low or lock-held; it never
	// changes its meaning.
	Kind string `json:"kind"`
	// Reason says what is in the way, Next what a person can do about it.
	Reason string `json:"message"`
	// Subject is the palace or file it is about.
	Subject string `json:"subject"`
	Next    string `json:"next"`
	// Err is what lies beneath; nil = nothing.
	Err error `json:"-"`
}

func (e *RefusedError) Error() string {
	s := e.Reason
	if e.Subject != "" {
		s = e.Subject + ": " + s
	}
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

// Unwrap is what lies beneath.
func (e *RefusedError) Unwrap() error { return e.Err }

// BusyError refuses a second run on a palace.
type BusyError struct {
	// Palace is the one that is busy, as its run's person wrote it.
	Palace string
	// Run is the one that has it.
	Run   ID
	Title string
	State State
	Since time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s: %q has been %s since %s (run %s); wait for it to finish, or cancel it",
		e.Palace, e.Title, e.State, e.Since.Format(time.TimeOnly), e.Run)
}

// PanicError says that an action ended by a panic. The stack is in the run's
// log.
type PanicError struct {
	Run   ID
	Title string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%q ended by a defect of Castellan: %v; the log of run %s has what a bug report needs", e.Title, e.Value, e.Run)
}

// Unwrap is the value of the panic, where that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// StillRunningError says which runs did not end before Shutdown lost patience.
// Their palaces stay locked until the process ends.
type StillRunningError struct {
	Titles []string
	Err    error
}

func (e *StillRunningError) Error() string {
	return fmt.Sprintf("still running: %s (%v); a palace that is held stays locked until this process ends", strings.Join(e.Titles, ", "), e.Err)
}

// Unwrap is why there was no more waiting.
func (e *StillRunningError) Unwrap() error { return e.Err }

// UnknownRunError says that there is no such run, in this process or among the
// logs.
type UnknownRunError struct {
	Run ID
	Err error
}

func (e *UnknownRunError) Error() string {
	return fmt.Sprintf("no log of run %q is kept; the oldest are removed when there are more than %d", string(e.Run), maxLogs)
}

// Unwrap is the operating system's own error; nil when the id is none.
func (e *UnknownRunError) Unwrap() error { return e.Err }
