package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/change"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"

	"github.com/dustin/go-humanize"
)

// Restorer puts back what a repair replaced; change.NewUndo takes it.
type Restorer struct {
	// at is told of each step; tests stop there.
	at func(step string) error
}

var _ change.Restorer = Restorer{}

// Kind is undo.Repair.
func (Restorer) Kind() undo.Kind { return undo.Repair }

// undoing is a repair that is taken back.
type undoing struct {
	r    *Repair
	kept kept
	m    *manifest
	// j is the journal, where the repair was cut short.
	j *journal
	// after is what the palace was when the repair was done with it; nil = not
	// known.
	after *print
}

func (x Restorer) open(ctx context.Context, t change.Target, s *undo.Store, e undo.Entry) (*undoing, error) {
	f, err := s.Open(e, keptFile)
	if err != nil {
		return nil, err
	}
	u := &undoing{}
	err = json.NewDecoder(io.LimitReader(f, maxJournal)).Decode(&u.kept)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	u.r = &Repair{
		o:    Options{Manager: t.Manager, Observer: t.Watch, StateDir: t.StateDir, Now: t.Now},
		site: t.Manager.Examine(ctx, t.Palace.Ref().Path), dir: t.Palace.Ref().Real,
		at: func(string) error { return nil },
	}
	if x.at != nil {
		u.r.at = x.at
	}
	if u.r.o.Now == nil {
		u.r.o.Now = time.Now
	}
	if u.r.o.Observer == nil {
		u.r.o.Observer = locks.NewObserver(locks.Options{SampleInterval: -1})
	}
	if u.m, err = readManifest(u.kept.Backup); err != nil {
		return nil, refuse(BackupUnusable, u.kept.Backup, "look for another copy: castellan backups list", "the copy that was taken before the repair cannot be read: %v", err)
	}
	if u.j, err = readJournal(t.StateDir, t.Key()); err != nil {
		return nil, err
	}
	if u.j != nil && u.j.Undo != e.ID {
		u.j = nil
	}
	switch {
	case e.Outcome != nil:
		var o outcome
		if err := json.Unmarshal(e.Outcome, &o); err != nil {
			return nil, err
		}
		u.after = &o.After
	case u.j != nil:
		u.after = u.j.After
	}
	return u, nil
}

// untouched refuses where somebody has written since: the copy does not hold
// what they wrote.
func (u *undoing) untouched(ctx context.Context) error {
	p, err := chroma.Open(ctx, u.r.dir, chroma.Options{})
	if err != nil {
		return err
	}
	defer p.Close()
	now, err := printOf(ctx, p)
	if err != nil {
		return err
	}
	if now.equal(u.m.Print) || u.after != nil && now.equal(*u.after) {
		return nil
	}
	since := u.m.Print.QueueTop
	if u.after != nil {
		since = u.after.QueueTop
	}
	writes := int64(0)
	err = p.DB().View(ctx, func(tx *dbfile.Tx) error {
		return tx.QueryRow(ctx, "SELECT count(*) FROM embeddings_queue WHERE seq_id > ?", []any{since}, &writes)
	})
	if err != nil {
		return err
	}
	next := "export what was filed since, or keep the repaired palace; the copy stays in " + u.kept.Backup
	if u.after == nil {
		next = "castellan repair finishes the repair that was cut short; then undo"
	}
	return refuse(WrittenSince, u.r.path(), next, "%s since the repair would be lost", count(writes, "write that was made", "writes that were made"))
}

// Plan says what would be put back.
func (x Restorer) Plan(ctx context.Context, t change.Target, s *undo.Store, e undo.Entry) (action.Plan, error) {
	p := action.Plan{Title: "Undo the repair of " + t.Palace.Ref().Path, Risk: action.RiskReversible}
	u, err := x.open(ctx, t, s, e)
	if err != nil {
		return p, err
	}
	p.Reason = fmt.Sprintf("the repair of %s (%s) is taken back; the palace will be as sick as it was", e.At.Local().Format(time.DateTime), joined(u.kept.Modes))
	p.Steps = []string{"verify the copy " + u.kept.Backup, "put the rows of the copy into the database, in one transaction"}
	p.Touches = []string{filepath.Join(u.r.dir, chroma.DatabaseFile)}
	for _, dir := range u.m.dirs() {
		p.Steps = append(p.Steps, "exchange "+dir+" with that of the copy")
		p.Touches = append(p.Touches, filepath.Join(u.r.dir, dir))
	}
	p.Leaves = []string{u.kept.Backup}
	bytes := allocated([]string{u.kept.Backup})
	for _, dir := range u.m.dirs() {
		bytes += allocated([]string{filepath.Join(u.kept.Backup, dir)})
	}
	p.BytesNeeded = &bytes
	if free := freeBytes(u.r.dir); free >= 0 {
		p.BytesFree = &free
		if free < bytes+spare {
			p.Refusal = refuse(DiskLow, filepath.Dir(u.r.dir), "free space there", "%s are needed and %s are free", humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(free)))
			return p, nil
		}
	}
	if v, err := u.r.view(ctx); err != nil {
		return p, err
	} else if p.Refusal = u.r.inUse(v); p.Refusal != nil {
		return p, nil
	}
	return p, u.untouched(ctx)
}

// Run puts it back.
func (x Restorer) Run(ctx context.Context, t change.Target, s *undo.Store, e undo.Entry, report action.Reporter) (action.Result, error) {
	u, err := x.open(ctx, t, s, e)
	if err != nil {
		return action.Result{}, err
	}
	if err := report.Phase(action.Phase{N: 1, Of: 2, Name: "look again", CanStop: true}); err != nil {
		return action.Result{}, err
	}
	if err := u.untouched(ctx); err != nil {
		return action.Result{}, err
	}
	if err := report.Phase(action.Phase{N: 2, Of: 2, Name: "put the copy back"}); err != nil {
		return action.Result{}, err
	}
	work := filepath.Join(u.r.dir, palace.RepairDir+"undo-"+e.ID)
	if err := u.r.putBack(ctx, u.kept.Backup, work, u.r.at); err != nil {
		return action.Result{}, err
	}
	if u.j != nil { // the repair that was cut short is over
		if err := errors.Join(u.r.clear(u.j), u.j.remove(t.StateDir, t.Key())); err != nil {
			return action.Result{}, err
		}
	}
	return action.Result{Summary: "the palace is as it was before the repair; the copy stays in " + u.kept.Backup,
		Detail: &PutBack{Backup: u.kept.Backup, Palace: u.r.dir}}, nil
}

// PutBack is the result of an undone repair.
type PutBack struct {
	Palace string `json:"palace"`
	Backup string `json:"backup"`
}
