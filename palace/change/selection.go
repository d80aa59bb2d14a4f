package change

import (
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// Selection says which rows are meant: those of some ids, or of a source file,
// or of a wing, a room, or a room of a wing. An empty name is a name too: rows
// are filed under it.
type Selection struct {
	IDs    []string
	Source *string
	Wing   *string
	Room   *string
	// Collection limits it to one collection. Otherwise drawers are meant, and
	// the closets that go with them.
	Collection string
}

// The keys that rows are chosen by.
const (
	keySource = "source_file"
	keyWing   = "wing"
	keyRoom   = "room"
)

// parentKeys name, on the parts of a text that was too long for one drawer, the
// id that MemPalace's tools show for the whole.
var parentKeys = []string{"parent_drawer_id", "parent_entry_id"}

// Check says why nothing can be meant by it.
func (s Selection) Check() error {
	ways := 0
	for _, is := range []bool{len(s.IDs) > 0, s.Source != nil, s.Wing != nil || s.Room != nil} {
		if is {
			ways++
		}
	}
	switch {
	case ways == 0:
		return fmt.Errorf("nothing says which rows are meant: name ids, a source file, a wing or a room")
	case ways > 1:
		return fmt.Errorf("rows are named by ids, by a source file, or by wing and room, and not by several of these")
	case slices.Contains(s.IDs, ""):
		return fmt.Errorf("an id is empty")
	}
	return nil
}

// mode is the plan's word for the way rows are chosen.
func (s Selection) mode() string {
	switch {
	case len(s.IDs) > 0:
		return "ids"
	case s.Source != nil:
		return "source"
	case s.Wing != nil && s.Room == nil:
		return "wing"
	}
	return "room"
}

// String says what is meant, in the middle of a sentence.
func (s Selection) String() string {
	switch s.mode() {
	case "ids":
		return counted(len(s.IDs), "id", "ids")
	case "source":
		return "source " + named(*s.Source)
	case "wing":
		return "wing " + named(*s.Wing)
	}
	if s.Wing == nil {
		return "room " + named(*s.Room)
	}
	return "room " + named(*s.Room) + " of wing " + named(*s.Wing)
}

// where is the condition on metadata; nil for ids.
func (s Selection) where() backend.Where {
	var all []backend.Where
	for key, value := range map[string]*string{keySource: s.Source, keyWing: s.Wing, keyRoom: s.Room} {
		if value != nil {
			all = append(all, backend.Equal(key, *value))
		}
	}
	return backend.AllOf(all...)
}

// anyOf is a condition that one of these keys has one of these values.
func anyOf(values []string, keys ...string) backend.Where {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	var or backend.Or
	for _, key := range keys {
		or = append(or, backend.Compare{Key: key, Op: backend.In, Values: list})
	}
	if len(or) == 1 {
		return or[0]
	}
	return or
}

// isBookkeeping knows the rows that MemPalace files for itself beside the
// drawers of a source. No closet points at them.
func isBookkeeping(r backend.Record) bool {
	m := r.Metadata
	return m[keyRoom] == "_registry" || m["ingest_mode"] == "registry" ||
		m["is_sentinel"] == true || m["is_sentinel"] == int64(1) ||
		strings.HasPrefix(r.ID, "_reg_") || strings.HasPrefix(r.ID, "sentinel_")
}
