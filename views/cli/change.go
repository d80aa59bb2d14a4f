package cli

import (
	"context"
	"errors"
	"time"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/change"
	"castellan/palace/health"

	"github.com/spf13/cobra"
)

// changeFlags are those of every command that changes a palace.
type changeFlags struct {
	wait   time.Duration
	dryRun bool
}

func (f *changeFlags) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "how long to wait for a palace that somebody holds; 0 = not at all")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
}

// check refuses what cannot be meant. Saying what would be done changes
// nothing, so --read-only lets it pass.
func (f changeFlags) check(g globals, verb string) error {
	switch {
	case g.readOnly && !f.dryRun:
		return usagef("%s changes a palace; --read-only offers nothing that changes anything", verb)
	case f.wait < 0 || f.wait > longestWait:
		return usagef("--wait is at most an hour, not %s", f.wait)
	}
	return nil
}

// changeDocument is what a command that changes a palace answers.
type changeDocument struct {
	Plan   action.Plan `json:"plan"`
	Result any         `json:"result"`
	// Parked are the writes that were kept for later instead.
	Parked []queueEntry  `json:"parked,omitempty"`
	Error  *health.Error `json:"error,omitempty"`
}

// changing opens the palace that was named, or the default one, for a change.
func (a *app) changing(ctx context.Context, wait time.Duration, do func(change.Target) error) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	p, err := e.manager.Open(ctx, d.Default().Ref)
	if err != nil {
		return &ReadError{Palace: d.Default().Ref.Path, Err: err}
	}
	state, err := stateDir("")
	if err != nil {
		return err // what cannot be kept is not deleted
	}
	return do(change.Target{
		Manager: e.manager, Palace: p, StateDir: state, Drawers: d.Config.CollectionName,
		Watch: locks.NewObserver(locks.Options{Now: a.now, SampleInterval: -1}), Wait: wait, Now: a.now,
	})
}

// changer carries an action from its plan to its end.
type changer struct {
	a        *app
	act      action.Action
	flags    changeFlags
	question string
	// tell prints the detail of a result for people.
	tell func(detail any)
	// park keeps the write for later; nil = it cannot be.
	park func(context.Context) ([]queueEntry, error)
}

func (c *changer) do(ctx context.Context, subject string) error {
	plan, err := c.act.Plan(ctx)
	if err != nil {
		return &ReadError{Palace: subject, Err: err}
	}
	if c.flags.dryRun {
		return c.answerPlan(ctx, plan)
	}
	parking := false
	if r := plan.Refusal; r != nil {
		if parking = r.Kind == change.LockHeld && c.park != nil; !parking {
			return c.refuse(ctx, plan, nil, r)
		}
		plan.Refusal = nil
	}
	if plan.Risk != action.RiskNone {
		for _, line := range c.a.planLines(plan) {
			c.a.say("%s", line)
		}
		c.a.say("")
	}
	question := c.question
	if parking {
		question = "It is held. Keep this for later?"
	}
	if err := c.a.confirm(ctx, plan, question); err != nil {
		return err
	}
	if parking {
		return c.keep(ctx, plan)
	}
	return c.run(ctx, plan)
}

// answerPlan is the whole answer of --dry-run.
func (c *changer) answerPlan(ctx context.Context, plan action.Plan) error {
	if c.a.flags.json {
		if plan.Refusal != nil {
			return c.refuse(ctx, plan, nil, plan.Refusal)
		}
		return writeJSON(c.a.out, changeDocument{Plan: plan})
	}
	for _, line := range c.a.planLines(plan) {
		writeLine(c.a.out, line)
	}
	if plan.Refusal != nil {
		return plan.Refusal
	}
	writeLine(c.a.out, "Nothing was done: this is what would be.")
	return nil
}

// refuse ends a command with an error beside what there is to tell.
func (c *changer) refuse(ctx context.Context, plan action.Plan, result any, err error) error {
	if !c.a.flags.json {
		return err
	}
	f := describe(ctx, err)
	doc := changeDocument{Plan: plan, Result: result, Error: f.document()}
	if err := writeJSON(c.a.out, doc); err != nil {
		return err
	}
	return &toldError{kind: f.kind, code: f.code, err: err}
}

// run conducts the run and tells its outcome, also when it was interrupted.
func (c *changer) run(ctx context.Context, plan action.Plan) error {
	a := c.a
	runner, err := a.runner("")
	if err != nil {
		return err
	}
	defer a.endRuns(runner)
	run, err := runner.Start(ctx, c.act, plan)
	if err != nil {
		return err
	}
	a.follow(run)
	last := run.Snapshot()
	if last.Unlogged != nil {
		a.log.Warn("the run's log is incomplete", "run", last.ID, "error", last.Unlogged)
	}
	detail := last.Result.Detail
	var held *locks.HeldError
	if detail == nil && errors.As(last.Err, &held) && c.park != nil && ctx.Err() == nil {
		return c.keep(ctx, plan)
	}
	if !a.flags.json && detail != nil {
		c.tell(detail)
	}
	if last.Err == nil {
		if a.flags.json {
			return writeJSON(a.out, changeDocument{Plan: plan, Result: detail})
		}
		return nil
	}
	if detail != nil && (last.State == action.StateCancelled || ctx.Err() != nil) {
		// What the general words say, that nothing has been changed, is not so.
		return c.refuse(ctx, plan, detail, &InterruptedError{Done: last.Result.Summary, Err: last.Err})
	}
	return c.refuse(ctx, plan, detail, last.Err)
}

// keep parks the write.
func (c *changer) keep(ctx context.Context, plan action.Plan) error {
	list, err := c.park(ctx)
	if err != nil {
		return c.refuse(ctx, plan, nil, err)
	}
	if c.a.flags.json {
		return writeJSON(c.a.out, changeDocument{Plan: plan, Parked: list})
	}
	n := 0
	for _, e := range list {
		n += e.Rows
	}
	writeLine(c.a.out, "The palace is held: the delete of "+many(n, "row", "rows")+" is kept for later.")
	writeLine(c.a.out, "castellan queue drain makes it once the palace is free; castellan queue list shows what waits.")
	return nil
}

// InterruptedError ends a command that was interrupted after it had begun to
// change something.
type InterruptedError struct {
	Done string
	Err  error
}

func (e *InterruptedError) Error() string { return "interrupted: " + e.Done }

// Unwrap is how the run ended.
func (e *InterruptedError) Unwrap() error { return e.Err }
