package closing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"castellan/locks"
)

// sighting is one look at the palace.
type sighting struct {
	view locks.PalaceView
	// users hold the lock or have the palace open for writing. A holder who
	// cannot be seen is not among them; see unseen.
	users []locks.Holder
	// readers have it open, but not for writing.
	readers []locks.Process
}

func (a *Action) look(ctx context.Context) (sighting, error) {
	v, err := a.o.Observer.Palace(ctx, a.o.Target)
	if err != nil {
		return sighting{}, err
	}
	s := sighting{view: v}
	for _, l := range append([]locks.PalaceLock{v.Lock}, v.Others...) {
		// Recorded is the lock file's word alone, and nobody is signalled on that.
		if l.State == locks.Held && l.Holder != nil && l.Holder.Identity == locks.Known && s.find(l.Holder.Process) == nil {
			s.users = append(s.users, *l.Holder)
		}
	}
	for _, o := range v.Openers {
		switch {
		case s.find(o.Process) != nil:
		case writes(o):
			s.users = append(s.users, locks.Holder{Process: o.Process, Identity: locks.Known})
		default:
			s.readers = append(s.readers, o.Process)
		}
	}
	return s, nil
}

// writes tells who can still write to the palace, or to what was the palace: a
// server that has a deleted database open is in the way of its successor too.
func writes(o locks.Opener) bool {
	return slices.ContainsFunc(o.Files, func(f locks.OpenFile) bool { return f.Writable })
}

// find gives the user who is this very process.
func (s *sighting) find(p locks.Process) *locks.Holder {
	for i := range s.users {
		if same(s.users[i].Process, p) {
			return &s.users[i]
		}
	}
	return nil
}

// unseen is a lock that is held, or may be, by somebody who cannot be named;
// nil when there is none.
func (s *sighting) unseen() *locks.PalaceLock {
	for _, l := range append([]locks.PalaceLock{s.view.Lock}, s.view.Others...) {
		if l.State == locks.Held && (l.Holder == nil || l.Holder.Identity != locks.Known) {
			return &l
		}
	}
	if s.view.Lock.State == locks.StateUnknown && len(s.users) == 0 {
		return &s.view.Lock
	}
	return nil
}

// same compares pid and start, because pids are used again. A start that is
// not known is nobody's.
func same(x, y locks.Process) bool {
	return x.PID == y.PID && x.PID != 0 && !x.Started.IsZero() && x.Started.Equal(y.Started)
}

// named is how a process is told to people. Command and Name carry no control
// characters.
func named(p locks.Process) string {
	command := p.Command
	if command == "" {
		command = p.Name
	}
	if command == "" {
		return fmt.Sprintf("PID %d", p.PID)
	}
	return fmt.Sprintf("PID %d (%s)", p.PID, command)
}

// parent is who started a process; nil where that is not to be seen.
func parent(p locks.Process) *string {
	if len(p.Parents) == 0 {
		return nil
	}
	s := fmt.Sprintf("%s (PID %d)", p.Parents[0].Name, p.Parents[0].PID)
	return &s
}

// agreed are the processes of the plan. The person was shown these.
type agreed struct {
	holders []locks.Holder
	since   time.Time
}

// has also knows the children that inherited a holder's lock: only their pids
// were to be seen while the holder lived, so they must be older than the run.
func (a agreed) has(p locks.Process) bool {
	for _, h := range a.holders {
		if same(h.Process, p) || slices.Contains(h.SharedWith, p.PID) && !p.Started.IsZero() && !p.Started.After(a.since) {
			return true
		}
	}
	return false
}
