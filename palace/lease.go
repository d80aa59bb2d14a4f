package palace

import (
	"context"
	"time"

	"castellan/locks"
)

// LockTarget is the palace as castellan/locks knows it: with every key that
// its spellings give. Whoever means to write more than once takes a lease of
// it and hands that down in the context; writes under it pass, and nobody else
// writes in between.
func (p *Palace) LockTarget() locks.Target { return lockTarget(p.LockPaths()) }

func lockTarget(paths []string) locks.Target {
	if len(paths) == 0 {
		return locks.Target{}
	}
	return locks.Target{Path: paths[0], Spellings: paths[1:]}
}

// takeLock is the seam's.
func (p *Palace) takeLock(ctx context.Context, wait time.Duration) (*locks.Lease, error) {
	o := locks.TakeOptions{Home: p.manager.around.home, Wait: wait}
	if tell := p.manager.writes.onWait; tell != nil {
		o.OnWait = func(h locks.Holder) { tell(p.ref, h) }
	}
	return locks.Take(ctx, p.LockTarget(), o)
}
