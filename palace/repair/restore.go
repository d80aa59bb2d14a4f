package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"
	"castellan/palace/durable"

	"github.com/dustin/go-humanize"
)

// Backup is a copy of Castellan's beside a palace.
type Backup struct {
	Path    string    `json:"path"`
	Palace  string    `json:"palace"`
	TakenAt time.Time `json:"taken_at"`
	Bytes   int64     `json:"bytes"`
	// Verified says that every file is what was copied and that SQLite finds
	// the database sound; nil = it was not asked for.
	Verified *bool  `json:"verified"`
	Reason   string `json:"reason"`
}

// Backups lists the copies beside the palace in dir, the newest first. With
// verify it reads all of them.
func Backups(ctx context.Context, dir string, verify bool) ([]Backup, error) {
	dir = strings.TrimRight(dir, string(filepath.Separator))
	list, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	found := []Backup{}
	for _, e := range list {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), filepath.Base(dir)+BackupInfix) {
			continue
		}
		path := filepath.Join(filepath.Dir(dir), e.Name())
		m, err := readManifest(path)
		b := Backup{Path: path, Palace: dir, Bytes: tree(path)}
		switch {
		case err != nil:
			no := false
			b.Verified, b.Reason = &no, "it has no description that can be read: the copying was cut short"
		default:
			b.TakenAt, b.Reason, b.Palace = m.At, m.Reason, m.Palace
			if verify {
				err := verifyBackup(ctx, path, m)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				ok := err == nil
				b.Verified = &ok
				var r *action.RefusedError
				if errors.As(err, &r) {
					b.Reason += "; now " + r.Reason
				}
			}
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b Backup) int { return b.TakenAt.Compare(a.TakenAt) })
	return found, nil
}

// tree is what a directory takes on the disk with all that is under it.
func tree(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += onDisk(info)
			}
		}
		return nil
	})
	return total
}

// Restore is the action that makes a palace what a backup of it says. What it
// replaces is copied first, so that it can be undone.
type Restore struct {
	r    *Repair
	from string
}

// NewRestore makes the action; from is the backup's directory.
func NewRestore(ctx context.Context, o Options, from string) (*Restore, error) {
	o.Mode, o.BackupOnly = "", false
	r, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	from, err = filepath.Abs(from)
	return &Restore{r: r, from: from}, err
}

// Subject is the palace, with its lock.
func (s *Restore) Subject() action.Subject { return s.r.Subject() }

// restoreMode stands in plans and journals; it is no mode to ask for.
const restoreMode Mode = "restore"

// Plan says what would be replaced.
func (s *Restore) Plan(ctx context.Context) (action.Plan, error) {
	r := s.r
	p := action.Plan{Title: "Restore " + r.path() + " from " + s.from, Mode: string(restoreMode), Risk: action.RiskReversible}
	m, refused := s.usable(ctx)
	if p.Refusal = refused; refused != nil {
		return p, nil
	}
	p.Reason = fmt.Sprintf("the copy was taken %s, %s", m.At.Local().Format(time.DateTime), m.Reason)
	bytes := 2 * tree(s.from)
	pt, err := r.admit(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		p.Reason += fmt.Sprintf("; the database that is there cannot be opened (%v): it is put aside as it is", err)
		p.Steps = []string{"put the database that is there aside, in " + r.backupName()}
	} else {
		defer pt.discharge()
		now, err := printOf(ctx, pt.p)
		if err != nil {
			return p, err
		}
		if n := now.QueueTop - m.Print.QueueTop; n > 0 {
			p.Reason += fmt.Sprintf("; %s since are not in it", count(n, "write that was made", "writes that were made"))
		}
		bytes += pt.databaseBytes() + allocated(pt.segmentDirs())
		p.Steps = []string{"copy the palace as it is to " + r.backupName() + ", and verify the copy"}
	}
	p.Backup = r.backupName()
	p.Steps = append(p.Steps, "verify "+s.from, "put its rows into the database, in one transaction")
	p.Touches = []string{filepath.Join(r.dir, chroma.DatabaseFile)}
	for _, dir := range m.dirs() {
		p.Steps = append(p.Steps, "exchange "+dir+" with that of the copy")
		p.Touches = append(p.Touches, filepath.Join(r.dir, dir))
	}
	p.Leaves = []string{s.from}
	for _, f := range r.site.Layout.Sidecars {
		p.Leaves = append(p.Leaves, f.Path)
	}
	p.BytesNeeded = &bytes
	if free := freeBytes(r.dir); free >= 0 {
		p.BytesFree = &free
		if free < bytes+spare {
			p.Refusal = refuse(DiskLow, filepath.Dir(r.dir), "free space there", "%s are needed and %s are free", humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(free)))
		}
	}
	return p, r.foresee(ctx, &p)
}

// usable looks whether the backup is one, and of this palace.
func (s *Restore) usable(ctx context.Context) (*manifest, *action.RefusedError) {
	r := s.r
	if err := r.o.Manager.AllowsWrites(r.path()); err != nil {
		return nil, &action.RefusedError{Kind: WriteRouting, Subject: r.path(), Reason: err.Error(), Next: "set the write routing to direct or prefer", Err: err}
	}
	if r.site.State == palace.Missing || r.site.ReadOnly {
		return nil, refuse(NoPalace, r.path(), "make the directory, writable for this user", "there is no directory that can be written to")
	}
	m, err := readManifest(s.from)
	if err != nil {
		return nil, refuse(BackupUnusable, s.from, "castellan backups list shows those that are", "it is no whole backup of Castellan's: %v", err)
	}
	if m.Palace != r.dir {
		return nil, refuse(BackupUnusable, s.from, "name that palace, or move the copy's files by hand", "it is a copy of another palace, %s", m.Palace)
	}
	if err := verifyBackup(ctx, s.from, m); err != nil {
		return nil, r.refusal(err)
	}
	return m, nil
}

// Run restores.
func (s *Restore) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	r := s.r
	run := &running{r: r, report: report, result: &Result{}, of: 3}
	if err := run.phase("look again", true); err != nil {
		return action.Result{}, err
	}
	r.site = r.o.Manager.Examine(ctx, r.o.Found.Ref.Path)
	if _, refused := s.usable(ctx); refused != nil {
		return action.Result{}, refused
	}
	v, err := r.view(ctx)
	if err != nil {
		return action.Result{}, err
	}
	if refused := r.inUse(v); refused != nil {
		return action.Result{}, refused
	}
	err = s.replace(ctx, run)
	if err != nil {
		return action.Result{}, errors.Join(run.explain(err), run.abandon())
	}
	return action.Result{Summary: "restored from " + s.from + "; what was there is in " + run.j.Backup, Detail: run.result}, nil
}

func (s *Restore) replace(ctx context.Context, run *running) error {
	r := s.r
	old, err := readJournal(r.o.StateDir, r.key())
	if err != nil {
		return err
	}
	if old != nil && old.BackedUp && !slices.Contains(old.Modes, restoreMode) {
		return refuse(Changed, r.path(), "castellan repair finishes it, castellan undo takes it back", "a repair of it was cut short")
	}
	pt, err := r.admit(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.putAside(ctx, run); err != nil {
			return err
		}
	} else {
		run.result.Before = states(pt.facts)
		err = run.begin(ctx, pt, []Mode{restoreMode}, old, run.report.Plan())
		if err = errors.Join(err, pt.discharge()); err != nil {
			return err
		}
		if err := run.keepUndo(); err != nil {
			return err
		}
	}
	if err := run.phase("put the copy into its place", false); err != nil {
		return err
	}
	run.changed = true
	if err := r.putBack(ctx, s.from, run.work, run.at); err != nil {
		return err
	}
	if pt, err = r.admit(ctx); err != nil {
		return err
	}
	run.result.After = states(pt.facts)
	after, err := printOf(ctx, pt.p)
	if err = errors.Join(err, pt.discharge()); err != nil {
		return err
	}
	run.result.Verified = Verified{Backup: true, Database: true, Rows: true}
	run.j.After = &after
	return run.finish()
}

// putAside makes room where SQLite cannot open what is there: no transaction
// can replace it. The new file has its name at every moment, since MemPalace
// makes an empty palace where there is none.
func (s *Restore) putAside(ctx context.Context, run *running) error {
	r := s.r
	stamp := r.o.Now().Format(stampForm)
	run.j = &journal{Version: journalVersion, ID: stamp, Palace: r.dir, Started: r.o.Now().UTC(), Modes: []Mode{restoreMode},
		Backup: run.report.Plan().Backup, Work: filepath.Join(r.dir, palace.RepairDir+stamp)}
	run.work, run.result.Backup = run.j.Work, run.j.Backup
	if err := os.Mkdir(run.j.Backup, 0o700); err != nil {
		return err
	}
	db := filepath.Join(r.dir, chroma.DatabaseFile)
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		info, err := os.Lstat(db + suffix)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := copyFile(ctx, db+suffix, filepath.Join(run.j.Backup, chroma.DatabaseFile+suffix)); err != nil {
			return err
		}
	}
	fresh := db + ".castellan-new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := copyFile(ctx, filepath.Join(s.from, chroma.DatabaseFile), fresh); err != nil {
		return err
	}
	release, err := dbfile.Hold(ctx, db)
	if err != nil {
		var file *dbfile.FileError
		if !errors.As(err, &file) {
			return err
		}
		release = func() {}
	}
	defer release()
	run.changed = true
	// What lies beside belongs to the old file, and would be played into the new.
	for _, suffix := range []string{"-journal", "-wal", "-shm"} {
		if err := os.Remove(db + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(sameOwner(fresh, r.dir), os.Rename(fresh, db), durable.SyncDir(r.dir))
}
