package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/health"
	"castellan/palace/hnswlib"

	"github.com/dustin/go-humanize"
)

// Plan looks at everything and says what would be done. It touches nothing.
func (r *Repair) Plan(ctx context.Context) (action.Plan, error) {
	p := action.Plan{Title: "Repair " + r.path(), Risk: action.RiskReversible, Mode: string(r.o.Mode)}
	if r.o.BackupOnly {
		p.Title, p.Mode, p.Risk = "Back up "+r.path(), "backup-only", action.RiskNone
	}
	if p.Refusal = r.unfit(); p.Refusal != nil {
		return p, nil
	}
	var j *journal
	if !r.o.BackupOnly {
		var err error
		if j, err = readJournal(r.o.StateDir, r.key()); err != nil {
			return p, err
		}
	}
	modes, err := r.choose(ctx, &p, j)
	if err != nil || p.Refusal != nil {
		return p, err
	}
	if slices.Equal(modes, []Mode{FromSQLite}) {
		if err := r.planRebuild(ctx, &p); err != nil {
			if p.Refusal = r.refusal(err); p.Refusal == nil {
				return p, err
			}
		}
		return p, r.foresee(ctx, &p)
	}
	pt, err := r.admit(ctx)
	if err != nil {
		if p.Refusal = r.refusal(err); p.Refusal != nil {
			return p, nil
		}
		return p, err
	}
	defer pt.discharge()
	if p.Refusal = r.unsound(pt); p.Refusal != nil {
		return p, nil
	}
	if err := r.describe(ctx, &p, pt, modes, j); err != nil {
		if p.Refusal = r.refusal(err); p.Refusal == nil {
			return p, err
		}
		if p.Refusal.Kind != NothingToRepair {
			return p, nil
		}
	}
	return p, r.foresee(ctx, &p)
}

// unfit refuses what is no palace of an embedded Chroma that can be written to.
func (r *Repair) unfit() *action.RefusedError {
	s := &r.site
	switch {
	case s.Ref.Kind == backend.ChromaHTTP || r.o.Found.Ref.Kind == backend.ChromaHTTP:
		return refuse(UnsupportedBackend, r.path(), "stop the server and repair its directory", "it is behind a server, which owns the files")
	case s.State != palace.OK:
		next := "name another palace"
		if s.State == palace.Unreadable {
			next = "put a backup back: castellan backups restore"
		}
		return &action.RefusedError{Kind: NoPalace, Subject: r.path(), Reason: s.Explain(), Next: next, Err: s.Err}
	case s.Ref.Kind != backend.Chroma:
		return refuse(UnsupportedBackend, r.path(), "castellan export reads it", "it is kept by %s, which has none of what is repaired here", s.Ref.Kind)
	case s.ReadOnly:
		return refuse(ReadOnly, r.path(), "run it as the user who owns the palace", "this user cannot write there")
	}
	if err := r.o.Manager.AllowsWrites(r.path()); err != nil && !r.o.BackupOnly {
		return &action.RefusedError{Kind: WriteRouting, Subject: r.path(), Reason: err.Error(), Next: "set the write routing to direct or prefer, or use mempalace", Err: err}
	}
	return nil
}

// choose finds the modes, and says why.
func (r *Repair) choose(ctx context.Context, p *action.Plan, j *journal) ([]Mode, error) {
	if j != nil && slices.Contains(j.Modes, restoreMode) {
		p.Refusal = refuse(Changed, r.path(), "castellan backups restore finishes it, castellan undo takes it back", "the restoring of a copy was cut short (%s)", j.Started.Local().Format(time.DateTime))
		return nil, nil
	}
	if j != nil {
		p.Reason = fmt.Sprintf("a repair of %s was cut short (%s); this finishes it. ", j.Started.Format(time.DateTime), joined(j.Modes))
	}
	if r.o.BackupOnly {
		p.Reason += "a copy was asked for"
		return nil, nil
	}
	report := r.o.Examiner.Report(ctx, r.o.Found, health.Full)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	do, offer := Called(report.Findings)
	if r.o.Mode != "" {
		do, offer = []Mode{r.o.Mode}, nil
	}
	var why []string
	for _, f := range report.Findings {
		if f.Remedy != nil && slices.Contains(do, Mode(f.Remedy.Mode)) {
			why = append(why, f.Cause)
		}
	}
	if j != nil {
		do = merged(do, j.left())
	}
	p.Mode = joined(do)
	if len(why) == 0 && r.o.Mode != "" {
		why = []string{"it was asked for"}
	}
	p.Reason += strings.Join(why, "; ")
	for _, m := range offer {
		p.Leaves = append(p.Leaves, fmt.Sprintf("what --mode %s would tidy", m))
	}
	if len(do) == 0 && j == nil {
		p.Refusal = refuse(NothingToRepair, r.path(), "castellan doctor tells what was looked at", "no finding calls for a repair")
		if len(offer) > 0 {
			p.Refusal.Next = "to tidy up, name a mode: " + joined(offer)
		}
	}
	return do, nil
}

func merged(a, b []Mode) []Mode {
	var all []Mode
	for _, m := range Modes() {
		if slices.Contains(a, m) || slices.Contains(b, m) {
			all = append(all, m)
		}
	}
	if slices.Contains(a, restoreMode) || slices.Contains(b, restoreMode) {
		all = append(all, restoreMode)
	}
	return all
}

// unsound refuses a database that no repair can start from.
func (r *Repair) unsound(pt *patient) *action.RefusedError {
	f := pt.facts
	switch {
	case !f.Schema.Known() || len(f.Schema.Altered) > 0:
		return refuse(SchemaUnknown, r.path(), "use the program that made it; castellan export reads it",
			"another Chroma than the known ones made it: %s", strings.Join(slices.Concat(f.Schema.Newer, f.Schema.Unknown, f.Schema.Altered), ", "))
	case len(f.Schema.MissingTables) > 0:
		return refuse(SchemaUnknown, r.path(), "put a backup back: castellan backups restore", "it lacks tables every Chroma has: %s", strings.Join(f.Schema.MissingTables, ", "))
	case len(f.Unread) > 0:
		u := f.Unread[0]
		return &action.RefusedError{Kind: DatabaseDamaged, Subject: r.path(), Err: u.Err,
			Reason: fmt.Sprintf("the database is damaged: %s could not be read as it should be; writing to it may make that worse", u.Question),
			Next:   "castellan export what can be read, or put a backup back: castellan backups restore"}
	}
	return nil
}

// describe fills in the plan from what each mode has to do.
func (r *Repair) describe(ctx context.Context, p *action.Plan, pt *patient, modes []Mode, j *journal) error {
	var dirs []string
	var bytes, temp int64
	touched := map[string]bool{}
	none, lost := true, 0
	steps := []string{}
	for _, m := range modes {
		t := r.treatment(m)
		if t == nil {
			return r.unable(m)
		}
		w, err := t.prepare(ctx, pt)
		if err != nil {
			return err
		}
		lost += w.lost
		for _, n := range w.notes {
			p.Reason += "; " + n
		}
		if w.none {
			continue
		}
		none = false
		steps = append(steps, w.steps...)
		for _, path := range w.touches {
			if !touched[path] {
				touched[path] = true
				p.Touches = append(p.Touches, path)
			}
		}
		dirs = append(dirs, w.dirs...)
		bytes, temp, p.Estimate = bytes+w.bytes, max(temp, w.temp), p.Estimate+w.estimate
	}
	if none && lost > 0 && j == nil {
		return refuse(NeedsModel, r.path(), "file their sources again with mempalace mine, or put a backup back: castellan backups list",
			"the vectors of %s exist nowhere, in the index, the queue, or a copy; they have to be made from the texts", count(int64(lost), "drawer", "drawers"))
	}
	if none && j == nil && !r.o.BackupOnly {
		return refuse(NothingToRepair, r.path(), "castellan doctor tells what was looked at", "there is nothing that --mode %s would change", p.Mode)
	}
	if r.o.BackupOnly {
		dirs = pt.segmentDirs()
	}
	p.Backup = r.backupName()
	if j != nil && j.BackedUp {
		p.Backup = j.Backup
		p.Steps = append(p.Steps, "keep the backup that the first attempt took: "+p.Backup)
	} else {
		p.Steps = append(p.Steps, fmt.Sprintf("copy the database and %s to %s, and verify the copy", count(int64(len(dirs)), "index directory", "index directories"), p.Backup))
		bytes += pt.databaseBytes() + allocated(dirs)
	}
	if r.o.Python != "" {
		bytes += pt.databaseBytes() + allocated(pt.segmentDirs())
	}
	p.Steps = append(p.Steps, steps...)
	if !r.o.BackupOnly {
		p.Steps = append(p.Steps, "verify: the database and its full-text index, which drawers a search can reach, a sample of texts and vectors against the copy")
		if r.o.Python != "" {
			p.Steps = append(p.Steps, "open it with the chromadb of "+r.o.Python+", count, get and query")
		}
	}
	r.leaves(p)
	free := freeBytes(r.dir)
	p.BytesNeeded = &bytes
	if free >= 0 {
		p.BytesFree = &free
		if free < bytes+spare {
			p.Refusal = refuse(DiskLow, filepath.Dir(r.dir), "free space there, or remove old backups: castellan backups list", "%s are needed and %s are free", humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(free)))
		}
	}
	if free := freeBytes(os.TempDir()); temp > 0 && free >= 0 && free < temp+spare && p.Refusal == nil {
		p.Refusal = refuse(DiskLow, os.TempDir(), "free space there, or set TMPDIR to another directory", "SQLite needs %s for scratch files and %s are free", humanize.IBytes(uint64(temp)), humanize.IBytes(uint64(free)))
	}
	return nil
}

// spare is left on the disk for everybody else.
const spare = 16 << 20

func (r *Repair) unable(m Mode) *action.RefusedError {
	if m == Reembed {
		return refuse(NeedsModel, r.path(), "file the sources again with mempalace mine, which makes their vectors", "the vectors exist nowhere and have to be made from the texts, for which this Castellan has no model")
	}
	return refuse("unsupported-mode", r.path(), "castellan export writes every text, castellan backups keeps a copy", "this Castellan does not do --mode %s", m)
}

// leaves names what people fear for.
func (r *Repair) leaves(p *action.Plan) {
	p.Leaves = append(p.Leaves, "every drawer's text and metadata", "the vectors as they are: nothing is embedded again, with whatever model")
	for _, s := range r.site.Layout.Sidecars {
		p.Leaves = append(p.Leaves, s.Path)
	}
	if n := len(r.site.Layout.Quarantined); n > 0 && !strings.Contains(p.Mode, string(Orphans)) {
		p.Leaves = append(p.Leaves, count(int64(n), "index directory that MemPalace put aside", "index directories that MemPalace put aside"))
	}
	for _, b := range r.site.Layout.Backups {
		p.Leaves = append(p.Leaves, b.Path)
	}
	p.Leaves = append(p.Leaves, "writes that wait for the palace (castellan queue)")
}

// foresee puts into a plan who stands in the way.
func (r *Repair) foresee(ctx context.Context, p *action.Plan) error {
	v, err := r.view(ctx)
	if err != nil {
		return err
	}
	held := false
	for _, l := range append([]locks.PalaceLock{v.Lock}, v.Others...) {
		if l.State == locks.Held && l.Holder != nil {
			p.Holders = append(p.Holders, *l.Holder)
		}
		held = held || l.State == locks.Held
	}
	switch {
	case r.o.BackupOnly: // SQLite copies beside any writer
	// Whether there is nothing to do is not settled while somebody may write.
	case p.Refusal != nil && (p.Refusal.Kind != NothingToRepair || !held):
	case held && r.o.Wait <= 0:
		who := "somebody who cannot be seen from here"
		if len(p.Holders) > 0 && p.Holders[0].PID != 0 {
			who = fmt.Sprintf("PID %d (%s)", p.Holders[0].PID, p.Holders[0].Command)
		}
		p.Refusal = refuse(LockHeld, r.path(), "ask the holder to let go: castellan close", "it is held by %s", who)
	case !held:
		p.Refusal = r.inUse(v)
	}
	p.Reason += unseen(v)
	return nil
}

// inUse refuses while others have the palace open: they keep an index in memory
// that they will write over ours.
func (r *Repair) inUse(v locks.PalaceView) *action.RefusedError {
	if len(v.Openers) == 0 {
		return nil
	}
	o, more := v.Openers[0], ""
	if n := len(v.Openers) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return refuse(InUse, r.path(), "ask them to end: castellan close", "PID %d (%s)%s has it open, and would write its own state over the repaired one", o.PID, o.Command, more)
}

// unseen warns of processes that could have the palace open and that this user
// cannot look into. They are no reason to refuse: on some machines there are
// always a few, and a writer of MemPalace's shows by its lock.
func unseen(v locks.PalaceView) string {
	switch {
	case v.Hidden > 0:
		return fmt.Sprintf("; %s cannot be looked into from here: make sure that none of them has the palace open", count(int64(v.Hidden), "process", "processes"))
	case len(v.Gaps) > 0:
		return "; who has the palace open cannot be seen from here: make sure that nobody has"
	}
	return ""
}

func (pt *patient) segmentDirs() []string {
	var list []string
	for _, c := range pt.facts.Collections {
		// One that is missing is noted in the copy, so that it is missing again
		// when the copy is put back.
		var gone *hnswlib.MissingError
		if x := c.Index; x.Dir != "" && (x.FilesErr == nil || errors.As(x.FilesErr, &gone)) {
			list = append(list, x.Dir)
		}
	}
	return list
}

func (pt *patient) databaseBytes() int64 {
	f := pt.p.DB().Facts()
	return max(f.Size, f.Allocated)
}

func (pt *patient) database() string { return filepath.Join(pt.dir, chroma.DatabaseFile) }
