package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

var (
	// ErrLeaseEnded: the lease was given back before; nothing may be written
	// under it any more.
	ErrLeaseEnded = errors.New("the lease has ended")
	// ErrLeaseLost: the lock file of a lease was removed or replaced. Somebody
	// else can hold the palace now. See [LostError].
	ErrLeaseLost = errors.New("the lease was lost")
)

// Lease is the right to write to one palace: a share in the palace lock that
// this process holds. Whoever holds a lease hands it down in the context
// ([WithLease]); a goroutine without it is a stranger to the lock like any
// other process, also in this one.
//
// A share ends once, with Release. The operating system's lock is given back
// with the last share. So a write in flight keeps the palace locked to its
// end, and nothing new starts under a share whose owner is done.
//
// A lease keeps other writers out; it does not order the memory of goroutines
// that take it one after another. It may be used by several goroutines.
type Lease struct {
	hold  *hold
	ended bool // guarded by hold.mu
}

// hold is what the shares of one lock have in common.
type hold struct {
	palace string // resolved
	home   string
	dir    string
	keys   []string // sorted
	files  []*openLock
	// pid is the process that took the lock. Memory copied by a fork brings no
	// lock with it, and unlocking there would unlock for the parent.
	pid int

	mu     sync.Mutex
	shares int
	lost   error // set once: a lock that was lost does not come back
}

// Palace is the locked palace's resolved path.
func (l *Lease) Palace() string { return l.hold.palace }

// Keys are the palace keys that are locked, sorted.
func (l *Lease) Keys() []string { return slices.Clone(l.hold.keys) }

// Acquire gives a further share, to be released by whoever asked for it. It
// fails with ErrLeaseEnded when this share was released, and with a LostError
// when the lock is no more. ctx bounds the look at who has the palace then.
func (l *Lease) Acquire(ctx context.Context) (*Lease, error) {
	if err := l.Check(ctx); err != nil {
		return nil, err
	}
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.ended {
		return nil, h.errEnded()
	}
	h.shares++
	return &Lease{hold: h}, nil
}

// Release ends this share; the last one gives the palace back. Further calls
// do nothing, so that it can be deferred and called early as well.
func (l *Lease) Release() error {
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.ended || h.pid != os.Getpid() {
		return nil
	}
	l.ended = true
	if h.shares--; h.shares > 0 {
		return nil
	}
	if err := dropAll(h.files); err != nil {
		return fmt.Errorf("giving back palace %s: %w", clean(h.palace), err)
	}
	return nil
}

// Check tells whether the lease still protects the palace: nil, ErrLeaseEnded,
// a LostError, or what kept it from being told. It is cheap (one stat for each
// key) and meant to be called before every step that cannot be undone.
func (l *Lease) Check(ctx context.Context) error {
	h := l.hold
	h.mu.Lock()
	ended, lost := l.ended || h.pid != os.Getpid(), h.lost
	h.mu.Unlock()
	if ended {
		return h.errEnded()
	}
	if lost != nil {
		return lost
	}
	for i, f := range h.files {
		current, err := f.current()
		if err != nil {
			return fmt.Errorf("palace %s: %w", clean(h.palace), err)
		}
		if !current {
			return h.lose(h.lostError(ctx, i))
		}
	}
	return nil
}

// lose keeps the first finding: every later step is refused with it, also when
// a file has come back to the path.
func (h *hold) lose(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil {
		h.lost = err
	}
	return h.lost
}

func (h *hold) errEnded() error {
	return fmt.Errorf("palace %s: %w; what is still to be written needs a lease of its own", clean(h.palace), ErrLeaseEnded)
}

func (h *hold) covers(keys []string) bool {
	if h.pid != os.Getpid() {
		return false
	}
	for _, key := range keys {
		if !slices.Contains(h.keys, key) {
			return false
		}
	}
	return len(keys) > 0
}

// dropAll gives locks back in the reverse order of their taking.
func dropAll(files []*openLock) error {
	var errs []error
	for _, f := range slices.Backward(files) {
		errs = append(errs, f.drop())
	}
	return errors.Join(errs...)
}

type leaseKey struct{}

// carried is the chain of leases in a context, the innermost first: copying
// from one palace to another needs two.
type carried struct {
	lease *Lease
	outer *carried
}

// WithLease gives a context under which writes to the lease's palace pass.
func WithLease(ctx context.Context, l *Lease) context.Context {
	outer, _ := ctx.Value(leaseKey{}).(*carried)
	return context.WithValue(ctx, leaseKey{}, &carried{l, outer})
}

// LeaseFrom finds the innermost lease in the context that covers every key of
// the target. It may have ended or be lost; Acquire and Check tell.
func LeaseFrom(ctx context.Context, target Target) (*Lease, bool) {
	return findLease(ctx, func(h *hold) bool { return h.covers(target.keys(h.home)) })
}

func findLease(ctx context.Context, fits func(*hold) bool) (*Lease, bool) {
	c, _ := ctx.Value(leaseKey{}).(*carried)
	for ; c != nil; c = c.outer {
		if fits(c.lease.hold) {
			return c.lease, true
		}
	}
	return nil, false
}
