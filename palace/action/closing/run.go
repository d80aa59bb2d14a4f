package closing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"castellan/locks"
	"castellan/palace/action"
)

// Run asks those the plan names, waits, ends them by force where that was
// agreed to, and watches. It fails only where it could not look or was stopped:
// a palace that is still held is an Outcome. The Result is told beside an error
// too, once something may have been done.
func (a *Action) Run(ctx context.Context, report action.Reporter) (res action.Result, err error) {
	r := &run{a: a, report: report, out: Outcome{Asked: []Asked{}, CameBack: []Returned{}}}
	defer func() {
		for _, t := range r.asked {
			err = errors.Join(err, t.grip.close())
		}
		res = action.Result{Summary: r.out.summary(), Detail: &r.out}
		if !r.begun {
			res = action.Result{}
		}
	}()
	return res, r.do(ctx)
}

// run is one Run.
type run struct {
	a      *Action
	report action.Reporter
	plan   agreed
	out    Outcome
	asked  []*asked
	phase  int
	begun  bool // something may have been done
}

// asked is a process that has been signalled.
type asked struct {
	process locks.Process
	grip    grip
	gone    bool
}

func (r *run) do(ctx context.Context) error {
	first, err := r.a.look(ctx)
	if err != nil {
		return err
	}
	r.plan = agreed{holders: r.report.Plan().Holders, since: first.view.At}
	if err := r.begins(first); err != nil {
		return err
	}
	r.begun = true
	if r.a.o.Hooks != nil {
		if err := r.next("pause automatic saves"); err != nil {
			return err
		}
		if err := r.pauseHooks(); err != nil {
			return err
		}
	}
	if err := r.next("ask"); err != nil {
		return err
	}
	if err := r.ask(ctx, r.a.o.Wait); err != nil {
		return err
	}
	if r.a.o.Kill {
		if err := r.next("end by force"); err != nil {
			return err
		}
		if err := r.kill(ctx); err != nil {
			return err
		}
	}
	if err := r.next("watch"); err != nil {
		return err
	}
	return r.watch(ctx)
}

// begins looks whether those the plan is about are still there.
func (r *run) begins(s sighting) error {
	if slices.ContainsFunc(s.users, func(h locks.Holder) bool { return r.plan.has(h.Process) }) {
		return nil
	}
	subject := r.a.o.Target.Path
	if l := s.unseen(); l != nil {
		return unseenRefusal(subject, l)
	}
	if len(s.users) > 0 {
		return &action.RefusedError{Kind: HolderChanged, Subject: subject,
			Reason: named(s.users[0].Process) + " has it now, and not whom the plan names", Next: "look again: castellan close"}
	}
	// Everybody left by themselves: what remains is to see that nobody returns.
	r.report.Log(action.LevelInfo, "whoever had it has let go meanwhile; nobody is asked")
	return nil
}

func (r *run) next(name string) error {
	of := 2
	if r.a.o.Hooks != nil {
		of++
	}
	if r.a.o.Kill {
		of++
	}
	r.phase++
	return r.report.Phase(action.Phase{N: r.phase, Of: of, Name: name, CanStop: true})
}

func (r *run) pauseHooks() error {
	changed, err := r.a.o.Hooks.Pause()
	if err != nil {
		return hooksRefusal(err)
	}
	r.out.HooksPaused = changed
	text := "automatic saves were off already"
	if changed {
		text = "automatic saves are off; castellan close --resume-hooks puts them back"
	}
	r.report.Log(action.LevelInfo, text)
	return nil
}

// ask signals all who were agreed to, also those who come to light when
// another one is gone, and waits until none of them has the palace.
func (r *run) ask(ctx context.Context, wait time.Duration) error {
	return r.until(ctx, wait, func(s sighting) error {
		for _, u := range s.users {
			if !r.plan.has(u.Process) || r.known(u.Process) != nil {
				continue
			}
			if err := r.askOne(ctx, u.Process); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *run) askOne(ctx context.Context, p locks.Process) error {
	g, err := r.a.grip(p.PID)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s cannot be asked: %w", named(p), err)
	}
	t := &asked{process: p, grip: g}
	sent, err := r.send(ctx, t, polite(p.Role))
	if err != nil || !sent {
		return errors.Join(err, g.close())
	}
	r.asked = append(r.asked, t)
	return nil
}

// send signals a process that has the palace at this moment. The grip was
// opened before this look, so what is seen now is whom it holds, or nobody.
func (r *run) send(ctx context.Context, t *asked, s syscall.Signal) (sent bool, err error) {
	now, err := r.a.look(ctx)
	if err != nil {
		return false, err
	}
	if now.find(t.process) == nil {
		return false, nil
	}
	switch err := t.grip.signal(s); {
	case errors.Is(err, os.ErrProcessDone):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %s: %w", named(t.process), signalName(s), err)
	}
	r.out.Asked = append(r.out.Asked, Asked{PID: t.process.PID, Signal: signalName(s)})
	r.report.Log(action.LevelInfo, fmt.Sprintf("%s sent to %s", signalName(s), named(t.process)))
	return true, nil
}

func (r *run) known(p locks.Process) *asked {
	for _, t := range r.asked {
		if same(t.process, p) {
			return t
		}
	}
	return nil
}

// until looks and acts until nobody of the plan has the palace, at most as long
// as wait.
func (r *run) until(ctx context.Context, wait time.Duration, act func(sighting) error) error {
	since := r.a.o.Now()
	for {
		s, err := r.a.look(ctx)
		if err != nil {
			return err
		}
		if err := act(s); err != nil {
			return err
		}
		r.settle()
		left := slices.ContainsFunc(s.users, func(h locks.Holder) bool { return r.plan.has(h.Process) })
		waited := r.a.o.Now().Sub(since)
		r.note(s)
		if !left || waited >= wait {
			return nil
		}
		r.report.Progress(int64(waited/time.Second), int64(wait/time.Second), "seconds")
		if err := r.a.o.Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// kill ends those who were asked in vain.
func (r *run) kill(ctx context.Context) error {
	for _, t := range r.asked {
		if t.gone {
			continue
		}
		if _, err := r.send(ctx, t, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return r.until(ctx, afterKill, func(sighting) error { return nil })
}

// watch looks whether somebody comes back.
func (r *run) watch(ctx context.Context) error {
	since := r.a.o.Now()
	for {
		s, err := r.a.look(ctx)
		if err != nil {
			return err
		}
		r.settle()
		r.note(s)
		watched := r.a.o.Now().Sub(since)
		if watched >= r.a.o.Watch {
			return nil
		}
		r.report.Progress(int64(watched/time.Second), int64(r.a.o.Watch/time.Second), "seconds")
		if err := r.a.o.Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// settle notes who has ended.
func (r *run) settle() {
	for _, t := range r.asked {
		if t.gone || !t.grip.exited() {
			continue
		}
		t.gone = true
		for i, a := range slices.Backward(r.out.Asked) {
			if a.PID == t.process.PID {
				r.out.Asked[i].Exited = true // by this signal, not by an earlier one
				break
			}
		}
		r.report.Log(action.LevelInfo, named(t.process)+" has ended")
	}
}

// note keeps what was seen last, and everybody who was not asked.
func (r *run) note(s sighting) {
	r.out.Lock, r.out.Remaining = s.view.Lock, nil
	for _, u := range s.users {
		if r.plan.has(u.Process) {
			r.out.Remaining = append(r.out.Remaining, u)
			continue
		}
		back := Returned{PID: u.PID, Command: u.Command, Parent: parent(u.Process)}
		if slices.ContainsFunc(r.out.CameBack, func(c Returned) bool { return c.PID == back.PID }) {
			continue
		}
		r.out.CameBack = append(r.out.CameBack, back)
		r.report.Log(action.LevelWarn, named(u.Process)+" has it now")
	}
}
