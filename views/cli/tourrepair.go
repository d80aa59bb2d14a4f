package cli

import (
	"context"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/health"
	"castellan/palace/repair"
)

// repairedExhibit is the one that the tour repairs: nearly all of its vectors
// are missing from the index, and still on the disk.
const repairedExhibit = "quarantine-holds-more"

// cure is a repair of the tour, as its JSON form has it: plan and result are
// those of castellan repair --json, after is the doctor's report behind it.
type cure struct {
	Plan   action.Plan    `json:"plan"`
	Result any            `json:"result"`
	After  *health.Report `json:"after"`
}

// cure repairs an exhibit as castellan repair would, and looks again. Where that
// cannot be begun here, the plan says why.
func (a *app) cure(ctx context.Context, home string, e eyes, found palace.Found) (*cure, error) {
	state, err := stateDir(home)
	if err != nil {
		return nil, err
	}
	act, err := repair.New(ctx, repair.Options{
		Manager: e.manager, Examiner: e.examiner, Observer: e.observer, Found: found,
		StateDir: state, Now: a.now, Version: buildVersion().Castellan,
	})
	if err != nil {
		return nil, err
	}
	c := &cure{}
	if c.Plan, err = act.Plan(ctx); err != nil || c.Plan.Refusal != nil {
		return c, err
	}
	runner, err := a.runner(home)
	if err != nil {
		return nil, err
	}
	defer a.endRuns(runner)
	run, err := runner.Start(ctx, act, c.Plan)
	if err != nil {
		return nil, err
	}
	<-run.Done() // it ends with ctx
	last := run.Snapshot()
	if last.Err != nil {
		return nil, last.Err
	}
	c.Result = last.Result.Detail
	c.After = e.examiner.Report(ctx, found, health.Full)
	return c, ctx.Err()
}

func (a *app) printCure(c *cure) {
	a.gap()
	a.paragraph("", "", a.ink.bold("It can be repaired, and is, here in the scratch home:"))
	a.gap()
	for _, line := range a.planLines(c.Plan) {
		writeLine(a.out, line)
	}
	a.gap()
	if r := c.Plan.Refusal; r != nil {
		a.paragraph("", "  ", "Not here: "+clean(r.Error()))
		return
	}
	a.tellRepaired(c.Result)
	a.gap()
	a.paragraph("", "", "The doctor, asked again: "+a.stateWord(c.After)+".")
	a.printCollections(c.After.Collections)
	a.gap()
	a.printFindings(c.After.Findings, brief)
	a.paragraph("", "", "For a palace of your own: castellan repair --plan says all of this first, castellan repair asks and does it.")
}
