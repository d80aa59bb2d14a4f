package chroma

import (
	"context"
	"fmt"
	"time"

	"castellan/palace/backend"
)

// Writing says how a palace is written to. The zero value is the careful way.
//
// A write is one transaction in one of two shapes. With the palace to
// ourselves the queue, the metadata tables, the full-text index and the
// metadata segment's position are written together, and every program that
// opens the palace afterwards sees the write. While another process may have
// the palace open only the queue is written: that process goes on answering
// without the new rows, and takes them in with the next write that it makes to
// the collection. This package shows queued rows at once.
//
// A process that opens the palace while Alone was answering true, and loads the
// collection before our commit, is in between: it counts and gets the new
// records at once, but it fails with "Error finding id" when it is asked for
// their vectors or when a filtered search matches them, and its searches may
// name a record deleted by us. Its next write to the collection puts that right.
// Nothing is lost either way.
//
// A write that touches a document with a NUL in it, or one that is not UTF-8,
// goes to the queue alone in any case: the SQLite in this program splits such
// text into other trigrams than the one in Chroma, and a full-text row can be
// removed only by the words it was indexed with.
type Writing struct {
	// Alone reports whether no other process has the palace open. It is asked
	// once a write, while the database is reserved for us and before anything is
	// written, so it should be quick; it must not open and close the database
	// file, which would drop our locks. Its error fails the write. Without it
	// nobody is taken to be alone.
	Alone func(ctx context.Context) (bool, error)
	// Wait bounds the waiting for other writers and readers of the database;
	// 0 means DefaultWait.
	Wait time.Duration
}

// DefaultWait is how long a write waits for others by default. Chroma's own
// transactions take milliseconds.
const DefaultWait = 10 * time.Second

// Writable is a palace that can be changed. It shares the palace's handle: when
// either is closed every operation of both fails with ErrClosed. A connection
// that can write exists only while a write runs, so that at rest nobody
// who looks for openers finds one.
//
// It takes no lock of MemPalace's; whoever calls it holds that.
type Writable struct {
	*Palace
	writing Writing
}

// Writable makes collections that can be written to.
func (p *Palace) Writable(w Writing) *Writable {
	if w.Wait <= 0 {
		w.Wait = DefaultWait
	}
	return &Writable{Palace: p, writing: w}
}

// Collection opens a collection by its name; it is a *Writer.
func (w *Writable) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c, err := w.Writer(ctx, name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Writer opens a collection by its name for writing.
func (w *Writable) Writer(ctx context.Context, name string) (*Writer, error) {
	c, err := w.collection(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Writer{Collection: c, to: w}, nil
}

// stillOpen is what a call with nothing to do answers.
func (w *Writable) stillOpen() error {
	if err := w.file.Enter(); err != nil {
		return err
	}
	w.file.Leave()
	return nil
}

// alone asks whether the palace is ours for the time of a write.
func (w *Writable) alone(ctx context.Context) (bool, error) {
	if w.writing.Alone == nil {
		return false, nil
	}
	alone, err := w.writing.Alone(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: finding out who else has the palace open: %w", w.dir, err)
	}
	return alone, nil
}

var (
	_ backend.Writer = (*Writer)(nil)
)
