package queue

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"castellan/palace/backend"
)

// Operation is what an entry does to its collection.
type Operation string

// The operations. Update changes the records that exist; Delete names its
// records by id, so that it removes what was meant when it was parked, whatever
// has been written since.
const (
	Add    Operation = "add"
	Upsert Operation = "upsert"
	Update Operation = "update"
	Delete Operation = "delete"
)

// State is how an entry stands.
type State string

const (
	// StateWaiting: nothing of it has been done.
	StateWaiting State = "waiting"
	// StateSetAside: it cannot be read, or was refused as invalid. Later entries
	// of its collection wait behind it until it is dropped or tried again.
	StateSetAside State = "set_aside"
	// StateUnknown: an attempt was begun, and whether it was made is not known.
	StateUnknown State = "unknown"
)

// Entry is one parked write. Park needs ID, Palace, Operation, Collection and
// the part that goes with the operation; the rest is the queue's.
type Entry struct {
	// ID is the caller's own: parking it twice gives one entry. Empty = Park
	// makes one. At most 200 bytes.
	ID         string
	Palace     string // path
	Operation  Operation
	Collection string
	Records    []backend.Record // of add and upsert
	Changes    []backend.Change // of update
	IDs        []string         // of delete

	// Name is the entry's name in its queue, also when nothing else of it can
	// be read.
	Name     string
	Rows     int
	Bytes    int64 // on disk
	QueuedAt time.Time
	// Attempts is how often it was tried before.
	Attempts    int
	LastRefusal string // why the last attempt failed, or what is wrong with it
	State       State
}

// maxID bounds an entry's id, in bytes.
const maxID = 200

// check finds what no engine would take, before it is kept for later.
func (e *Entry) check() error {
	switch {
	case len(e.ID) > maxID || !utf8.ValidString(e.ID) || strings.ContainsFunc(e.ID, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("a write cannot be kept under the id %q: give it one of up to %d bytes, without control characters", e.ID, maxID)
	case e.Palace == "" || e.Collection == "":
		return fmt.Errorf("the write %q names no palace or no collection", e.ID)
	}
	var ids []string
	var vectors [][]float32
	for _, r := range e.Records {
		ids, vectors = append(ids, r.ID), append(vectors, r.Embedding)
	}
	for _, c := range e.Changes {
		ids, vectors = append(ids, c.ID), append(vectors, c.Embedding)
	}
	ids = append(ids, e.IDs...)
	parts := map[Operation]int{Add: len(e.Records), Upsert: len(e.Records), Update: len(e.Changes), Delete: len(e.IDs)}
	if n, known := parts[e.Operation]; !known || n == 0 || n != len(ids) {
		return fmt.Errorf("the write %q to %s is not one: operation %q with %d records, %d changes and %d ids",
			e.ID, e.Collection, e.Operation, len(e.Records), len(e.Changes), len(e.IDs))
	}
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if id == "" || seen[id] {
			return &backend.InvalidRecordError{ID: id, Index: i, Reason: "its id is empty or comes twice"}
		}
		seen[id] = true
	}
	for i, v := range vectors {
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return &backend.InvalidRecordError{ID: ids[i], Index: i, Reason: "its vector is not finite"}
			}
		}
	}
	e.Rows = len(ids)
	return nil
}
