package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Kind says what was changed, and so who can put it back.
type Kind string

// The kinds there are; a kind never changes its meaning.
const (
	Delete Kind = "delete"
	Repair Kind = "repair"
)

// Entry is one change that can be put back.
type Entry struct {
	ID      string
	Kind    Kind
	Palace  string // path, for people
	At      time.Time
	Title   string
	Summary string // what is kept
	Files   []File
	Bytes   int64 // of all files

	// Outcome is what Settle noted when the change was over; nil = it was cut
	// short, and only a look tells how far it got.
	Outcome json.RawMessage
	// Undone is when it was put back, or found to need no putting back; zero =
	// it has not been.
	Undone time.Time
	// Problem is why the entry cannot be read; nil = it can.
	Problem error
}

// File is one file of an entry.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Undoable reports that the entry waits to be put back.
func (e Entry) Undoable() bool { return e.Undone.IsZero() && e.Problem == nil }

const (
	version     = 1
	entryFile   = "entry.json"
	outcomeFile = "outcome.json"
	undoneFile  = "undone.json"
	// maxNote bounds what is read of a small file before it is believed.
	maxNote = 1 << 20
)

type manifest struct {
	Version int       `json:"version"`
	Kind    Kind      `json:"kind"`
	Palace  string    `json:"palace"`
	At      time.Time `json:"at"`
	Title   string    `json:"title"`
	Summary string    `json:"summary"`
	Files   []File    `json:"files"`
}

type undoneNote struct {
	At time.Time `json:"at"`
}

// idForm: a number that grows, since a clock can be set back, and the time for
// people.
var idForm = regexp.MustCompile(`^(\d{6,12})-\d{8}-\d{6}$`)

// fileForm keeps a name from leading anywhere else.
var fileForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

func number(id string) (uint64, bool) {
	m := idForm.FindStringSubmatch(id)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	return n, err == nil
}

// read reads one entry. What is wrong with it is its Problem; it fails only
// when there is none.
func (s *Store) read(id string) (Entry, error) {
	e := Entry{ID: id}
	dir := s.Path(id)
	var u undoneNote
	switch err := readJSON(filepath.Join(dir, undoneFile), &u); {
	case err == nil:
		e.Undone = u.At
	case !errors.Is(err, fs.ErrNotExist):
		e.Problem = err
	}
	var m manifest
	if err := readJSON(filepath.Join(dir, entryFile), &m); err != nil {
		if _, there := os.Lstat(dir); errors.Is(there, fs.ErrNotExist) {
			return Entry{}, fmt.Errorf("no undo record %s: %w", id, fs.ErrNotExist)
		}
		e.Problem = &DamagedError{Path: dir, Reason: "its description cannot be read", Err: err}
		return e, nil
	}
	e.Kind, e.Palace, e.At, e.Title, e.Summary, e.Files = m.Kind, m.Palace, m.At, m.Title, m.Summary, m.Files
	for _, f := range m.Files {
		if !fileForm.MatchString(f.Name) || f.Bytes < 0 {
			e.Problem = &DamagedError{Path: dir, Reason: fmt.Sprintf("it names a file %q of %d bytes", f.Name, f.Bytes)}
		}
		e.Bytes += f.Bytes
	}
	if m.Version != version {
		e.Problem = &DamagedError{Path: dir, Reason: fmt.Sprintf("it has version %d, where %d is known; use the Castellan that wrote it", m.Version, version)}
	}
	switch err := readJSON(filepath.Join(dir, outcomeFile), &e.Outcome); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		e.Problem = &DamagedError{Path: dir, Reason: "how far the change got cannot be read", Err: err}
	}
	return e, nil
}

// readJSON reads a small file of ours.
func readJSON(path string, v any) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	// Opening a pipe would wait for its other end.
	if !info.Mode().IsRegular() || info.Size() > maxNote {
		return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%d bytes, mode %s: not a file of Castellan's", info.Size(), info.Mode())}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// find gives the file of an entry with this name.
func (e Entry) find(name string) (File, bool) {
	i := slices.IndexFunc(e.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return File{}, false
	}
	return e.Files[i], true
}
