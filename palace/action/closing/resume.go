package closing

import (
	"context"
	"errors"

	"castellan/palace/action"
)

// NotPaused is the kind of refusal where there is nothing to put back.
const NotPaused = "not-paused"

// Resuming is the action that puts back what Hooks.Pause replaced. No palace has
// a part in it.
type Resuming struct{ Hooks *Hooks }

// Subject is MemPalace's configuration file.
func (r Resuming) Subject() action.Subject {
	return action.Subject{Palace: r.Hooks.File, Keys: []string{r.Hooks.File}}
}

// Plan tells what would be put back.
func (r Resuming) Plan(context.Context) (action.Plan, error) {
	p := action.Plan{
		Title: "Put MemPalace's automatic saves back", Risk: action.RiskReversible,
		Steps:   []string{"set hooks.auto_save as it was before Castellan switched it off, unless somebody has set it since"},
		Touches: []string{r.Hooks.File},
		Leaves:  []string{"every palace", "every other setting"},
	}
	_, err := r.Hooks.recall()
	if err == nil {
		_, _, err = r.Hooks.read()
	}
	if err != nil {
		p.Refusal = hooksRefusal(err)
		if errors.Is(err, ErrNotPaused) {
			p.Refusal.Kind = NotPaused
		}
	}
	return p, nil
}

// Run puts it back.
func (r Resuming) Run(_ context.Context, report action.Reporter) (action.Result, error) {
	if err := report.Phase(action.Phase{N: 1, Of: 1, Name: "put back"}); err != nil {
		return action.Result{}, err
	}
	changed, err := r.Hooks.Resume()
	switch {
	case err != nil:
		return action.Result{}, hooksRefusal(err)
	case !changed:
		return action.Result{Summary: "somebody has set automatic saves since; that was left as it is"}, nil
	}
	return action.Result{Summary: "automatic saves are as they were before"}, nil
}
