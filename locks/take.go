package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// TakeOptions say how a palace is taken. The zero value takes it in the
// caller's own home, or is refused at once.
type TakeOptions struct {
	Home string // whose ~/.mempalace; default: HOME (USERPROFILE on Windows)

	// Wait is how long to wait for a held palace; 0 = not at all, as MemPalace.
	Wait time.Duration
	// OnWait is told who is waited for: when a wait has lasted long enough for a
	// person to notice, and about once a second from then on. It runs on the
	// waiting goroutine, so the wait goes on when it returns.
	OnWait func(Holder)
}

// refusals is how often a lock is tried again before a refusal is believed
// that names nobody. Writers that lock for a single batch are gone, or replaced
// by the next one, while they are being looked for.
const refusals = 3

// Take takes the palace lock as MemPalace's mine_palace_lock does, under every
// key of the target, all of them or none. The caller owes a Release on every
// path; [Do] sees to it.
//
// Under a lease in ctx that covers the target it takes nothing and gives a
// share in that one. Otherwise a held palace is a *HeldError, at once or after
// opt.Wait; a lock that cannot be used is a *LockError; an end of ctx is its
// error. Nothing is left behind by a failure, except lock files, which stay
// for ever: MemPalace's other users rely on the inode.
//
// ~/.mempalace/locks is made when missing. MemPalace's hooks take a missing
// ~/.mempalace as the order to stay idle, and this is the same sign to them as
// a mine would be.
func Take(ctx context.Context, target Target, opt TakeOptions) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := newTaking(target, opt)
	if err != nil {
		return nil, err
	}
	if l, ok := findLease(ctx, func(h *hold) bool { return h.dir == t.dir && h.covers(t.keys) }); ok {
		return l.Acquire(ctx)
	}
	if opt.Wait > 0 {
		err = t.wait(ctx, opt)
	} else {
		err = t.now(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.lease(), nil
}

// Do runs fn under a lease of the target, which fn finds in its context, and
// gives the palace back however fn ends: by return, panic or Goexit. Nested
// calls with fn's context pass.
func Do(ctx context.Context, target Target, opt TakeOptions, fn func(context.Context) error) (err error) {
	l, err := Take(ctx, target, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	return fn(WithLease(ctx, l))
}

// taking is one attempt to lock a palace.
type taking struct {
	palace string
	dir    string
	keys   []string // sorted: whoever takes several takes them in this order
	looker looker
	files  []*openLock // held; all of keys, or none
}

func newTaking(target Target, opt TakeOptions) (*taking, error) {
	k := newLooker(opt.Home)
	t := &taking{looker: k}
	for _, key := range target.Keys {
		if !isKey(key) {
			return nil, fmt.Errorf("palace %s: %q is no lock key: %d lower-case hexadecimal digits were expected", clean(target.Path), key, keyLength)
		}
	}
	if target.Path != "" {
		t.palace = Resolve(target.Path, k.o.home)
		t.keys = append(t.keys, digest(t.palace))
	}
	others := Target{Spellings: target.Spellings, Keys: target.Keys}
	t.keys = append(t.keys, others.keys(k.o.home)...)
	if len(t.keys) == 0 {
		return nil, errors.New("no palace to lock: neither a path nor a key was given")
	}
	if t.palace == "" {
		t.palace = "with the lock key " + t.keys[0]
	}
	slices.Sort(t.keys)
	t.keys = slices.Compact(t.keys)
	// HOME may be relative, and the working directory may change under a lease.
	var err error
	if t.dir, err = filepath.Abs(k.o.Directory()); err != nil {
		return nil, fmt.Errorf("palace %s: finding the lock directory: %w", clean(t.palace), err)
	}
	return t, nil
}

// now takes the palace or names who holds it.
func (t *taking) now(ctx context.Context) error {
	var refused error
	for range refusals {
		key, err := t.try()
		if !errors.Is(err, errBusy) {
			return err
		}
		held, free, err := t.refusal(ctx, key)
		if err != nil {
			return err
		}
		if refused = held; !free && held.Holder.Identity != Unknown {
			break
		}
	}
	return refused
}

// try takes every key or, with errBusy and the key that is held, none. The
// files are signed when all are held: until then the palace is not ours.
func (t *taking) try() (busy string, err error) {
	files := make([]*openLock, 0, len(t.keys))
	for _, key := range t.keys {
		path := File(t.dir, key)
		f, err := grab(path)
		if err == nil {
			files = append(files, f)
			continue
		}
		if !errors.Is(err, errBusy) {
			err = &LockError{Subject: "palace " + t.palace, Path: path, Err: err}
		}
		if dropErr := dropAll(files); dropErr != nil {
			err = &LockError{Subject: "palace " + t.palace, Path: path, Err: dropErr}
		}
		return key, err
	}
	identity := ownIdentity()
	for _, f := range files {
		f.sign(identity)
	}
	t.files = files
	return "", nil
}

// lease makes the first share of what was taken.
func (t *taking) lease() *Lease {
	return &Lease{hold: &hold{
		palace: t.palace, home: t.looker.o.home, dir: t.dir, keys: t.keys,
		files: t.files, pid: os.Getpid(), shares: 1,
	}}
}
