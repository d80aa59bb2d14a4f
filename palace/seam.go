package palace

import (
	"context"
	"errors"
	"time"

	"castellan/locks"
)

// seam is the one way to whatever changes a palace: the handle's mutex first,
// the palace lock inside of it, the engine last.
//
// The order is the point. Somebody who took the lock first, by a share in a
// lease that was handed down, and then waited for the handle would still be
// about to write when the lease's owner has given it back, believing that
// nothing of its run is left (MemPalace's sqlite_exact learnt it). With the
// handle first, nobody who waits has any right yet: it is asked for when the
// turn has come, and refused when the owner is done.
//
// The reverse hazard is to sleep for the lock with the handle in hand: the
// run that holds the lock needs the handle for its next write, and both would
// stand still. So the lock is only tried under the handle, and waited for
// outside of it.
//
// Readers pass by.
type seam struct {
	handle gate
	// take locks the palace under all of its keys, or takes a share in the
	// lease that ctx carries. It waits as long as wait says; 0 = not at all.
	take func(ctx context.Context, wait time.Duration) (*locks.Lease, error)
	// wait is how long a write waits for a palace that somebody holds.
	wait time.Duration
}

// do runs write with the handle and the lock in hand. They are given back
// however write ends; a panic goes on to the caller, who alone knows what it
// left half done. ctx bounds the waiting; it does not reach write.
func (s *seam) do(ctx context.Context, write func(*locks.Lease) error) error {
	deadline := time.Now().Add(s.wait)
	for {
		held, err := s.try(ctx, write)
		if held == nil {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return held
		}
		// This wait tells the holder and the person (see locks.TakeOptions).
		// What it brings is given back: the turn has to come first.
		l, err := s.take(ctx, left)
		if err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
}

// try writes unless somebody holds the palace, whom it names then.
func (s *seam) try(ctx context.Context, write func(*locks.Lease) error) (held *locks.HeldError, err error) {
	if err := s.handle.enter(ctx); err != nil {
		return nil, err
	}
	defer s.handle.leave()
	l, err := s.take(ctx, 0)
	if errors.As(err, &held) {
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if unlocking := l.Release(); unlocking != nil {
			err = errors.Join(err, unlocking)
		}
	}()
	return nil, write(l)
}
