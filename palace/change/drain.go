package change

import (
	"context"
	"errors"
	"fmt"

	"castellan/palace/action"
	"castellan/palace/queue"
)

// Drain is the action that makes the writes which wait for the palace.
type Drain struct {
	t Target
	// at is told of each step that a crash can come before; tests crash there.
	at func(step string)
}

// NewDrain makes the action; it looks at nothing yet.
func NewDrain(t Target) (*Drain, error) {
	t, err := t.check()
	if err != nil {
		return nil, err
	}
	return &Drain{t: t, at: func(string) {}}, nil
}

// Subject is the palace, with its lock.
func (d *Drain) Subject() action.Subject { return d.t.subject() }

// Plan tells what waits. It needs no confirming: each write was asked for when
// it was parked.
func (d *Drain) Plan(ctx context.Context) (action.Plan, error) {
	p := action.Plan{Title: "Make the writes that wait for " + d.t.path(), Mode: "drain", Risk: action.RiskNone}
	q, err := d.t.queue()
	if err != nil {
		return p, err
	}
	list, err := q.List()
	if err != nil {
		return p, err
	}
	deletes := 0
	for _, e := range list {
		switch {
		case e.State == queue.StateSetAside:
			p.Leaves = append(p.Leaves, fmt.Sprintf("%s, which was set aside: %s", e.Name, e.LastRefusal))
			continue
		case e.Operation == queue.Delete:
			deletes++
		}
		p.Steps = append(p.Steps, fmt.Sprintf("%s %s in %s", e.Operation, rows(e.Rows), e.Collection))
	}
	p.Touches = []string{d.t.path()}
	if deletes > 0 {
		p.Reason = "what is deleted is kept for castellan undo first"
	}
	if len(list) == 0 {
		p.Refusal = &action.RefusedError{Kind: NothingMatches, Subject: d.t.path(), Reason: "no write waits for it"}
	}
	return p, d.t.foresee(ctx, &p)
}

// Drained is what a drain did; it is the Detail of the run's Result.
type Drained struct {
	Applied int `json:"applied"`
	// SetAside are the names of entries that this drain set aside.
	SetAside []string `json:"set_aside"`
	// Left is how many entries still wait, whatever their state.
	Left int `json:"left"`
}

// Run makes the writes in their order. One that is refused keeps later ones of
// its collection waiting, and no others; the error then says which, and why.
func (d *Drain) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	if err := report.Phase(action.Phase{N: 1, Of: 1, Name: "apply", CanStop: true}); err != nil {
		return action.Result{}, err
	}
	if r := d.t.routing(); r != nil {
		return action.Result{}, r
	}
	q, err := d.t.queue()
	if err != nil {
		return action.Result{}, err
	}
	a := newApplier(d.t, report)
	a.at = d.at
	did, err := q.Drain(ctx, a)
	out := &Drained{Applied: did.Applied, SetAside: []string{}, Left: did.Left}
	for _, e := range did.SetAside {
		out.SetAside = append(out.SetAside, e.Name)
		report.Log(action.LevelWarn, fmt.Sprintf("%s was set aside: %s", e.Name, e.LastRefusal))
	}
	if ctx.Err() != nil && err != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	summary := counted(out.Applied, "waiting write", "waiting writes") + " made"
	if out.Left > 0 {
		summary += fmt.Sprintf("; %s", counted(out.Left, "still waits", "still wait"))
	}
	return action.Result{Summary: summary, Detail: out}, err
}
