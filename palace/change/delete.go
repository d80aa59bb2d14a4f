package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/backend"

	"github.com/dustin/go-humanize"
)

// Delete is the action that removes rows, after keeping them.
type Delete struct {
	t Target
	s Selection
	// at is told of each step that a crash can come before; tests crash there.
	at func(step string)
	// free is freeBytes; tests fill the disk.
	free func(path string) int64
}

// NewDelete makes the action; it looks at nothing yet.
func NewDelete(t Target, s Selection) (*Delete, error) {
	t, err := t.check()
	if err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Delete{t: t, s: s, at: func(string) {}, free: freeBytes}, nil
}

// Subject is the palace, with its lock.
func (d *Delete) Subject() action.Subject { return d.t.subject() }

// rowTime is about what keeping and deleting a row takes: 6,900 drawers of 800
// characters took 3.5 s on two busy cores, and twice that to be put back.
const rowTime = 500 * time.Microsecond

// Plan finds the rows and reads all of them, as they would be kept: so it knows
// to the byte what the record takes, and which rows cannot be put back.
func (d *Delete) Plan(ctx context.Context) (action.Plan, error) {
	p := action.Plan{Title: fmt.Sprintf("Delete %s from %s", d.s, d.t.path()), Mode: d.s.mode(), Risk: action.RiskReversible}
	if d.s.mode() == "wing" {
		// A wing is a person or a project: whoever deletes one types its name.
		// The undo record is there for it as well.
		if *d.s.Wing != "" {
			p.Risk, p.TypedName = action.RiskDestructive, *d.s.Wing
		}
	}
	v := &survey{t: d.t, s: d.s, open: d.t.Palace.Collection}
	var size counter
	lostRows, why := 0, ""
	samples := map[string][]string{}
	err := v.run(ctx, func(collection string, r backend.Record) error {
		if reason := lost(r, d.t.Palace.Kind()); reason != "" {
			lostRows, why = lostRows+1, reason
		}
		if len(samples[collection]) < 3 {
			samples[collection] = append(samples[collection], named(r.ID))
		}
		return writeRow(&size, collection, r)
	})
	if err != nil {
		return p, err
	}
	n := v.rows()
	if n == 0 {
		p.Refusal = &action.RefusedError{Kind: NothingMatches, Subject: d.t.path(), Reason: fmt.Sprintf("no row is of %s", d.s),
			Next: "castellan drawers lists what there is; names are compared exactly"}
		return p, d.t.foresee(ctx, &p)
	}
	store, err := d.t.store()
	if err != nil {
		return p, err
	}
	id, err := store.NewID()
	if err != nil {
		return p, err
	}
	p.Backup = store.Path(id)
	if err := d.t.waiting(&p); err != nil {
		return p, err
	}
	p.Steps = append(p.Steps, fmt.Sprintf("keep %s, %s, in %s", rows(n), humanize.IBytes(uint64(size)), p.Backup),
		"delete "+inBatches(n), "look that they are gone")
	for _, part := range v.parts {
		if err := d.touches(ctx, &p, part, samples[part.Name]); err != nil {
			return p, err
		}
	}
	if lostRows > 0 {
		p.Touches = append(p.Touches, fmt.Sprintf("%s cannot be put back (%s): only the text and metadata are kept", rows(lostRows), why))
	}
	if len(v.absent) > 0 {
		p.Leaves = append(p.Leaves, fmt.Sprintf("%s that no row has: %s", counted(len(v.absent), "id", "ids"), some(v.absent, 3)))
	}
	p.Leaves = append(p.Leaves, "every other row", "the source files", "tunnels, hallways and the knowledge graph")
	p.Estimate = time.Duration(n) * rowTime
	d.disk(&p, int64(size))
	err = d.t.foresee(ctx, &p)
	if p.Refusal != nil && p.Refusal.Kind == LockHeld {
		p.Refusal.Next = "keep the delete for later with --park, " + p.Refusal.Next
	}
	return p, err
}

func (d *Delete) touches(ctx context.Context, p *action.Plan, part part, samples []string) error {
	c, err := d.t.Palace.Collection(ctx, part.Name)
	if err != nil {
		return err
	}
	all, err := c.Count(ctx, backend.Filter{})
	if err != nil {
		return err
	}
	such := ""
	for i, s := range samples {
		such += map[bool]string{true: ": ", false: ", "}[i == 0] + s
	}
	if len(part.IDs) > len(samples) {
		such += fmt.Sprintf(" and %s more", humanize.Comma(int64(len(part.IDs)-len(samples))))
	}
	p.Touches = append(p.Touches, fmt.Sprintf("%s of the %s of %s%s", humanize.Comma(int64(len(part.IDs))), rows(all), part.Name, such))
	return nil
}

// disk holds the size of the record against what is free where it will lie.
// The palace itself grows by next to nothing.
func (d *Delete) disk(p *action.Plan, size int64) {
	p.BytesNeeded = &size
	dir := d.t.StateDir
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	free := d.free(dir)
	if free < 0 {
		return
	}
	p.BytesFree = &free
	if free < size && p.Refusal == nil {
		p.Refusal = &action.RefusedError{Kind: DiskLow, Subject: dir,
			Reason: fmt.Sprintf("keeping the rows takes %s, and %s are free", humanize.IBytes(uint64(size)), humanize.IBytes(uint64(free))), Next: "free some space first"}
	}
}

// Deleted is what a delete did; it is the Detail of the run's Result.
type Deleted struct {
	Collections []Counted `json:"collections"`
	// Undo is the directory of the record; null when nothing was kept.
	Undo *string `json:"undo"`
	// CannotBePutBack counts rows of which only text and metadata are kept.
	CannotBePutBack int `json:"cannot_be_put_back"`
	// NotFound are the ids that no row had.
	NotFound []string `json:"not_found"`
	// AppliedFirst counts the waiting writes that were made before.
	AppliedFirst int `json:"applied_first"`
	// Complete: all rows that were meant are gone.
	Complete bool `json:"complete"`
}

// Counted is rows of one collection.
type Counted struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// Rows adds them up.
func (d *Deleted) Rows() (n int) {
	for _, c := range d.Collections {
		n += c.Rows
	}
	return n
}

// Run settles what waits, looks again, keeps, deletes, and looks once more.
func (d *Delete) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	out := &Deleted{Collections: []Counted{}, NotFound: []string{}}
	err := d.do(ctx, report, out)
	if out.Undo == nil && out.AppliedFirst == 0 && err != nil {
		return action.Result{}, err
	}
	summary := rows(out.Rows()) + " deleted"
	if out.Undo != nil && out.Rows() > 0 {
		summary += "; castellan undo puts them back"
	}
	return action.Result{Summary: summary, Detail: out}, err
}

func (d *Delete) do(ctx context.Context, report action.Reporter, out *Deleted) error {
	if err := report.Phase(action.Phase{N: 1, Of: 4, Name: "look again", CanStop: true}); err != nil {
		return err
	}
	if r := d.t.routing(); r != nil {
		return r
	}
	drained, err := d.t.settle(ctx, report, d.collections()...)
	out.AppliedFirst = drained.Applied
	if err != nil {
		return err
	}
	if err := report.Phase(action.Phase{N: 2, Of: 4, Name: "keep what goes", CanStop: true}); err != nil {
		return err
	}
	v := &survey{t: d.t, s: d.s, open: d.t.writers()}
	r := &removal{t: d.t, report: report, at: d.at}
	planned := report.Plan()
	if err := r.keep(ctx, filepath.Base(planned.Backup), planned.Title, v.run); err != nil {
		return err
	}
	out.NotFound = append(out.NotFound, v.absent...)
	if r.rows() == 0 {
		report.Log(action.LevelInfo, "no such row is there any more")
		out.Complete = true
		return nil
	}
	path := r.store.Path(r.entry.ID)
	out.Undo, out.CannotBePutBack = &path, r.lost
	if path != planned.Backup {
		report.Log(action.LevelInfo, "the undo record is "+path)
	}
	if err := report.Phase(action.Phase{N: 3, Of: 4, Name: "delete", CanStop: true}); err != nil {
		return r.settle(ctx, out, err)
	}
	if err := r.delete(ctx); err != nil {
		return r.settle(ctx, out, err)
	}
	if err := report.Phase(action.Phase{N: 4, Of: 4, Name: "verify", CanStop: false}); err != nil {
		return r.settle(ctx, out, err)
	}
	if err := r.settle(ctx, out, nil); err != nil {
		return err
	}
	out.Complete = true
	return nil
}

// collections are those that the delete may write to.
func (d *Delete) collections() []string {
	if d.s.Collection != "" {
		return []string{d.s.Collection}
	}
	return []string{d.t.Closets, d.t.Drawers}
}

// kindDelete is this action's in undo records.
const kindDelete = undo.Delete
