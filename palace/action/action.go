package action

import (
	"context"
	"slices"
	"time"

	"castellan/palace"
)

// Action is something that can be done to a palace.
type Action interface {
	// Subject says what the action works on. It is asked once, before the run.
	Subject() Subject

	// Plan is the dry run. It touches nothing, takes no lock, and tells of a
	// reason not to start in Plan.Refusal. Its error means that it could not
	// look.
	Plan(ctx context.Context) (Plan, error)

	// Run does it, under the lease that ctx carries. What the plan saw may have
	// changed before the lease was there, so Run looks again before it decides
	// anything, and gives a *RefusedError where it may not go on. A run that
	// gives in to a cancel returns an error that is ctx.Err(), or what
	// Reporter.Phase gave it; a Result beside an error says what was done before.
	//
	// A panic of the calling goroutine is caught. Goroutines that Run starts are
	// its own: it waits for them, and nobody catches theirs.
	Run(ctx context.Context, report Reporter) (Result, error)
}

// Reporter takes what a running action has to say. It may be used by several
// goroutines, never blocks on whoever listens, and is deaf once Run has
// returned.
type Reporter interface {
	// Plan is what the person agreed to: Run keeps to it, also to the name of
	// the backup.
	Plan() Plan

	// Phase begins a phase. An error means that the run is to stop before it;
	// return it. In a phase that cannot stop, a cancel leaves ctx alone until
	// the next phase that can, or the end. So a transaction or a swap that was
	// begun is not torn: a nil from Phase(Phase{CanStop: false}) and the next
	// call of Phase have no cancel between them. (ctx can still end with the
	// lease, where the Locker sees to that.)
	Phase(Phase) error

	// Progress replaces what was last said in this phase.
	Progress(done, total int64, unit string)

	// Log and Finding are never dropped.
	Log(level Level, text string)
	Finding(value any)
}

// Result is what an action did.
type Result struct {
	// Summary is one sentence for people: "2,400 vectors indexed again".
	Summary string
	// Detail is what the command's document shows as its result; nil = nothing.
	Detail any
}

// Subject is what an action works on.
type Subject struct {
	// Palace as the person wrote it.
	Palace string
	// Keys tell palaces apart. Two runs that share one exclude each other; an
	// action without any excludes nobody.
	Keys []string
	// LockPaths are all spellings of all palaces to lock. Without any, no lock
	// is taken: closing asks the very process that holds it, and a server
	// serialises by itself.
	LockPaths []string
	// Wait is how long to wait for a held palace; 0 = refused at once.
	Wait time.Duration
}

// SubjectOf is the palace of a site, which need not be possible to open, or
// even exist yet.
func SubjectOf(s *palace.Site) Subject {
	id := ""
	if !s.Ref.ID.IsZero() {
		id = s.Ref.ID.String()
	}
	return subject(s.Ref.Path, s.Ref.Real, id, s.LockPaths())
}

// SubjectOfOpen is the same for a palace that is open.
func SubjectOfOpen(p *palace.Palace) Subject {
	return subject(p.Ref().Path, p.Ref().Real, p.Ref().ID.String(), p.LockPaths())
}

// subject keys a palace by its inode and by its paths: a swap by rename gives a
// palace another inode while its run still goes on, and a palace that is only
// being made has none.
func subject(path, real, id string, lockPaths []string) Subject {
	keys := append([]string{path, real, id}, lockPaths...)
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == "" })
	slices.Sort(keys)
	return Subject{Palace: path, Keys: slices.Compact(keys), LockPaths: lockPaths}
}

// And joins two subjects, for an action that needs both palaces.
func (s Subject) And(other Subject) Subject {
	return Subject{
		Palace:    s.Palace + " and " + other.Palace,
		Keys:      slices.Concat(s.Keys, other.Keys),
		LockPaths: slices.Concat(s.LockPaths, other.LockPaths),
		Wait:      max(s.Wait, other.Wait),
	}
}
