package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/backend"
)

// removal keeps rows and then deletes them, under the palace's lease.
type removal struct {
	t      Target
	report action.Reporter
	at     func(step string)

	store *undo.Store
	entry undo.Entry
	parts []part
	lost  int
	// done counts the rows of each part that are gone for certain; doubt is the
	// batch whose delete gave an error.
	done  []int
	doubt []string
}

// outcome is what an undo record of kind delete says of its end: how many of
// its rows, from the first, were deleted.
type outcome struct {
	Rows int `json:"rows"`
}

func (r *removal) rows() (n int) {
	for _, p := range r.parts {
		n += len(p.IDs)
	}
	return n
}

// writers opens collections for writing.
func (t Target) writers() func(context.Context, string) (backend.Collection, error) {
	return func(ctx context.Context, name string) (backend.Collection, error) {
		w, err := t.Palace.Writer(ctx, name)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// keep puts what walk visits into an undo record. Without any rows it leaves
// none. id is the name that the plan gave it, or empty.
func (r *removal) keep(ctx context.Context, id, title string, walk func(context.Context, visitor) error) (err error) {
	if r.store, err = r.t.store(); err != nil {
		return err
	}
	stale, err := r.store.Stale(id)
	if err == nil && (stale || id == "") {
		id, err = r.store.NewID()
	}
	if err != nil {
		return err
	}
	r.at("keep")
	draft, err := r.store.Begin(id, kindDelete, r.t.path(), title)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, draft.Discard()) }() // nothing, once it was committed
	f, err := draft.Create(rowsFile)
	if err != nil {
		return err
	}
	n := 0
	err = walk(ctx, func(collection string, rec backend.Record) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(r.parts) == 0 || r.parts[len(r.parts)-1].Name != collection {
			r.parts = append(r.parts, part{Name: collection})
		}
		last := &r.parts[len(r.parts)-1]
		last.IDs = append(last.IDs, rec.ID)
		if lost(rec, r.t.Palace.Kind()) != "" {
			r.lost++
		}
		if n++; n%step == 0 {
			r.report.Progress(int64(n), 0, "rows")
		}
		return writeRow(f, collection, rec)
	})
	if err = errors.Join(err, f.Close()); err != nil || n == 0 {
		return err
	}
	r.at("commit")
	r.entry, err = draft.Commit(rows(n) + " as they were")
	r.done = make([]int, len(r.parts))
	r.report.Progress(int64(n), int64(n), "rows")
	return err
}

// delete removes the rows that were kept, batch by batch; each is a transaction
// of the engine's. A cancel takes effect between two.
func (r *removal) delete(ctx context.Context) error {
	deleted, all := 0, r.rows()
	for i, p := range r.parts {
		w, err := r.t.Palace.Writer(ctx, p.Name)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(p.IDs, step) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.at("delete")
			if _, err := w.Delete(ctx, backend.Filter{IDs: batch}); err != nil {
				r.doubt = batch
				return err
			}
			r.at("deleted")
			r.done[i] += len(batch)
			deleted += len(batch)
			r.report.Progress(int64(deleted), int64(all), "rows")
		}
	}
	return nil
}

// settle finds out what is gone, tells it, and notes it in the record. It goes
// on when ctx has ended: what was done has to be known.
func (r *removal) settle(ctx context.Context, out *Deleted, why error) error {
	ctx = context.WithoutCancel(ctx)
	certain, errs := true, []error{why}
	if len(r.doubt) > 0 {
		at := slices.IndexFunc(r.parts, func(p part) bool { return slices.Contains(p.IDs, r.doubt[0]) })
		left, err := r.left(ctx, r.parts[at].Name, r.doubt)
		switch {
		case err == nil && left == 0: // it was made all the same
			r.done[at] += len(r.doubt)
		case err != nil || left < int64(len(r.doubt)):
			certain = false
			errs = append(errs, err)
		}
	}
	if why == nil {
		errs = append(errs, r.verify(ctx))
	}
	gone := 0
	for i, p := range r.parts {
		out.Collections = append(out.Collections, Counted{p.Name, r.done[i]})
		gone += r.done[i]
	}
	r.at("settle")
	switch {
	case !certain:
		// Undo compares row by row then.
	case gone == 0:
		out.Undo = nil
		errs = append(errs, r.store.MarkUndone(r.entry.ID))
	default:
		errs = append(errs, r.store.Settle(r.entry.ID, outcome{Rows: gone}))
	}
	return joined(errs)
}

// joined is the only error there is as it is, so that it stays what it is.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// verify looks that all rows are gone.
func (r *removal) verify(ctx context.Context) error {
	for _, p := range r.parts {
		left, err := r.left(ctx, p.Name, p.IDs)
		if err != nil {
			return fmt.Errorf("looking whether the rows are gone: %w", err)
		}
		if left > 0 {
			return &action.RefusedError{Kind: NotVerified, Subject: r.t.path(),
				Reason: fmt.Sprintf("%s of %s are still there after they were deleted", rows(left), p.Name),
				Next:   "castellan doctor says what is wrong; the record of all rows is " + r.store.Path(r.entry.ID)}
		}
	}
	return nil
}

// left counts which of some ids are there.
func (r *removal) left(ctx context.Context, name string, ids []string) (int64, error) {
	c, err := r.t.Palace.Collection(ctx, name)
	if err != nil {
		return 0, err
	}
	var all int64
	for chunk := range slices.Chunk(ids, step) {
		n, err := c.Count(ctx, backend.Filter{IDs: chunk})
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}
