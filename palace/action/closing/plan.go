package closing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"castellan/locks"
	"castellan/palace/action"
)

// The kinds of refusal; they never change their meaning.
const (
	NotOpen          = "not-open"          // nobody has the palace
	HolderUnseen     = "holder-unseen"     // somebody has it who cannot be seen
	HolderChanged    = "holder-changed"    // not those the plan was about
	PermissionDenied = "permission-denied" // another user's process
	OwnProcess       = "own-process"       // Castellan itself
	Unsupported      = "unsupported"       // this system has no polite signal
	HooksUnusable    = "hooks-unusable"    // MemPalace's configuration cannot be changed
)

// Plan looks who would be asked, and whether each of them can be.
func (a *Action) Plan(ctx context.Context) (action.Plan, error) {
	p := action.Plan{Title: "Close " + a.o.Target.Path, Risk: action.RiskReversible}
	if a.o.Kill {
		p.Risk, p.TypedName = action.RiskDestructive, a.o.Name
	}
	s, err := a.look(ctx)
	if err != nil {
		return p, err
	}
	p.Holders = s.users
	a.describe(&p, s)
	p.Refusal = a.refuse(s)
	return p, nil
}

func (a *Action) describe(p *action.Plan, s sighting) {
	if a.o.Hooks != nil {
		p.Steps = append(p.Steps, "switch MemPalace's automatic saves off in "+a.o.Hooks.File+", so that the next hook does not undo this")
		p.Touches = append(p.Touches, a.o.Hooks.File)
	}
	var why []string
	for _, u := range s.users {
		p.Steps = append(p.Steps, fmt.Sprintf("ask %s to end, with %s", named(u.Process), signalName(polite(u.Role))))
		p.Touches = append(p.Touches, named(u.Process))
		why = append(why, meaning(u))
		if n := len(u.SharedWith); n > 0 {
			p.Steps = append(p.Steps, fmt.Sprintf("ask the processes that share its lock too, should they keep it: %s", pids(u.SharedWith)))
		}
	}
	p.Reason = strings.Join(why, "; ")
	p.Steps = append(p.Steps, fmt.Sprintf("wait up to %s until they have let go", a.o.Wait))
	if a.o.Kill {
		p.Steps = append(p.Steps, "end with SIGKILL whoever has not let go by then: it cannot finish what it is writing, and the palace may need a repair")
	}
	p.Steps = append(p.Steps, fmt.Sprintf("watch for %s whether somebody comes back", a.o.Watch))
	p.Leaves = []string{"every file of the palace", "the lock file"}
	for _, r := range s.readers {
		p.Leaves = append(p.Leaves, named(r)+", which only reads")
	}
}

func pids(list []int) string {
	words := make([]string, len(list))
	for i, pid := range list {
		words[i] = fmt.Sprintf("PID %d", pid)
	}
	return strings.Join(words, ", ")
}

// meaning says what a person loses when the process ends.
func meaning(h locks.Holder) string {
	what := map[locks.Role]string{
		locks.RoleMine:      "mining stops; what was filed stays, and the next mine goes on from there",
		locks.RoleSync:      "the sync stops half-way; run it again",
		locks.RoleMCP:       "its client is without MemPalace until it starts the server again",
		locks.RoleHook:      "this automatic save is cut short",
		locks.RoleRepair:    "a repair that is stopped may leave the palace half rebuilt: better let it finish",
		locks.RoleDaemon:    "queued writes wait until the daemon is started again",
		locks.RoleServe:     "its clients are without MemPalace until it is started again",
		locks.RoleChroma:    "its clients are without the server until it is started again",
		locks.RoleCastellan: "it ends what it is doing in good order",
	}[h.Role]
	if what == "" {
		return fmt.Sprintf("PID %d ends; what it has not written yet is lost", h.PID)
	}
	return fmt.Sprintf("PID %d, %s: %s", h.PID, h.Role, what)
}

// refuse gives the reason not to start. All or nobody: ending some of those who
// have the palace would cost them their work and not close it.
func (a *Action) refuse(s sighting) *action.RefusedError {
	subject := a.o.Target.Path
	if l := s.unseen(); l != nil {
		return unseenRefusal(subject, l)
	}
	if len(s.users) == 0 {
		return &action.RefusedError{Kind: NotOpen, Subject: subject, Reason: "nobody holds it or has it open for writing, as far as can be seen from here", Next: "there is nothing to close"}
	}
	for _, u := range s.users {
		if r := a.refuseUser(u.Process); r != nil {
			r.Subject = subject
			return r
		}
	}
	if a.o.Hooks != nil {
		if err := a.o.Hooks.check(); err != nil {
			return hooksRefusal(err)
		}
	}
	return nil
}

func unseenRefusal(subject string, l *locks.PalaceLock) *action.RefusedError {
	r := &action.RefusedError{Kind: HolderUnseen, Subject: subject,
		Reason: "it is held by a process that cannot be seen from here", Next: "end it where it was started: another container, another user or another machine"}
	switch {
	case l.State == locks.StateUnknown:
		r.Reason = "who holds it cannot be told: " + l.Why
	case l.Holder != nil && l.Holder.PID != 0:
		r.Reason = fmt.Sprintf("its lock file names %s, but the kernel does not show from here that this is who holds it", named(l.Holder.Process))
	}
	return r
}

// refuseUser finds out whether a process can be asked, without asking it.
func (a *Action) refuseUser(p locks.Process) *action.RefusedError {
	if p.PID == os.Getpid() {
		return &action.RefusedError{Kind: OwnProcess, Reason: "Castellan itself has it open", Next: "wait for its run to finish, or cancel it"}
	}
	if p.Started.IsZero() {
		return &action.RefusedError{Kind: HolderUnseen,
			Reason: fmt.Sprintf("when PID %d started cannot be told, so it could be mistaken for another process", p.PID), Next: "end it where it was started"}
	}
	err := a.reachable(p.PID)
	switch {
	case err == nil, errors.Is(err, os.ErrProcessDone): // gone by itself: Run looks again
		return nil
	case errors.Is(err, fs.ErrPermission):
		return &action.RefusedError{Kind: PermissionDenied, Err: err,
			Reason: named(p) + " belongs to another user", Next: "ask that user, or run castellan close as that user"}
	case errors.Is(err, errors.ErrUnsupported):
		return &action.RefusedError{Kind: Unsupported, Err: err,
			Reason: fmt.Sprintf("%s cannot be asked to end: %v", named(p), err), Next: "end it where it was started"}
	}
	return &action.RefusedError{Kind: HolderUnseen, Err: err,
		Reason: fmt.Sprintf("%s cannot be asked to end: %v", named(p), err), Next: "end it where it was started"}
}

func (a *Action) reachable(pid int) error {
	g, err := a.grip(pid)
	if err != nil {
		return err
	}
	return errors.Join(g.reachable(), g.close())
}
