package backend

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is what every operation answers once its handle, or the palace
// beneath it, has been closed.
var ErrClosed = errors.New("the palace handle has been closed")

// CollectionNotFoundError names a collection that the palace does not hold.
type CollectionNotFoundError struct {
	Palace, Name string
	// Known are the names that it does hold.
	Known []string
}

func (e *CollectionNotFoundError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("%s: no collection %q; the palace holds none yet", e.Palace, e.Name)
	}
	return fmt.Sprintf("%s: no collection %q; it holds %s", e.Palace, e.Name, strings.Join(e.Known, ", "))
}

// UnsupportedFilterError refuses an operator or a form instead of ignoring it:
// a filter that is silently dropped answers with rows nobody asked for.
type UnsupportedFilterError struct {
	// Subject is the operator or key that is refused.
	Subject string
	Reason  string
}

func (e *UnsupportedFilterError) Error() string {
	return fmt.Sprintf("filter %q is not supported: %s", e.Subject, e.Reason)
}

// DamagedError says what cannot be read, where, and what the engine said.
type DamagedError struct {
	// Path of the file and Part of it: a table, a b-tree, a byte range.
	Path, Part string
	Err        error
}

func (e *DamagedError) Error() string {
	part := e.Part
	if part != "" {
		part = " (" + part + ")"
	}
	return fmt.Sprintf("%s%s is damaged: %v; run castellan doctor on the palace before anything opens it", e.Path, part, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// SchemaError says that a database is not of a shape Castellan knows. Nothing
// may be written to such a palace.
type SchemaError struct {
	Path, Detail string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s has a schema Castellan does not know: %s", e.Path, e.Detail)
}

// UnsupportedBackendError names an engine that is recognised but not opened.
type UnsupportedBackendError struct {
	Palace string
	Kind   Kind
}

func (e *UnsupportedBackendError) Error() string {
	return fmt.Sprintf("%s is kept by %s, which Castellan recognises but does not open", e.Palace, e.Kind)
}

// InvalidRecordError says what about one record keeps it, and the call it came
// with, from being written.
type InvalidRecordError struct {
	// ID of the record, and Index of it within the call.
	ID     string
	Index  int
	Reason string
}

func (e *InvalidRecordError) Error() string {
	return fmt.Sprintf("record %d (%q) cannot be written: %s; nothing of this call was written", e.Index, e.ID, e.Reason)
}

// ExistsError says that a name is taken.
type ExistsError struct {
	Palace, Name string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s already has a collection %q", e.Palace, e.Name)
}
