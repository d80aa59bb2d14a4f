package pickle

import (
	"errors"
	"fmt"
)

// ErrEmpty reports a file of 0 bytes. Chroma truncates the file before it
// writes it anew, so a crash or a full disk in that moment leaves this
// (chroma #1623); every operation on the collection then fails.
var ErrEmpty = errors.New("index metadata is empty (0 bytes): " +
	"the vectors may still be in the index files, keep them and rebuild the metadata")

// TruncatedError reports a file that ends before its pickle does.
type TruncatedError struct {
	Offset int64  // bytes there are; the next one was needed
	In     string // the opcode that was being read, "" between two
	Need   int64  // bytes the opcode declares beyond Offset, 0 if not known
}

func (e *TruncatedError) Error() string {
	s := fmt.Sprintf("index metadata is truncated at byte %d", e.Offset)
	if e.In != "" {
		s += " inside " + e.In
	}
	if e.Need > 0 {
		s += fmt.Sprintf(" (%d more declared)", e.Need)
	}
	return s + ": if a writer is busy look again in a moment, else rebuild the metadata"
}

// UnsafeError reports a pickle that names code to load or call. Nothing was
// loaded or called.
type UnsafeError struct {
	Offset int64 // of the opcode
	Module string
	Name   string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("index metadata asks for %q at byte %d: "+
		"unpickling it would run code that Chroma never writes; do not open this palace with Chroma or Python",
		clip(e.Module)+"."+clip(e.Name), e.Offset)
}

// FormatError reports bytes that are no pickle, or one that goes beyond what
// index metadata can need.
type FormatError struct {
	Offset int64 // of the opcode
	Opcode byte
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("index metadata is unreadable at byte %d (%s): %s",
		e.Offset, opcodeName(e.Opcode), e.Reason)
}

// ShapeError reports a readable pickle that is not index metadata.
type ShapeError struct {
	Field  string // "" for the root
	Reason string
}

func (e *ShapeError) Error() string {
	if e.Field == "" {
		return "not index metadata: " + e.Reason
	}
	return fmt.Sprintf("not index metadata: %s %s", e.Field, e.Reason)
}

// NotRegularError reports a path that is a directory, a FIFO or a device.
type NotRegularError struct{ Mode string }

func (e *NotRegularError) Error() string {
	return "index metadata is not a regular file (" + e.Mode + ")"
}

// clip keeps a hostile name from filling the screen.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
