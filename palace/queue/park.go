package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"

	"castellan/palace/durable"
)

// Park keeps a write for later. When it answers without an error the write is
// on the disk, and stays there until Drain has made it or Drop was called. An
// entry that waits under the same id already is the answer then, and no second
// one is made; a different write under that id is a *ConflictError.
//
// State may be StateUnknown, for a write that was sent and never answered.
//
// A write that does not fit is a *FullError; what the engine would refuse for
// certain a *backend.InvalidRecordError; a disk that does not take it a
// *StoreError.
func (q *Queue) Park(ctx context.Context, e Entry) (Entry, error) {
	if err := e.check(); err != nil {
		return Entry{}, err
	}
	if e.ID == "" {
		e.ID = rand.Text()
	}
	body, err := encode(&e)
	if err != nil {
		return Entry{}, err
	}
	h := head{
		ID: e.ID, Palace: text(e.Palace), Operation: e.Operation, Collection: text(e.Collection),
		Rows: e.Rows, QueuedAt: q.o.Now().UTC(), Length: int64(len(body)), SHA256: sum(body),
	}
	begin, err := seal(h)
	if err != nil {
		return Entry{}, err
	}
	size := int64(len(begin) + len(body))
	if int64(len(body)) > q.o.MaxEntry {
		return Entry{}, &FullError{Dir: q.dir, What: "entry", Have: int64(len(body)), Limit: q.o.MaxEntry}
	}
	var kept Entry
	err = q.locked(ctx, func() error {
		slots, err := q.slots()
		if err != nil {
			return err
		}
		var found bool
		if kept, found, err = q.find(slots, h); found || err != nil {
			return err
		}
		if err := q.room(slots, size); err != nil {
			return err
		}
		var last uint64
		if len(slots) > 0 {
			last = slots[len(slots)-1].sequence
		}
		name := slotName(last+1, e.Collection, e.ID)
		if e.State == StateUnknown {
			// First: an entry must not be seen without it.
			if err := q.writeStatus(name, status{State: StateUnknown, Attempts: 1, LastRefusal: ErrOutcomeUnknown.Error()}); err != nil {
				return q.broken(err)
			}
		}
		if err := q.place(name+entrySuffix, begin, body); err != nil {
			return q.broken(err)
		}
		kept = q.describe(slot{name: name, bytes: size, regular: true})
		return nil
	})
	if err != nil {
		return Entry{}, err
	}
	return kept, nil
}

// find looks for an entry with the same id. It is synced once more: the Park
// that made it may have failed at just that. A damaged entry does not count,
// since nobody will ever apply it.
func (q *Queue) find(slots []slot, h head) (e Entry, found bool, err error) {
	for _, s := range slots {
		if s.id != key(h.ID) || !s.regular {
			continue
		}
		path := q.path(s.name + entrySuffix)
		other, _, err := readEntry(path, q.o.MaxEntry)
		if errors.As(err, new(*PoisonedError)) || errors.Is(err, fs.ErrNotExist) || err == nil && other.ID != h.ID {
			continue
		}
		if err != nil {
			return Entry{}, false, q.broken(err)
		}
		if !other.sameWrite(h) {
			return Entry{}, false, &ConflictError{ID: h.ID, Path: path}
		}
		return q.describe(s), true, q.broken(durable.SyncDir(q.dir))
	}
	return Entry{}, false, nil
}

// room refuses what would make the queue larger than it may be.
func (q *Queue) room(slots []slot, size int64) error {
	if n := len(slots) + 1; n > q.o.MaxEntries {
		return &FullError{Dir: q.dir, What: "entries", Have: int64(n), Limit: int64(q.o.MaxEntries)}
	}
	for _, s := range slots {
		size += s.bytes
	}
	if size > q.o.MaxBytes {
		return &FullError{Dir: q.dir, What: "bytes", Have: size, Limit: q.o.MaxBytes}
	}
	return nil
}
