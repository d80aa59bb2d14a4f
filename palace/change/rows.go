package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/backend"
)

// rowRestorer puts deleted rows back.
type rowRestorer struct{}

// Kind is that of deletes.
func (rowRestorer) Kind() undo.Kind { return kindDelete }

// PutBack is what an undo of a delete did; it is the Detail of the run's
// Result.
type PutBack struct {
	Collections []Counted `json:"collections"`
	// AlreadyThere counts rows that were there, as they had been.
	AlreadyThere int `json:"already_there"`
	// CannotBePutBack counts rows without a vector, or with text that no engine
	// takes; what there is of them stays in the record.
	CannotBePutBack int    `json:"cannot_be_put_back"`
	Undo            string `json:"undo"` // the record's directory
}

// comparison is a record held against the palace.
type comparison struct {
	absent, same, changed, lost int
	why                         string // of a lost one
	examples                    []string
	collections                 []string
}

// compare looks, batch by batch, which rows of a record are there. Every row
// that is missing, and can be written, goes to restore; nil = it is counted.
func compare(ctx context.Context, t Target, s *undo.Store, e undo.Entry, restore func(ctx context.Context, c backend.Collection, list []backend.Record) error) (comparison, error) {
	var cmp comparison
	left, err := deletedRows(s, e)
	if err != nil {
		return cmp, err
	}
	var batch []backend.Record
	name := ""
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		defer func() { batch = nil }()
		c, err := t.Palace.Collection(ctx, name)
		if err != nil {
			return err
		}
		if !slices.Contains(cmp.collections, name) {
			cmp.collections = append(cmp.collections, name)
		}
		missing, err := cmp.look(ctx, t, c, batch)
		if err != nil || restore == nil || len(missing) == 0 {
			return err
		}
		return restore(ctx, c, missing)
	}
	err = readRows(s, e, func(collection string, r backend.Record) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if left == 0 {
			return nil // it was never deleted
		}
		left--
		if collection != name || len(batch) == step {
			if err := flush(); err != nil {
				return err
			}
			name = collection
		}
		batch = append(batch, r)
		return nil
	})
	if err != nil {
		return cmp, err
	}
	return cmp, flush()
}

// deletedRows is how many rows of a record, from the first, were deleted: all
// of them, as far as is known, where the delete was cut short.
func deletedRows(s *undo.Store, e undo.Entry) (int64, error) {
	if e.Outcome == nil {
		return math.MaxInt64, nil
	}
	var o outcome
	if err := json.Unmarshal(e.Outcome, &o); err != nil || o.Rows < 0 {
		return 0, &undo.DamagedError{Path: s.Path(e.ID), Reason: "how far the delete got cannot be read", Err: err}
	}
	return int64(o.Rows), nil
}

// look sorts rows into those that are missing, which it gives, and the others.
func (cmp *comparison) look(ctx context.Context, t Target, c backend.Collection, list []backend.Record) ([]backend.Record, error) {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	there := map[string]backend.Record{}
	err := backend.Walk(ctx, c, backend.Query{Filter: backend.Filter{IDs: ids}, Include: everything}, func(r backend.Record) error {
		there[r.ID] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	var missing []backend.Record
	for _, r := range list {
		now, ok := there[r.ID]
		why := lost(r, t.Palace.Kind())
		if d := c.Info().Dimension; why == "" && d != nil && len(r.Embedding) != *d {
			why = fmt.Sprintf("its vector has %d dimensions, the collection %d by now", len(r.Embedding), *d)
		}
		switch {
		case ok && same(r, now):
			cmp.same++
		case ok:
			cmp.changed++
			cmp.examples = append(cmp.examples, r.ID)
		case why != "":
			cmp.lost++
			cmp.why = why
		default:
			cmp.absent++
			missing = append(missing, r)
		}
	}
	return missing, nil
}

// refuse gives the reason not to put anything back; nil when there is none.
func (cmp *comparison) refuse(subject string) error {
	if cmp.changed == 0 {
		return nil
	}
	return &action.RefusedError{Kind: IDsInUse, Subject: subject,
		Reason: fmt.Sprintf("%s written since under the ids that were deleted (%s): putting the old ones back would replace them, and what was written since would be lost",
			counted(cmp.changed, "row was", "rows were"), some(cmp.examples, 3)),
		Next: "delete these first if the old rows are the ones you want; both deletes can be undone then"}
}

// Plan compares the record with the palace.
func (rowRestorer) Plan(ctx context.Context, t Target, s *undo.Store, e undo.Entry) (action.Plan, error) {
	p := action.Plan{Title: fmt.Sprintf("Put back what was deleted from %s on %s", t.path(), e.At.Local().Format("2006-01-02 15:04")), Risk: action.RiskReversible, Reason: e.Title}
	cmp, err := compare(ctx, t, s, e, nil)
	if err != nil {
		return p, err
	}
	if err := t.waiting(&p); err != nil {
		return p, err
	}
	p.Steps = append(p.Steps, "put back "+inBatches(cmp.absent), "look that they are there as they were")
	p.Touches = append(p.Touches, cmp.collections...)
	if cmp.same > 0 {
		p.Leaves = append(p.Leaves, rows(cmp.same)+" of them that are there, as they were")
	}
	if cmp.lost > 0 {
		p.Leaves = append(p.Leaves, fmt.Sprintf("%s that cannot be put back (%s): what is kept of them stays in the record", rows(cmp.lost), cmp.why))
	}
	p.Leaves = append(p.Leaves, "every other row", "the undo record")
	p.Estimate = 2 * rowTime * time.Duration(cmp.absent)
	return p, cmp.refuse(t.path())
}

// Run settles what waits, compares again, and only then writes.
func (rowRestorer) Run(ctx context.Context, t Target, s *undo.Store, e undo.Entry, report action.Reporter) (action.Result, error) {
	if err := report.Phase(action.Phase{N: 1, Of: 3, Name: "look again", CanStop: true}); err != nil {
		return action.Result{}, err
	}
	cmp, err := compare(ctx, t, s, e, nil)
	if err != nil {
		return action.Result{}, err
	}
	drained, err := t.settle(ctx, report, cmp.collections...)
	if err != nil {
		return action.Result{}, err
	}
	if drained.Applied > 0 {
		if cmp, err = compare(ctx, t, s, e, nil); err != nil {
			return action.Result{}, err
		}
	}
	if err := cmp.refuse(t.path()); err != nil {
		return action.Result{}, err
	}
	if err := report.Phase(action.Phase{N: 2, Of: 3, Name: "put back", CanStop: true}); err != nil {
		return action.Result{}, err
	}
	w := &putting{t: t, report: report, all: cmp.absent, out: PutBack{Collections: []Counted{}, AlreadyThere: cmp.same, CannotBePutBack: cmp.lost, Undo: s.Path(e.ID)}}
	_, err = compare(ctx, t, s, e, w.batch)
	if err == nil {
		err = report.Phase(action.Phase{N: 3, Of: 3, Name: "verify", CanStop: true})
	}
	if err == nil {
		err = w.verify(ctx, s, e)
	}
	summary := rows(w.done) + " put back"
	if w.out.CannotBePutBack > 0 {
		summary += fmt.Sprintf("; %s could not be: what is kept of them is in %s", rows(w.out.CannotBePutBack), w.out.Undo)
	}
	return action.Result{Summary: summary, Detail: &w.out}, err
}

// putting writes rows back.
type putting struct {
	t         Target
	report    action.Reporter
	done, all int
	refused   int // by the engine, beside those that compare knows
	out       PutBack
}

// batch writes one batch. A row that the engine does not take is left out and
// told; the others of its batch are written.
func (p *putting) batch(ctx context.Context, c backend.Collection, list []backend.Record) error {
	name := c.Info().Name
	w, err := p.t.Palace.Writer(ctx, name)
	if err != nil {
		return err
	}
	for len(list) > 0 {
		err := w.Upsert(ctx, list)
		var bad *backend.InvalidRecordError
		if errors.As(err, &bad) && bad.Index >= 0 && bad.Index < len(list) {
			p.report.Log(action.LevelWarn, fmt.Sprintf("%s cannot be put back: %s", named(bad.ID), bad.Reason))
			list = slices.Delete(list, bad.Index, bad.Index+1)
			p.refused++
			p.out.CannotBePutBack++
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	i := slices.IndexFunc(p.out.Collections, func(c Counted) bool { return c.Name == name })
	if i < 0 {
		i = len(p.out.Collections)
		p.out.Collections = append(p.out.Collections, Counted{Name: name})
	}
	p.out.Collections[i].Rows += len(list)
	p.done += len(list)
	p.report.Progress(int64(p.done), int64(p.all), "rows")
	return nil
}

// verify looks that every row is there, as it was.
func (p *putting) verify(ctx context.Context, s *undo.Store, e undo.Entry) error {
	cmp, err := compare(ctx, p.t, s, e, nil)
	if err != nil {
		return err
	}
	if cmp.changed > 0 || cmp.absent != p.refused {
		return &action.RefusedError{Kind: NotVerified, Subject: p.t.path(),
			Reason: fmt.Sprintf("of the rows that were put back %d are not there and %d are not what they were", cmp.absent-p.refused, cmp.changed),
			Next:   "castellan doctor says what is wrong; the record of all rows is " + p.out.Undo}
	}
	return nil
}

// same reports that a row is what it was. Chroma divides the vectors of an
// index by their length when it takes them in, so theirs may differ in the last
// digits.
func same(a, b backend.Record) bool {
	text := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	if a.ID != b.ID || text(a.Document) != text(b.Document) || text(a.URI) != text(b.URI) || len(a.Metadata) != len(b.Metadata) {
		return false
	}
	if len(a.Metadata) > 0 && !reflect.DeepEqual(a.Metadata, b.Metadata) {
		return false
	}
	if len(a.Embedding) != len(b.Embedding) {
		return false
	}
	var apart, length float64
	for i, x := range a.Embedding {
		d := float64(x) - float64(b.Embedding[i])
		apart += d * d
		length += float64(x) * float64(x)
	}
	return apart <= 1e-10*length
}
