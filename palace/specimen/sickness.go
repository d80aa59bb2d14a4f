package specimen

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
)

// Effect is what happens to somebody who goes on using a palace with Chroma
// (seen with chromadb 1.5.9): the worst of opening, counting, getting,
// querying and writing one drawer.
type Effect string

// The effects, mildest first.
const (
	Works    Effect = "works"                    // every answer is right
	Wrong    Effect = "wrong answers"            // some are missing, stale or an error
	Swallows Effect = "swallows writes"          // a write is accepted and never seen again
	Refuses  Effect = "refuses"                  // every answer is an error, at the latest after one write
	Forgets  Effect = "begins an empty palace"   // it makes a new one there and says nothing
	Loses    Effect = "loses vectors on opening" // the first question already destroys the only copy of vectors
	Crashes  Effect = "crashes"                  // it reads memory out of bounds: the process dies, or worse, does not
)

// Sickness is a state in which people really found a palace. Some are no
// sickness at all but have been taken for one: these are Healthy.
type Sickness struct {
	Name  string // short-with-dashes
	Title string // a few words
	Story string // what happened to this palace, in plain words
	Case  string // where it was reported
	Base  string // the sample that it is made from, for CopyFS
	// Healthy says that nothing is wrong, whatever it looks like.
	Healthy bool
	Effect  Effect
	// Apply makes a fresh copy of Base sick. It writes inside dir only.
	Apply func(ctx context.Context, dir string) error
}

// Make copies the sickness's sample from fsys to dir, which must be new or
// empty, and applies it.
func (s Sickness) Make(ctx context.Context, fsys fs.FS, dir string) error {
	if err := CopyFS(fsys, s.Base, dir); err != nil {
		return err
	}
	if err := s.Apply(ctx, dir); err != nil {
		return fmt.Errorf("make specimen %s in %s: %w", s.Name, dir, err)
	}
	return nil
}

// All is every sickness, by subject.
func All() []Sickness {
	return slices.Concat(placeCases(), databaseCases(), journalCases(), schemaCases(), collectionCases(), rowCases(),
		sequenceCases(), queueCases(), unflushedCases(), pickleCases(), headerCases(), linkCases(), coverageCases(), segmentCases())
}

// ByName is the sickness of a name.
func ByName(name string) (Sickness, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Sickness{}, false
}
