package change

import (
	"context"
	"errors"
	"fmt"

	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/queue"
)

// Park keeps a write for later, because somebody holds the palace. Its ids are
// those of now, whatever is written until it is made.
func (t Target) Park(ctx context.Context, e queue.Entry) (queue.Entry, error) {
	t, err := t.check()
	if err != nil {
		return queue.Entry{}, err
	}
	q, err := t.queue()
	if err != nil {
		return queue.Entry{}, err
	}
	e.Palace = t.path()
	return q.Park(ctx, e)
}

// Settle makes the writes that wait for the palace, if any wait for one of these
// collections: whoever writes there directly would overtake them. It is called
// under the palace's lease. When one of them stays it is a *action.RefusedError
// with the kind QueueWaits, and the direct write must not be made.
func (t Target) Settle(ctx context.Context, report action.Reporter, collections ...string) (queue.Drained, error) {
	t, err := t.check()
	if err != nil {
		return queue.Drained{}, err
	}
	return t.settle(ctx, report, collections...)
}

func (t Target) settle(ctx context.Context, report action.Reporter, collections ...string) (queue.Drained, error) {
	q, err := t.queue()
	if err != nil {
		return queue.Drained{}, err
	}
	n, err := pending(q, collections)
	if err != nil || n == 0 {
		return queue.Drained{}, err
	}
	report.Log(action.LevelInfo, counted(n, "write waits", "writes wait")+" for the palace and come first")
	d, draining := q.Drain(ctx, newApplier(t, report))
	if ctx.Err() != nil {
		return d, errors.Join(context.Cause(ctx), draining)
	}
	if n, err = pending(q, collections); err != nil {
		return d, errors.Join(err, draining)
	}
	if n > 0 {
		why := "one was set aside before"
		if len(d.SetAside) > 0 {
			why = d.SetAside[0].LastRefusal
		}
		if draining != nil {
			why = draining.Error()
		}
		return d, &action.RefusedError{Kind: QueueWaits, Subject: t.path(), Err: draining,
			Reason: fmt.Sprintf("%s come first and cannot be made: %s", counted(n, "waiting write", "waiting writes"), why),
			Next:   "castellan queue list shows them; castellan queue drop ENTRY gives one up, castellan queue retry ENTRY lets one be tried again"}
	}
	return d, nil // what waits for other collections is not in the way
}

func pending(q *queue.Queue, collections []string) (all int, err error) {
	for _, name := range collections {
		n, err := q.Pending(name)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

// Park resolves the delete to ids now and keeps it for later, closets first.
// What is deleted then is kept in undo records of its own, one for each entry.
// It gives a *action.RefusedError when no row is meant.
func (d *Delete) Park(ctx context.Context) ([]queue.Entry, error) {
	if r := d.t.routing(); r != nil {
		return nil, r
	}
	v := &survey{t: d.t, s: d.s, open: d.t.Palace.Collection}
	if err := v.run(ctx, nil); err != nil {
		return nil, err
	}
	if v.rows() == 0 {
		return nil, &action.RefusedError{Kind: NothingMatches, Subject: d.t.path(), Reason: fmt.Sprintf("no row is of %s", d.s)}
	}
	var list []queue.Entry
	for _, p := range v.parts {
		for ids := p.IDs; len(ids) > 0; {
			n := min(parkStep, len(ids))
			e, err := d.t.Park(ctx, queue.Entry{Operation: queue.Delete, Collection: p.Name, IDs: ids[:n]})
			if err != nil {
				return list, err
			}
			list, ids = append(list, e), ids[n:]
		}
	}
	return list, nil
}

// parkStep bounds the ids of one entry: with ids of 4 KiB, the longest there
// are, it stays below what a queue takes.
const parkStep = 10_000

// applier makes parked writes.
type applier struct {
	t      Target
	report action.Reporter
	at     func(step string)
}

func newApplier(t Target, report action.Reporter) *applier {
	return &applier{t: t, report: report, at: func(string) {}}
}

// Apply makes one write, or says why not. All of them can be made again without
// harm: an add that may have been made before looks first what is there.
func (a *applier) Apply(ctx context.Context, e queue.Entry) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.report.Log(action.LevelInfo, fmt.Sprintf("%s %s in %s, parked %s", e.Operation, rows(e.Rows), e.Collection, e.QueuedAt.Format("2006-01-02 15:04")))
	w, err := a.t.Palace.Writer(ctx, e.Collection)
	if err != nil {
		return err
	}
	a.at("apply")
	switch e.Operation {
	case queue.Add:
		list := e.Records
		if e.State == queue.StateUnknown {
			if list, err = a.missing(ctx, w, list); err != nil || len(list) == 0 {
				return err
			}
		}
		return w.Add(ctx, list)
	case queue.Upsert:
		return w.Upsert(ctx, e.Records)
	case queue.Update:
		return w.Update(ctx, e.Changes)
	case queue.Delete:
		return a.delete(ctx, w, e)
	}
	return fmt.Errorf("%w: there is no operation %q", queue.ErrInvalid, e.Operation)
}

// missing are the records whose ids are not there.
func (a *applier) missing(ctx context.Context, c backend.Collection, list []backend.Record) ([]backend.Record, error) {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	there := map[string]bool{}
	err := backend.Walk(ctx, c, backend.Query{Filter: backend.Filter{IDs: ids}}, func(r backend.Record) error {
		there[r.ID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var open []backend.Record
	for _, r := range list {
		if !there[r.ID] {
			open = append(open, r)
		}
	}
	return open, nil
}

// delete keeps the rows before they go, as every delete does.
func (a *applier) delete(ctx context.Context, c backend.Collection, e queue.Entry) error {
	v := &survey{t: a.t, s: Selection{IDs: e.IDs, Collection: e.Collection}, met: map[string]bool{}}
	r := &removal{t: a.t, report: a.report, at: a.at}
	title := fmt.Sprintf("Delete %s from %s (parked %s)", counted(len(e.IDs), "id", "ids"), a.t.path(), e.QueuedAt.Format("2006-01-02 15:04"))
	// Only rows of these very ids: they were resolved when it was parked.
	err := r.keep(ctx, "", title, func(ctx context.Context, visit visitor) error { return v.visit(ctx, c, e.IDs, visit) })
	if err != nil || r.rows() == 0 {
		return err
	}
	return r.settle(ctx, &Deleted{}, r.delete(ctx))
}
