// Package closing asks whoever has a palace to let go of it, and checks that
// it stayed away. A lock is never stolen: its holder may be in the middle of a
// write, and a lock file that is removed makes two writers out of one.
//
// Asked are the processes that hold the lock and those that have files of the
// palace open for writing; who only reads is left alone. Nobody is signalled
// who does not hold the lock or have the palace open at that very moment, and
// nobody the person has not agreed to.
package closing

import (
	"context"
	"errors"
	"time"

	"castellan/locks"
	"castellan/palace/action"
)

// The defaults of Options.
const (
	DefaultWait  = 15 * time.Second
	DefaultWatch = 10 * time.Second
)

// afterKill is how long a killed process may take to be gone. Only one that
// waits for a device takes any time.
const afterKill = 5 * time.Second

// interval is how far apart two looks lie. Who comes and goes between two of
// them is not seen.
const interval = 250 * time.Millisecond

// Options make an Action.
type Options struct {
	// Subject is the palace, as action.SubjectOf gives it. Its lock is not
	// taken: the process that holds it is the one to be asked.
	Subject action.Subject
	// Target is the same palace for the Observer.
	Target   locks.Target
	Observer *locks.Observer
	// Name is what a person types to agree to Kill.
	Name string

	// Wait is how long whoever was asked may take; 0 = DefaultWait.
	Wait time.Duration
	// Watch is how long to look whether somebody comes back; 0 = DefaultWatch.
	Watch time.Duration
	// Kill ends by force whoever has not let go after Wait.
	Kill bool
	// Hooks are MemPalace's automatic saves, to be switched off first; nil =
	// they are left as they are.
	Hooks *Hooks

	// Now and Sleep are the clock of Wait and Watch; default: time.Now, and a
	// sleep that ends with the context, with its cause.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Action closes a palace.
type Action struct {
	o Options
	// grip is openGrip; in tests what it gives may be counted.
	grip func(pid int) (grip, error)
}

// New makes the action; it looks at nothing yet.
func New(o Options) (*Action, error) {
	if o.Observer == nil || o.Target.Path == "" {
		return nil, errors.New("closing needs a palace and something to look with; this is a defect of Castellan, please report it")
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Watch <= 0 {
		o.Watch = DefaultWatch
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Name == "" {
		o.Name = o.Target.Path
	}
	return &Action{o: o, grip: openGrip}, nil
}

// Subject is the palace, without its lock.
func (a *Action) Subject() action.Subject {
	s := a.o.Subject
	s.LockPaths, s.Wait = nil, 0
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
