package palace

import (
	"context"

	"castellan/locks"
)

// Watcher sees who has a palace open; a *locks.Observer is one.
type Watcher interface {
	Palace(ctx context.Context, target locks.Target) (locks.PalaceView, error)
}

// alone reports that no other process has the palace open. Whatever cannot be
// seen from here counts as somebody who has: a process that hides its files and
// could have it (see locks.PalaceView), one outside of this container, another
// machine. Then Chroma's queue alone is written, which nobody can trip over.
//
// Chroma asks while it has the database reserved, right before it writes. That
// is the last moment to notice that the lock was lost.
func (p *Palace) alone(ctx context.Context) (bool, error) {
	target := p.LockTarget()
	if l, ok := locks.LeaseFrom(ctx, target); ok {
		if err := l.Check(ctx); err != nil {
			return false, err
		}
	}
	watch := p.manager.writes.watch
	if watch == nil || remoteType(p.ref.Real) != "" || sharedOutside(p.ref.Real) {
		return false, nil
	}
	v, err := watch.Palace(ctx, target)
	if err != nil {
		return false, err
	}
	return len(v.Openers) == 0 && v.Hidden == 0 && len(v.Gaps) == 0, nil
}
