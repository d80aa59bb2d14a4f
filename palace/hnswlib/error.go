package hnswlib

import (
	"fmt"
	"io/fs"
)

// The names of the files of a segment.
const (
	HeaderFile = "header.bin"
	Level0File = "data_level0.bin"
	LengthFile = "length.bin"
	LinksFile  = "link_lists.bin"
	PickleFile = "index_metadata.pickle" // Chroma's, not hnswlib's: package pickle reads it
)

// MissingError reports a segment directory, or a file in it, that is not there.
// It is fs.ErrNotExist.
type MissingError struct {
	Dir  string
	File string // "" for the directory
}

func (e *MissingError) Error() string {
	if e.File == "" {
		return e.Dir + ": the segment directory is missing"
	}
	return fmt.Sprintf("%s: %s is missing: Chroma cannot load the index", e.Dir, e.File)
}

func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// NotRegularError reports a directory, FIFO or device in a file's place.
type NotRegularError struct {
	Dir, File string
	Mode      fs.FileMode
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s: %s is not a regular file (%s)", e.Dir, e.File, e.Mode)
}

// ShortError reports a file that ends before what it must hold. A header cut
// short makes Chroma die by SIGSEGV (measured, core 1.5.9).
type ShortError struct {
	Dir, File string
	Got, Want int64 // bytes
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("%s: %s has %d bytes and needs %d: "+
		"if a writer is busy look again in a moment, else do not open this palace with Chroma before a copy is made",
		e.Dir, e.File, e.Got, e.Want)
}

// HeaderError reports a header whose sizes do not make a readable index.
type HeaderError struct {
	Dir       string
	Field     string
	Offset    int64 // of the field in header.bin
	Got, Want string
}

func (e *HeaderError) Error() string {
	s := fmt.Sprintf("header.bin: %s at byte %d is %s, not %s", e.Field, e.Offset, e.Got, e.Want)
	if e.Dir != "" {
		s = e.Dir + ": " + s
	}
	return s
}

// ElementError reports an internal index that data_level0.bin or length.bin
// does not hold.
type ElementError struct {
	File     string
	Internal int
	Stored   int // whole elements in the file
}

func (e *ElementError) Error() string {
	return fmt.Sprintf("%s holds %d elements, not element %d", e.File, e.Stored, e.Internal)
}

// LinksError reports the place from which link_lists.bin cannot be walked on:
// a record's length is the only way to the next one. Chroma's loader checks
// nothing here and dies by SIGSEGV.
type LinksError struct {
	Offset int64 // of the record in link_lists.bin
	Record int   // its internal index
	Reason string
}

func (e *LinksError) Error() string {
	return fmt.Sprintf("link_lists.bin cannot be walked beyond byte %d (element %d): %s", e.Offset, e.Record, e.Reason)
}
