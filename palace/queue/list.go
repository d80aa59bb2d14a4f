package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// List tells what waits, in order, without the records. Looking changes
// nothing. An entry that cannot be read is in the list as StateSetAside, with
// what is wrong with it as LastRefusal.
func (q *Queue) List() ([]Entry, error) {
	slots, err := q.slots()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, s := range slots {
		if e := q.describe(s); e.Name != "" {
			list = append(list, e)
		}
	}
	return list, nil
}

// describe reads an entry's head and status; without a Name when it is gone.
func (q *Queue) describe(s slot) Entry {
	e := Entry{Name: s.name, Bytes: s.bytes}
	f, h, err := openEntry(q.path(s.name + entrySuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}
	}
	if err != nil {
		e.State, e.LastRefusal = StateSetAside, err.Error()
		return e
	}
	f.Close()
	e.fill(h)
	e.note(q.readStatus(s.name))
	return e
}

func (e *Entry) note(s status) {
	e.State, e.Attempts, e.LastRefusal = s.State, s.Attempts, s.LastRefusal
}

// Count gives the number of entries and their bytes, whatever their state. It
// reads no file.
func (q *Queue) Count() (entries int, bytes int64, err error) {
	slots, err := q.slots()
	for _, s := range slots {
		bytes += s.bytes
	}
	return len(slots), bytes, err
}

// Pending is how many entries wait for a collection, whatever their state.
// While it is not 0 a direct write to the collection would overtake them.
func (q *Queue) Pending(collection string) (int, error) {
	slots, err := q.slots()
	n := 0
	for _, s := range slots {
		if s.collection == key(collection) {
			n++
		}
	}
	return n, err
}

// Drop removes an entry, by its Name, that will not be made any more; it is
// gone for good. While entries are being applied it fails with ErrDraining.
func (q *Queue) Drop(ctx context.Context, name string) error {
	return q.alter(ctx, name, func() error { return q.take(name) })
}

// Retry lets an entry that was set aside be tried with the next Drain. One that
// cannot be read stays as it is.
func (q *Queue) Retry(ctx context.Context, name string) error {
	return q.alter(ctx, name, func() error {
		s := q.readStatus(name)
		if s.State != StateSetAside {
			return nil
		}
		s.State = StateWaiting
		return q.writeStatus(name, s)
	})
}

func (q *Queue) alter(ctx context.Context, name string, fn func() error) error {
	if _, ok := parseSlot(name); !ok {
		return fmt.Errorf("%q is not the name of a waiting write", clip(name, 100))
	}
	if e := q.describe(slot{name: name}); e.Name == "" {
		return fmt.Errorf("no write waits as %s: %w", name, fs.ErrNotExist)
	}
	return q.draining(func() error {
		return q.locked(ctx, func() error { return q.broken(fn()) })
	})
}
