package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/chroma"
)

// running is a repair under way.
type running struct {
	r      *Repair
	j      *journal
	report action.Reporter
	result *Result
	work   string
	n, of  int
	// changed says that something of the palace was.
	changed bool
	// owned says that this run made the backup.
	owned bool
}

func (run *running) at(step string) error { return run.r.at(step) }

func (run *running) phase(name string, canStop bool) error {
	run.n++
	run.of = max(run.of, run.n)
	return run.report.Phase(action.Phase{N: run.n, Of: run.of, Name: name, CanStop: canStop})
}

// aloneStill looks again, right before what somebody who came meanwhile would
// trip over.
func (run *running) aloneStill(ctx context.Context) error {
	alone, err := run.r.alone(ctx)
	if err == nil && !alone {
		err = refuse(InUse, run.r.path(), "castellan close, then repair again: it goes on from there", "another process has opened the palace meanwhile")
	}
	return err
}

// mend runs do in one transaction; when it fails nothing of it was done.
func (run *running) mend(ctx context.Context, pt *patient, do func(*chroma.Mending) error) error {
	if err := pt.w.Mend(ctx, do); err != nil {
		return err
	}
	run.changed = true
	return nil
}

// abandon takes the scaffolding down when nothing of the palace was changed: a
// full disk must not be left fuller.
func (run *running) abandon() error {
	j := run.j
	if j == nil || run.changed {
		return nil
	}
	r := run.r
	var errs []error
	if j.Undo != "" {
		s, err := undo.Open(r.o.StateDir, r.key(), undo.Options{Now: r.o.Now})
		if err == nil {
			err = s.MarkUndone(j.Undo)
		}
		errs = append(errs, err)
	}
	errs = append(errs, r.clear(j))
	if run.owned {
		errs = append(errs, os.RemoveAll(j.Backup))
	}
	return errors.Join(append(errs, j.remove(r.o.StateDir, r.key()))...)
}

// save writes the journal.
func (run *running) save() error {
	if err := run.at("journal"); err != nil {
		return err
	}
	return run.j.write(run.r.o.StateDir, run.r.key())
}

// Run does it, under the palace's lease, after it has looked at everything
// again.
func (r *Repair) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	if report.Plan().Mode == string(FromSQLite) {
		res, err := r.rebuild(ctx, report)
		if refused := r.refusal(err); refused != nil {
			err = refused
		}
		return res, err
	}
	run := &running{r: r, report: report, result: &Result{}, of: 4}
	if r.o.BackupOnly {
		return run.backUp(ctx)
	}
	err := run.do(ctx)
	if err == nil {
		return action.Result{Summary: run.result.Summary(), Detail: run.result}, nil
	}
	err = errors.Join(run.explain(err), run.abandon())
	if !run.changed {
		return action.Result{}, err
	}
	return action.Result{Summary: "not finished", Detail: run.result}, err
}

// explain says in what state the palace is left.
func (run *running) explain(err error) error {
	if refused := run.r.refusal(err); refused != nil {
		err = refused
	}
	switch {
	case !run.changed:
		return err
	case run.result.RolledBack:
		return fmt.Errorf("the palace is as it was before: %w", err)
	}
	return fmt.Errorf("the repair is not finished, and the palace can be opened as it is: %w; repair again to finish it, or castellan undo; the copy is %s", err, run.j.Backup)
}

func (run *running) do(ctx context.Context) (err error) {
	r := run.r
	if err := run.phase("look again", true); err != nil {
		return err
	}
	r.site = r.o.Manager.Examine(ctx, r.o.Found.Ref.Path)
	if refused := r.unfit(); refused != nil {
		return refused
	}
	if refused := r.pythonless(ctx); refused != nil {
		return refused
	}
	old, err := readJournal(r.o.StateDir, r.key())
	if err != nil {
		return err
	}
	v, err := r.view(ctx)
	if err != nil {
		return err
	}
	if refused := r.inUse(v); refused != nil {
		return refused
	}
	var plan action.Plan
	modes, err := r.choose(ctx, &plan, old)
	if err != nil {
		return err
	}
	if plan.Refusal != nil {
		return plan.Refusal
	}
	if agreed := agreedTo(run.report.Plan()); !slices.Equal(modes, agreed) && old == nil {
		return refuse(Changed, r.path(), "look at the plan again", "the findings call for %s now, and the plan was for %s", joined(modes), joined(agreed))
	}
	pt, err := r.admit(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pt.discharge()) }()
	if refused := r.unsound(pt); refused != nil {
		return refused
	}
	if err := r.describe(ctx, &plan, pt, modes, old); err != nil {
		return err
	}
	if plan.Refusal != nil {
		return plan.Refusal
	}
	run.result.Before = states(pt.facts)
	if err := run.begin(ctx, pt, modes, old, plan); err != nil {
		return err
	}
	if err := run.keepUndo(); err != nil {
		return err
	}
	return run.treat(ctx, pt, modes)
}

// backUp takes the copy and nothing else. It changes nothing, so it needs
// neither lock nor journal.
func (run *running) backUp(ctx context.Context) (action.Result, error) {
	r := run.r
	if err := run.phase("copy the palace", true); err != nil {
		return action.Result{}, err
	}
	pt, err := r.admit(ctx)
	if err != nil {
		return action.Result{}, err
	}
	run.result.Before = states(pt.facts)
	run.result.Backup = run.report.Plan().Backup
	_, err = r.takeBackup(ctx, pt, run.result.Backup, "asked for", pt.segmentDirs())
	if err = errors.Join(err, pt.discharge()); err != nil {
		if refused := r.refusal(err); refused != nil {
			err = refused
		}
		return action.Result{}, err
	}
	run.result.After, run.result.Verified.Backup = run.result.Before, true
	return action.Result{Summary: "copied to " + run.result.Backup, Detail: run.result}, nil
}

// agreedTo reads the modes of a plan.
func agreedTo(p action.Plan) []Mode {
	var list []Mode
	for _, m := range Modes() {
		for _, word := range splitModes(p.Mode) {
			if word == m {
				list = append(list, m)
			}
		}
	}
	return list
}

// begin writes the journal, and sees to a backup that is whole.
func (run *running) begin(ctx context.Context, pt *patient, modes []Mode, old *journal, plan action.Plan) error {
	r := run.r
	j := old
	if j != nil && !j.BackedUp {
		// Nothing was changed. What there is of its backup has no description.
		if _, err := readManifest(j.Backup); err != nil && filepath.Dir(j.Backup) == filepath.Dir(r.dir) {
			if err := os.RemoveAll(j.Backup); err != nil {
				return err
			}
		}
		j = nil
	}
	if j == nil {
		backup := run.report.Plan().Backup
		if backup == "" || old != nil {
			backup = plan.Backup
		}
		stamp := r.o.Now().Format(stampForm)
		j = &journal{Version: journalVersion, ID: stamp, Palace: r.dir, Started: r.o.Now().UTC(), Modes: modes,
			Backup: backup, Work: filepath.Join(r.dir, palace.RepairDir+stamp)}
	}
	j.Modes = merged(j.Modes, modes)
	j.Done = slices.DeleteFunc(j.Done, func(m Mode) bool { return slices.Contains(modes, m) })
	run.j, run.work = j, j.Work
	run.result.Backup = j.Backup
	run.changed = j.BackedUp
	if err := run.save(); err != nil {
		return err
	}
	if j.BackedUp {
		run.report.Log(action.LevelInfo, "going on with the copy that the first attempt took: "+j.Backup)
	} else {
		if err := run.phase("copy the palace", true); err != nil {
			return err
		}
		dirs := pt.segmentDirs()
		if _, err := r.takeBackup(ctx, pt, j.Backup, "before "+joined(modes), dirs); err != nil {
			return err
		}
		run.owned = true
		j.BackedUp = true
		if err := run.save(); err != nil {
			return err
		}
	}
	run.result.Verified.Backup = true
	if err := os.Mkdir(run.work, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return sameOwner(run.work, r.dir)
}

// kept is what an undo record says of a repair.
type kept struct {
	Backup string `json:"backup"`
	Modes  []Mode `json:"modes"`
}

// outcome is what the palace was when the repair was over.
type outcome struct {
	After print `json:"after"`
}

const keptFile = "repair.json"

// keepUndo records the repair among the changes that can be undone.
func (run *running) keepUndo() error {
	if run.j.Undo != "" {
		run.result.Undo = run.j.Undo
		return nil
	}
	if err := run.at("undo record"); err != nil {
		return err
	}
	s, err := undo.Open(run.r.o.StateDir, run.r.key(), undo.Options{Now: run.r.o.Now})
	if err != nil {
		return err
	}
	id, err := s.NewID()
	if err != nil {
		return err
	}
	d, err := s.Begin(id, undo.Repair, run.r.path(), "Repair "+run.r.path()+": "+joined(run.j.Modes))
	if err != nil {
		return err
	}
	if err := writeKept(d, kept{Backup: run.j.Backup, Modes: run.j.Modes}); err != nil {
		return errors.Join(err, d.Discard())
	}
	if _, err := d.Commit("the palace before it, in " + run.j.Backup); err != nil {
		return errors.Join(err, d.Discard())
	}
	run.j.Undo, run.result.Undo = id, id
	return run.save()
}

func writeKept(d *undo.Draft, k kept) error {
	w, err := d.Create(keptFile)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(w).Encode(k), w.Close())
}

// treat does one mode after the other, and holds the palace against what it was
// after each.
func (run *running) treat(ctx context.Context, pt *patient, modes []Mode) error {
	r := run.r
	before, err := run.sample(ctx, pt)
	if err != nil {
		return err
	}
	for _, m := range modes {
		t := r.treatment(m)
		if t == nil {
			return r.unable(m)
		}
		now, err := r.admit(ctx)
		if err != nil {
			return err
		}
		w, err := t.prepare(ctx, now)
		if err == nil && !w.none {
			err = t.perform(ctx, now, run)
		}
		if err = errors.Join(err, now.discharge()); err != nil {
			return err
		}
		before, err = run.check(ctx, m, t, before)
		if err != nil {
			return err
		}
		run.j.Done = append(run.j.Done, m)
		run.j.After = &before.print
		if err := run.save(); err != nil {
			return err
		}
	}
	err = run.verify(ctx)
	var wrong *action.RefusedError
	if errors.As(err, &wrong) && wrong.Kind == NotVerified {
		return run.rollBack(ctx, err)
	}
	if err != nil {
		return err
	}
	return run.finish()
}

// finish notes what the palace is now, and takes the scaffolding down.
func (run *running) finish() error {
	r := run.r
	if err := run.at("finish"); err != nil {
		return err
	}
	if run.j.Undo != "" && run.j.After != nil {
		s, err := undo.Open(r.o.StateDir, r.key(), undo.Options{Now: r.o.Now})
		if err == nil {
			err = s.Settle(run.j.Undo, outcome{After: *run.j.After})
		}
		if err != nil {
			return err
		}
	}
	if err := r.clear(run.j); err != nil {
		return err
	}
	if err := run.at("end journal"); err != nil {
		return err
	}
	return run.j.remove(r.o.StateDir, r.key())
}
