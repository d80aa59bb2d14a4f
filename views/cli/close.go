package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/health"
	"castellan/palace/repair"

	"github.com/spf13/cobra"
)

// longestWait bounds --wait and --watch.
const longestWait = time.Hour

type closeFlags struct {
	wait, watch                   time.Duration
	kill, pauseHooks, resumeHooks bool
}

func (a *app) closeCommand() *cobra.Command {
	var f closeFlags
	cmd := &cobra.Command{
		Use:   "close [PALACE]",
		Short: "Ask whoever has a palace to let go, and check that it stayed away",
		Long: `Close asks the process that holds a palace, and others that have it open for
writing, to end (SIGTERM; a Chroma server gets SIGINT). It waits until they have
let go, and then watches whether somebody comes back, and says who.

It shows first whom it would ask, and asks you; --yes answers. Who only reads is
left alone. A lock is never taken from its holder, and no lock file is removed.

It exits 0 when the palace is free and nobody came back, and 4 when it is still
held, somebody came back, or the holder cannot be asked from here.`,
		Example: `  castellan close                        ask, wait, watch
  castellan close --pause-hooks          also keep MemPalace's hooks from coming back
  castellan close --resume-hooks         put the hooks' setting back as it was
  castellan close ~/palace --kill        end by force whoever does not listen`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(a.flags); err != nil {
				return err
			}
			return a.close(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.DurationVar(&f.wait, "wait", closing.DefaultWait, "how long whoever is asked may take")
	fl.DurationVar(&f.watch, "watch", closing.DefaultWatch, "how long to watch whether somebody comes back")
	fl.BoolVar(&f.kill, "kill", false, "end by force (SIGKILL) whoever does not let go; asks for the palace's name")
	fl.BoolVar(&f.pauseHooks, "pause-hooks", false, "switch MemPalace's automatic saves off first (hooks.auto_save in its config.json)")
	fl.BoolVar(&f.resumeHooks, "resume-hooks", false, "put back what --pause-hooks replaced, and close nothing")
	return cmd
}

func (f closeFlags) check(g globals) error {
	switch {
	case g.readOnly:
		return usagef("close ends processes; --read-only offers nothing that changes anything")
	case f.resumeHooks && (f.pauseHooks || f.kill):
		return usagef("--resume-hooks closes nothing; leave --pause-hooks and --kill out")
	case f.wait <= 0 || f.wait > longestWait:
		return usagef("--wait is between a moment and an hour, not %s", f.wait)
	case f.watch <= 0 || f.watch > longestWait:
		return usagef("--watch is between a moment and an hour, not %s", f.watch)
	}
	return nil
}

func (a *app) close(ctx context.Context, f closeFlags) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	found := d.Default()
	if found.Ref.Kind == backend.ChromaHTTP {
		return &action.RefusedError{Kind: "unsupported-backend", Subject: found.Ref.Path,
			Reason: "it is behind a server, which keeps its writers apart by itself", Next: "name the server's directory to close the server, or stop it where it runs"}
	}
	state, err := action.StateDir()
	if err != nil && (f.pauseHooks || f.resumeHooks) {
		return err
	}
	hooks := &closing.Hooks{File: d.Config.File, StateDir: state}
	target := locks.Target{Path: found.Ref.Path, Spellings: found.LockPaths()}
	if f.resumeHooks {
		if err := a.resumeHooks(hooks); err != nil {
			return err
		}
		return a.nothingClosed(ctx, e, target)
	}

	site := e.manager.Examine(ctx, found.Ref.Path)
	o := closing.Options{
		Subject: action.SubjectOf(&site), Target: target, Observer: e.observer,
		Name: filepath.Base(found.Ref.Path), Wait: f.wait, Watch: f.watch, Kill: f.kill,
	}
	if f.pauseHooks {
		o.Hooks = hooks
	}
	act, err := closing.New(o)
	if err != nil {
		return err
	}
	plan, err := act.Plan(ctx)
	if err != nil {
		return err
	}
	if r := plan.Refusal; r != nil && r.Kind == closing.NotOpen {
		if site.State == palace.Missing { // more likely a slip of the pen
			return &ReadError{Palace: found.Ref.Path, Err: site.Err}
		}
		if f.pauseHooks {
			if err := a.pauseHooks(hooks); err != nil {
				return err
			}
		}
		return a.nothingClosed(ctx, e, target)
	}
	if plan.Refusal != nil {
		return plan.Refusal
	}
	a.showClosePlan(plan)
	if err := a.confirm(ctx, plan, "Close it?"); err != nil {
		return err
	}
	return a.runClose(ctx, act, plan, state)
}

// runClose conducts the run and tells its outcome, also when it was
// interrupted.
func (a *app) runClose(ctx context.Context, act *closing.Action, plan action.Plan, state string) error {
	runner := action.NewRunner(action.Options{Now: a.now, StateDir: state, Locker: action.PalaceLocks{}})
	run, err := runner.Start(ctx, act, plan)
	if err != nil {
		return err
	}
	a.follow(run)
	last := run.Snapshot()
	if last.Unlogged != nil {
		a.log.Warn("the run's log is incomplete", "run", last.ID, "error", last.Unlogged)
	}
	over, stop := context.WithTimeout(context.WithoutCancel(ctx), letGo)
	defer stop()
	if err := runner.Shutdown(over); err != nil {
		return err
	}
	o, _ := last.Result.Detail.(*closing.Outcome)
	if last.Err != nil && (o == nil || len(o.Asked) == 0 && !o.HooksPaused) {
		return last.Err
	}
	if err := a.tellClose(o); err != nil {
		return err
	}
	told := &toldError{kind: "held", code: exitHeld}
	switch {
	case last.State == action.StateCancelled:
		a.say("castellan: interrupted; whoever was asked may still let go")
		told = &toldError{kind: "interrupted", code: exitInterrupted, err: last.Err}
	case last.Err != nil:
		a.say("castellan: %v", last.Err)
		told = &toldError{kind: "failed", code: exitFailed, err: last.Err}
	case o.Closed():
		return nil
	case o.Unsure():
		told = &toldError{kind: "unknown", code: exitUnknown}
	}
	return told
}

// follow prints what a run says until it is over. It waits for the run and not
// for the context: a run that is being stopped has things to say.
func (a *app) follow(run *action.Run) {
	sub := run.Subscribe()
	told := -1 // the PID that is waited for
	for last := int64(0); ; {
		batch, err := sub.Next(context.Background())
		if err != nil {
			return // io.EOF: all has been said
		}
		for _, event := range batch {
			switch e := event.Detail.(type) {
			case action.Phase:
				last = 0
				a.say("%d/%d %s", e.N, e.Of, e.Name)
			case action.Waiting:
				if told != e.Holder.PID {
					told = e.Holder.PID
					a.say("waits for %s, until %s at most", a.holderWords(health.HolderDocument(&e.Holder)), e.Deadline.Local().Format(time.TimeOnly))
				}
			case action.Log:
				a.say("    %s", e.Text)
			case action.Progress:
				if e.Done >= last+5 {
					last = e.Done
					a.say("    %d of %d %s", e.Done, e.Total, e.Unit)
				}
			}
		}
	}
}

// nothingClosed answers where nobody was to be asked.
func (a *app) nothingClosed(ctx context.Context, e eyes, target locks.Target) error {
	v, err := e.observer.Palace(ctx, target)
	if err != nil {
		return err
	}
	return a.tellClose(&closing.Outcome{Asked: []closing.Asked{}, CameBack: []closing.Returned{}, Lock: v.Lock})
}

func (a *app) pauseHooks(h *closing.Hooks) error {
	changed, err := h.Pause()
	if err != nil {
		return hooksError(err)
	}
	if changed {
		a.say("Automatic saves are off; castellan close --resume-hooks puts them back.")
	} else {
		a.say("Automatic saves were off already.")
	}
	return nil
}

func (a *app) resumeHooks(h *closing.Hooks) error {
	changed, err := h.Resume()
	switch {
	case errors.Is(err, closing.ErrNotPaused):
		a.say("Automatic saves were not paused by Castellan: there is nothing to put back.")
	case err != nil:
		return hooksError(err)
	case changed:
		a.say("Automatic saves are as they were before.")
	default:
		a.say("Somebody has set automatic saves since; that was left as it is.")
	}
	return nil
}

// hooksError puts a failure to switch the hooks into the words of a refusal.
func hooksError(err error) error {
	var h *closing.HooksError
	if !errors.As(err, &h) {
		return err
	}
	return &action.RefusedError{Kind: closing.HooksUnusable, Reason: h.Reason, Subject: h.File, Next: h.Next, Err: err}
}

// refusedCode is the exit code of a refusal: 4 where somebody else's hold on the
// palace is the reason.
func refusedCode(kind string) int {
	switch kind {
	case closing.HolderUnseen, closing.HolderChanged, closing.PermissionDenied, closing.OwnProcess, change.LockHeld, repair.InUse:
		return exitHeld
	case repair.NoPalace:
		return exitNoPalace
	}
	return exitFailed
}

// toldError ends a command whose document has been printed already: only the
// exit code is still due.
type toldError struct {
	kind string
	code int
	err  error
}

func (e *toldError) Error() string { return fmt.Sprintf("%s: %v", e.kind, e.err) }
func (e *toldError) Unwrap() error { return e.err }

// sayList prints words under a label, one a line.
func (a *app) sayList(label string, list []string) {
	for _, s := range list {
		a.say("  %-8s%s", label, s)
		label = ""
	}
}
