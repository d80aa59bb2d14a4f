package exact

import (
	"context"
	"time"

	"castellan/palace/backend"
)

// Writing says how a palace is written to; the zero value is good.
type Writing struct {
	// Wait bounds the waiting for other writers of the database; 0 means
	// DefaultWait.
	Wait time.Duration
	// Now is the clock for created_at and updated_at; nil means time.Now.
	Now func() time.Time
}

// DefaultWait is how long a write waits for others by default. MemPalace's own
// transactions take milliseconds.
const DefaultWait = 10 * time.Second

// Writable is a palace that can be changed. It shares the palace's handle: when
// either is closed every operation of both fails with a *ClosedError. A
// connection that can write exists only while a call runs, so that at rest
// nobody who looks for openers finds one.
//
// Every call is one transaction, and brings the tables to the shape of
// MemPalace 3.11 in the same one if they are older. It takes no lock of
// MemPalace's and no mutex. Whoever calls it does, in this order: the mutex of
// the palace's handle, then the palace lock, then this package, which takes
// SQLite's own lock last. MemPalace's lock counts for a whole process, so a
// thread that took it before the mutex could write on credit of another one
// that has let go of it meanwhile.
type Writable struct {
	*Palace
	writing Writing
}

// Writable makes collections that can be written to.
func (p *Palace) Writable(w Writing) *Writable {
	if w.Wait <= 0 {
		w.Wait = DefaultWait
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	return &Writable{Palace: p, writing: w}
}

// Collection opens a collection by its name; it is a *Writer.
func (w *Writable) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c, err := w.Writer(ctx, name)
	if err != nil {
		return nil, err // not a nil *Writer in an interface that is not nil
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

// timestamp is a time as Python's isoformat writes it in UTC: microseconds,
// which are left out when there are none.
func timestamp(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}

var (
	_ backend.Maker  = (*Writable)(nil)
	_ backend.Writer = (*Writer)(nil)
)
