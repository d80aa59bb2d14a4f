package locks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// unnamed is MemPalace's own phrase for a holder that left no name.
const unnamed = "another writer (identity not recorded)"

// HeldError refuses a palace that somebody holds.
type HeldError struct {
	Palace string // resolved
	Key    string // the key that is held; a palace may have several
	Path   string // its lock file
	// Holder is who has the lock by the operating system's tables; by the lock
	// file's text (Identity Recorded) only where the tables cannot tell.
	Holder Holder
	Self   bool // this very process holds it, under a lease that was not handed down
}

// Error uses MemPalace's wording, so that people and scripts know it.
func (e *HeldError) Error() string {
	if e.Self {
		command := ""
		if e.Holder.Command != "" {
			command = ", " + e.Holder.Command
		}
		return fmt.Sprintf("palace %s is held by this process (PID %d)%s; wait for it to finish before retrying",
			clean(e.Palace), e.Holder.PID, command)
	}
	return fmt.Sprintf("palace %s is held by %s; wait for it to finish or stop the holder before retrying",
		clean(e.Palace), e.Holder.named())
}

// named renders a holder as MemPalace does: PID N (command).
func (h Holder) named() string {
	switch {
	case h.PID == 0:
		return unnamed
	case h.Command == "":
		return fmt.Sprintf("PID %d", h.PID)
	}
	return fmt.Sprintf("PID %d (%s)", h.PID, h.Command)
}

// LostError says that a lease does not protect its palace any more. It is
// ErrLeaseLost.
type LostError struct {
	Palace string // resolved
	Path   string // the lock file that was removed or replaced
	// Holder is who has locked the file that is at Path now; nil when nobody is
	// seen to.
	Holder *Holder
}

func (e *LostError) Error() string {
	who := ""
	if e.Holder != nil {
		who = ", and " + e.Holder.named() + " holds the new one"
	}
	return fmt.Sprintf("palace %s: %v: the lock file %s was removed while it was held%s; nothing more is written; lock files must not be removed, so see who writes now and start again",
		clean(e.Palace), ErrLeaseLost, clean(e.Path), who)
}

func (e *LostError) Unwrap() error { return ErrLeaseLost }

// LockError says that a lock cannot be used at all, whoever holds it.
type LockError struct {
	Subject string // what was to be locked: "palace /p", "source /p/a.md"
	Path    string // the lock file
	Err     error
}

func (e *LockError) Error() string {
	step := "see that it is a regular file and its directory is in place"
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		step = "make it readable and writable for this user; it may have been made by another one, with sudo perhaps"
	case errors.Is(e.Err, errors.ErrUnsupported), errors.Is(e.Err, syscall.ENOLCK):
		step = "its file system has no locks: put ~/.mempalace on one that has"
	case errors.Is(e.Err, errReplaced):
		step = "stop what removes lock files"
	}
	return fmt.Sprintf("%s cannot be locked: %s; %s", clean(e.Subject), clean(e.Err.Error()), step)
}

func (e *LockError) Unwrap() error { return e.Err }

// refusal makes the error for a key that is held. free: it is no longer.
func (t *taking) refusal(ctx context.Context, key string) (e *HeldError, free bool, err error) {
	e = &HeldError{Palace: t.palace, Key: key, Path: File(t.dir, key)}
	f, err := t.looker.holder(ctx, e.Path, key)
	if err != nil {
		return nil, false, err
	}
	e.Holder, e.Self = f.Holder, f.self
	return e, f.free, nil
}

// lostError names who holds the file that took the place of h.files[i].
func (h *hold) lostError(ctx context.Context, i int) error {
	e := &LostError{Palace: h.palace, Path: h.files[i].path}
	if f, err := newLooker(h.home).holder(ctx, e.Path, h.keys[i]); err == nil && f.Identity == Known {
		e.Holder = &f.Holder
	}
	return e
}
