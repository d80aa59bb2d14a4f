package palace

import (
	"context"
	"fmt"

	"castellan/palace/backend"
)

// State tells apart what people otherwise take for one another.
type State string

// The states of a palace.
const (
	Missing       State = "missing"       // no such directory
	Empty         State = "empty"         // a directory without a database
	Uninitialised State = "uninitialised" // a database without collections
	OK            State = "ok"            // there is a database that can be opened
	Unreadable    State = "unreadable"    // something is there and cannot be read
)

// Site is what can be said of a path without opening a database. Looking
// changes nothing there.
type Site struct {
	Ref backend.Ref
	// Aliases are other paths that lead to the same directory, as far as the
	// mount table knows.
	Aliases []string
	// State is never Uninitialised here: whether a database has collections
	// is known once it is opened. See Palace.State.
	State State
	// Err says why a palace is missing or unreadable; nil otherwise.
	Err   error
	Notes []Note
	// ReadOnly reports that this user cannot write there.
	ReadOnly bool
	// FileSystem names a file system on which locks may not hold; empty for
	// an ordinary one.
	FileSystem string
	// Size is the whole directory. With a NoteIncomplete it is a lower bound.
	Size      Size
	Artifacts []Artifact
	Layout    Layout
}

// LockPaths are the spellings under which locks of this palace may be keyed.
func (s *Site) LockPaths() []string { return LockPaths(s.Ref, s.Aliases) }

// Artifact is the file that Ref.Kind stands for; nil when there is none.
func (s *Site) Artifact() *Artifact {
	for i := range s.Artifacts {
		if s.Artifacts[i].Kind == s.Ref.Kind {
			return &s.Artifacts[i]
		}
	}
	return nil
}

// Explain says in one sentence what the state means here. The four ways of
// being empty are four different sentences (MemPalace #1498).
func (s *Site) Explain() string {
	switch s.State {
	case Empty:
		for _, n := range s.Notes {
			switch n.Kind {
			case NoteNeverUsed, NoteTooShallow, NoteTooDeep:
				return n.Text
			}
		}
		if s.Layout.Others > 0 {
			return fmt.Sprintf("%s has files in it but no database: no palace has been made here yet", s.Ref.Path)
		}
		return fmt.Sprintf("%s is an empty directory: no palace has been made here yet", s.Ref.Path)
	case Uninitialised:
		return fmt.Sprintf("%s has a database without collections: initialised, but nothing has been filed yet", s.Ref.Path)
	case OK:
		return fmt.Sprintf("%s is kept by %s", s.Ref.Path, s.Ref.Kind)
	}
	if s.Err != nil {
		return s.Err.Error()
	}
	return fmt.Sprintf("%s is %s", s.Ref.Path, s.State)
}

func (s *Site) note(kind NoteKind, path string, err error, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Kind: kind, Path: path, Text: fmt.Sprintf(format, args...), Err: err})
}

// examine looks at an absolute path. It may take as long as the file system
// does; Manager.Examine bounds it.
func examine(ctx context.Context, path string) Site {
	s, ok := begin(ctx, path)
	if ok {
		s.place(ctx)
		s.measure(ctx)
	}
	return s
}

// assess is as much of a look as opening needs.
func assess(ctx context.Context, path string) Site {
	s, _ := begin(ctx, path)
	return s
}

// begin finds out what lies at path; not ok when there is no directory to go
// on with.
func begin(ctx context.Context, path string) (s Site, ok bool) {
	s = Site{Ref: locate(path), State: Unreadable}
	if !s.survey(ctx) {
		return s, false
	}
	s.judge()
	return s, true
}

// openable says why the site cannot be opened; nil when it can. want chooses
// between several databases.
func (s *Site) openable(want backend.Kind) error {
	for _, a := range s.Artifacts {
		if s.State == OK && a.Kind == want && a.Err == nil {
			s.Ref.Kind = want
		}
	}
	switch {
	case s.Err != nil:
		return s.Err
	case s.State == OK:
		return nil
	}
	return &EmptyError{Path: s.Ref.Path, Text: s.Explain()}
}
