package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"castellan/locks"
	"castellan/palace/backend"
)

// Applier makes a parked write. An error means that nothing was done, or all of
// it can be done again without harm; ErrInvalid sets the entry aside, and
// ErrOutcomeUnknown says that it may have been made.
//
// e.State is StateUnknown when an attempt was begun before and how it ended is
// not known. To make an add then, look which of its records are there.
type Applier interface {
	Apply(ctx context.Context, e Entry) error
}

// Drained is what one Drain did.
type Drained struct {
	Applied int
	// SetAside are the entries that this drain set aside, without their records.
	SetAside []Entry
	// Left is how many entries are there now, whatever their state.
	Left int
}

// Drain applies the entries in their order, also those that are parked
// meanwhile, and removes each when it was made. An entry that is refused, or
// set aside, keeps later ones of its collection waiting, and no others.
//
// It stops at once, with the reason, when somebody holds the palace
// (*locks.HeldError), when the palace was closed, or when ctx ends; no later
// entry would fare better. Other refusals are *RefusedError, joined, when
// everything that could be applied was. While another Drain goes on it fails
// with ErrDraining.
//
// An Applier that panics does so in the caller's hands; the entry is
// StateUnknown then.
func (q *Queue) Drain(ctx context.Context, a Applier) (Drained, error) {
	var d Drained
	if n, _, err := q.Count(); err != nil || n == 0 {
		return d, err // and makes no directory
	}
	r := &replay{q: q, applier: a, blocked: map[string]bool{}}
	err := q.draining(func() error { return r.run(ctx) })
	n, _, counting := q.Count()
	if err == nil {
		err = counting
	}
	r.result.Left = n
	return r.result, err
}

// replay is one Drain.
type replay struct {
	q       *Queue
	applier Applier
	blocked map[string]bool // collections, by key, in which an entry stays
	refused []error
	result  Drained
}

func (r *replay) run(ctx context.Context) error {
	for {
		slots, err := r.q.slots()
		if err != nil {
			return err
		}
		fresh := false
		for _, s := range slots {
			if r.blocked[s.collection] {
				continue
			}
			if ctx.Err() != nil {
				return errors.Join(append(r.refused, ctx.Err())...)
			}
			fresh = true
			if err := r.one(ctx, s); err != nil {
				return errors.Join(append(r.refused, err)...)
			}
		}
		if !fresh {
			return errors.Join(r.refused...)
		}
	}
}

// one tries one entry, after which it is gone or its collection blocked. It fails when nothing further is to be tried.
func (r *replay) one(ctx context.Context, s slot) error {
	before := r.q.readStatus(s.name)
	if before.State == StateSetAside {
		r.blocked[s.collection] = true
		return nil
	}
	h, e, err := readEntry(r.q.path(s.name+entrySuffix), r.q.o.MaxEntry)
	e.Name, e.Bytes = s.name, s.bytes
	e.note(before)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && slotName(s.sequence, string(h.Collection), h.ID) != s.name:
		err = &PoisonedError{Path: r.q.path(s.name + entrySuffix), Reason: "its name belongs to another entry"}
	}
	if err != nil {
		return r.setAside(ctx, s, e, before, err)
	}
	// From here on a crash leaves the outcome unknown.
	begun := status{State: StateUnknown, Attempts: before.Attempts + 1, LastRefusal: before.LastRefusal}
	if err := r.note(ctx, s, begun); err != nil {
		return err
	}
	r.q.at("apply")
	err = r.applier.Apply(ctx, e)
	r.q.at("applied")
	if err == nil {
		r.result.Applied++
		return r.change(ctx, func() error { return r.q.take(s.name) })
	}
	after := status{State: StateWaiting, Attempts: begun.Attempts, LastRefusal: err.Error()}
	if errors.Is(err, ErrInvalid) || errors.As(err, new(*backend.InvalidRecordError)) {
		return r.setAside(ctx, s, e, after, err)
	}
	if errors.Is(err, ErrOutcomeUnknown) || before.State == StateUnknown {
		// Also: what was not known before is not known by a later refusal.
		after.State = StateUnknown
	}
	if noting := r.note(ctx, s, after); noting != nil {
		return errors.Join(err, noting)
	}
	r.blocked[s.collection] = true
	e.Records, e.Changes, e.IDs = nil, nil, nil
	e.note(after)
	refusal := &RefusedError{Entry: e, Err: err}
	if errors.As(err, new(*locks.HeldError)) || errors.Is(err, backend.ErrClosed) || ctx.Err() != nil {
		return refusal
	}
	r.refused = append(r.refused, refusal)
	return nil
}

// setAside keeps an entry from being tried again, and names it.
func (r *replay) setAside(ctx context.Context, s slot, e Entry, st status, why error) error {
	r.blocked[s.collection] = true
	st.State, st.LastRefusal = StateSetAside, why.Error()
	if err := r.note(ctx, s, st); err != nil {
		return errors.Join(why, err)
	}
	e.Records, e.Changes, e.IDs = nil, nil, nil
	e.note(st)
	r.result.SetAside = append(r.result.SetAside, e)
	return nil
}

func (r *replay) note(ctx context.Context, s slot, st status) error {
	return r.change(ctx, func() error { return r.q.writeStatus(s.name, st) })
}

// change runs under the queue's lock, which nobody holds for long; what became
// of a write is noted also when ctx has ended meanwhile.
func (r *replay) change(ctx context.Context, fn func() error) error {
	err := r.q.locked(context.WithoutCancel(ctx), func() error { return r.q.broken(fn()) })
	if err != nil {
		return fmt.Errorf("noting what became of a waiting write: %w", err)
	}
	return nil
}
