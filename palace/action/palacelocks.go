package action

import (
	"context"
	"time"

	"castellan/locks"
)

// PalaceLocks is the Locker of MemPalace's palace locks.
type PalaceLocks struct {
	Home string // whose ~/.mempalace; empty: the caller's own
}

// Take takes a palace under every key that its paths give. Writes under the
// context it returns pass the palace's own seam; each of them asks again
// whether the lease still stands, so one that was lost stops the next write.
func (l PalaceLocks) Take(ctx context.Context, paths []string, wait time.Duration, onWait func(locks.Holder)) (func() error, context.Context, error) {
	lease, err := locks.Take(ctx, locks.Target{Path: paths[0], Spellings: paths[1:]},
		locks.TakeOptions{Home: l.Home, Wait: wait, OnWait: onWait})
	if err != nil {
		return nil, nil, err
	}
	return lease.Release, locks.WithLease(ctx, lease), nil
}
