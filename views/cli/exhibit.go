package cli

import (
	"context"
	"fmt"
	"io/fs"

	"castellan/palace/specimen"
)

// exhibit is one palace of the demo.
type exhibit struct {
	// name is its folder's; about says what it shows.
	name, about string
	path        string
	// make lays the palace out in a new folder, from recorded samples.
	make func(ctx context.Context, samples fs.FS, dir string) error
}

// heldExhibit is the one whose lock the second process holds.
const heldExhibit = "everyday"

// sickExhibits are states that people really met, by specimen.
var sickExhibits = [...]string{"links-empty", "quarantine-holds-more", "seq-id-poisoned", "fts-missing", "not-a-database"}

// exhibits are the demo's palaces, the default one first: healthy ones, also
// where they have been taken for sick, then sick ones.
func exhibits() ([]exhibit, error) {
	list := []exhibit{
		{name: heldExhibit, make: sample("healthy"),
			about: "1,500 drawers and their closets. No vector is in the index yet: all wait in the queue, as they should."},
		{name: "worked-in", make: sample("synced"),
			about: "Drawers that came and went; the index is written every 400 writes, and the latest are still in the queue."},
		{name: "new", make: sample("fresh"), about: "Five drawers, just filed."},
	}
	for _, name := range sickExhibits {
		s, ok := specimen.ByName(name)
		if !ok {
			return nil, fmt.Errorf("no specimen is called %s", name)
		}
		list = append(list, exhibit{name: name, about: s.Story, make: s.Make})
	}
	return list, nil
}

// sample copies a recorded palace.
func sample(name string) func(context.Context, fs.FS, string) error {
	return func(_ context.Context, samples fs.FS, dir string) error { return specimen.CopyFS(samples, name, dir) }
}
