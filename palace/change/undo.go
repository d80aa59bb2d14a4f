package change

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"castellan/palace/action"
	"castellan/palace/action/undo"
)

// Restorer puts back what entries of one kind replaced.
type Restorer interface {
	Kind() undo.Kind
	// Plan says what would be put back, or refuses. It touches nothing.
	Plan(ctx context.Context, t Target, s *undo.Store, e undo.Entry) (action.Plan, error)
	// Run does it, under the palace's lease and after it has looked again. When
	// it gives no error the entry is undone for good.
	Run(ctx context.Context, t Target, s *undo.Store, e undo.Entry, report action.Reporter) (action.Result, error)
}

// Undo is the action that puts back what the newest change replaced that was
// not put back yet.
type Undo struct {
	t         Target
	restorers map[undo.Kind]Restorer
}

// NewUndo makes the action; it looks at nothing yet. Deletes it can put back by
// itself, others with their Restorer.
func NewUndo(t Target, others ...Restorer) (*Undo, error) {
	t, err := t.check()
	if err != nil {
		return nil, err
	}
	u := &Undo{t: t, restorers: map[undo.Kind]Restorer{kindDelete: rowRestorer{}}}
	for _, r := range others {
		u.restorers[r.Kind()] = r
	}
	return u, nil
}

// Subject is the palace, with its lock.
func (u *Undo) Subject() action.Subject { return u.t.subject() }

// Plan finds the entry. Its record's directory is the plan's Backup.
func (u *Undo) Plan(ctx context.Context) (action.Plan, error) {
	p := action.Plan{Title: "Undo the last change of " + u.t.path(), Risk: action.RiskReversible}
	store, err := u.t.store()
	if err != nil {
		return p, err
	}
	e, r, err := u.newest(store)
	if err != nil {
		if p.Refusal = refusal(err); p.Refusal != nil {
			return p, nil
		}
		return p, err
	}
	if p, err = r.Plan(ctx, u.t, store, e); err != nil {
		if p.Refusal = refusal(err); p.Refusal == nil {
			return p, err
		}
	}
	p.Mode, p.Backup = string(e.Kind), store.Path(e.ID)
	return p, u.t.foresee(ctx, &p)
}

// newest is what is to be put back, and who can do it.
func (u *Undo) newest(s *undo.Store) (undo.Entry, Restorer, error) {
	e, err := s.Newest()
	switch {
	case errors.Is(err, undo.ErrNothing):
		return e, nil, &action.RefusedError{Kind: NothingToUndo, Subject: u.t.path(), Err: err,
			Reason: "nothing was deleted or repaired here that was not put back already"}
	case err != nil:
		return e, nil, err
	}
	r := u.restorers[e.Kind]
	if r == nil {
		return e, nil, &action.RefusedError{Kind: UndoUnusable, Subject: s.Path(e.ID),
			Reason: fmt.Sprintf("it is of the kind %q, which this Castellan does not put back", e.Kind), Next: "use the Castellan that made it"}
	}
	return e, r, nil
}

// refusal is what keeps a record from being used, as a refusal; nil for other
// errors.
func refusal(err error) *action.RefusedError {
	var r *action.RefusedError
	var damaged *undo.DamagedError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &damaged):
		return &action.RefusedError{Kind: UndoUnusable, Subject: damaged.Path, Err: err,
			Reason: "the undo record is damaged: " + damaged.Reason, Next: "look at its files; move the directory away to get at older records"}
	}
	return nil
}

// Run puts back what the plan was about, if that is still the newest.
func (u *Undo) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	if r := u.t.routing(); r != nil {
		return action.Result{}, r
	}
	store, err := u.t.store()
	if err != nil {
		return action.Result{}, err
	}
	e, r, err := u.newest(store)
	if err == nil && store.Path(e.ID) != report.Plan().Backup {
		err = &action.RefusedError{Kind: NothingToUndo, Subject: u.t.path(),
			Reason: fmt.Sprintf("the last change is not the one of %s any more", filepath.Base(report.Plan().Backup)), Next: "look again: castellan undo --dry-run"}
	}
	if err != nil {
		if r := refusal(err); r != nil {
			return action.Result{}, r
		}
		return action.Result{}, err
	}
	res, err := r.Run(ctx, u.t, store, e, report)
	if err != nil {
		if r := refusal(err); r != nil {
			err = r
		}
		return res, err
	}
	if err := store.MarkUndone(e.ID); err != nil {
		return res, fmt.Errorf("it was put back, but its record still says that it was not: %w", err)
	}
	return res, nil
}
