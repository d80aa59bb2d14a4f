package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/queue"
)

// Target is the palace that is to be changed, and what is needed around it.
type Target struct {
	Manager *palace.Manager
	Palace  *palace.Palace // open
	// StateDir is Castellan's directory of state, as action.StateDir gives it.
	StateDir string
	// Drawers and Closets are the names of the collections; empty = MemPalace's
	// own. Configuration can give the drawers another one.
	Drawers, Closets string
	// Watch sees who holds the palace, for plans; nil = plans do not say.
	Watch palace.Watcher
	// Wait is how long a run waits for a held palace; 0 = it is refused at once.
	Wait time.Duration
	// Now is the clock; default: time.Now.
	Now func() time.Time
}

// The names that MemPalace gives its collections.
const (
	DefaultDrawers = "mempalace_drawers"
	DefaultClosets = "mempalace_closets"
)

// The kinds of refusal; they never change their meaning.
const (
	LockHeld       = "lock-held"       // somebody holds the palace
	WriteRouting   = "write-routing"   // MemPalace's configuration forbids direct writes
	NothingMatches = "nothing-matches" // no row is meant
	NothingToUndo  = "nothing-to-undo"
	IDsInUse       = "ids-in-use"    // rows were written since under the ids to be put back
	QueueWaits     = "queue-waits"   // waiting writes come first and cannot be made
	UndoUnusable   = "undo-unusable" // the record is damaged, or nobody here knows its kind
	DiskLow        = "disk-low"
	NotVerified    = "not-verified" // what was done cannot be seen to be done
)

// check fills in what was left out.
func (t Target) check() (Target, error) {
	if t.Manager == nil || t.Palace == nil || !filepath.IsAbs(t.StateDir) {
		return t, errors.New("a change needs an open palace and a directory of state; this is a defect of Castellan, please report it")
	}
	t.Drawers = cmp.Or(t.Drawers, DefaultDrawers)
	t.Closets = cmp.Or(t.Closets, DefaultClosets)
	if t.Now == nil {
		t.Now = time.Now
	}
	return t, nil
}

// subject locks the palace under all of its keys.
func (t Target) subject() action.Subject {
	s := action.SubjectOfOpen(t.Palace)
	s.Wait = t.Wait
	return s
}

func (t Target) path() string { return t.Palace.Ref().Path }

// Key is what the palace's waiting writes and undo records are kept under.
func (t Target) Key() string { return Key(t.Palace.LockPaths()) }

// Key is the same for the lock paths of a palace that is not open; empty when
// it has none.
func Key(lockPaths []string) string {
	if len(lockPaths) == 0 {
		return ""
	}
	return locks.Key(lockPaths[0])
}

func (t Target) queue() (*queue.Queue, error) {
	return queue.Open(t.StateDir, t.Key(), queue.Options{Now: t.Now})
}

func (t Target) store() (*undo.Store, error) {
	return undo.Open(t.StateDir, t.Key(), undo.Options{Now: t.Now})
}

// routing refuses where MemPalace's configuration forbids direct writes.
func (t Target) routing() *action.RefusedError {
	err := t.Manager.AllowsWrites(t.path())
	if err == nil {
		return nil
	}
	return refuseRouting(t.path(), err)
}

func refuseRouting(subject string, err error) *action.RefusedError {
	r := &action.RefusedError{Kind: WriteRouting, Subject: subject, Reason: err.Error(), Err: err}
	var e *palace.RoutingError
	if errors.As(err, &e) {
		r.Reason = fmt.Sprintf("the write routing in %s is %q, so only MemPalace's daemon may write", e.Source, e.Routing)
		r.Next = "use mempalace, or set it to direct or prefer"
		if e.Routing == "" {
			r.Reason, r.Next = "the write routing in "+e.Source+" is none of direct, prefer and require", "correct it"
		}
	}
	return r
}

// holders tells who has the palace. held: its lock is.
func (t Target) holders(ctx context.Context) (list []locks.Holder, held bool, err error) {
	if t.Watch == nil {
		return nil, false, nil
	}
	v, err := t.Watch.Palace(ctx, t.Palace.LockTarget())
	if err != nil {
		return nil, false, err
	}
	for _, l := range append([]locks.PalaceLock{v.Lock}, v.Others...) {
		if l.State == locks.Held && l.Holder != nil {
			list = append(list, *l.Holder)
		}
		held = held || l.State == locks.Held
	}
	return list, held, nil
}

// foresee puts into a plan what stands in the way of every direct write.
func (t Target) foresee(ctx context.Context, p *action.Plan) error {
	list, held, err := t.holders(ctx)
	if err != nil {
		return err
	}
	p.Holders = list
	switch {
	case p.Refusal != nil:
	case t.routing() != nil:
		p.Refusal = t.routing()
	case held && t.Wait <= 0:
		who := "somebody who cannot be seen from here"
		if len(list) > 0 && list[0].PID != 0 {
			who = fmt.Sprintf("PID %d (%s)", list[0].PID, list[0].Command)
		}
		p.Refusal = &action.RefusedError{Kind: LockHeld, Subject: t.path(), Reason: "it is held by " + who,
			Next: "wait for it with --wait 5m, or ask the holder to let go: castellan close"}
	}
	return nil
}

// waiting says in a plan that parked writes come first.
func (t Target) waiting(p *action.Plan) error {
	q, err := t.queue()
	if err != nil {
		return err
	}
	n, _, err := q.Count()
	if n > 0 {
		p.Steps = append(p.Steps, fmt.Sprintf("make the %s first", counted(n, "write that waits for the palace", "writes that wait for the palace")))
	}
	return err
}
