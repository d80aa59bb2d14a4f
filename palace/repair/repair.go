package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/chroma"
	"castellan/palace/health"
)

// Options say what is to be repaired, and what with.
type Options struct {
	Manager  *palace.Manager
	Examiner *health.Examiner
	Observer palace.Watcher
	// Found is the palace, as Manager.Discover found it.
	Found palace.Found
	// StateDir is Castellan's directory of state, as action.StateDir gives it.
	StateDir string
	// Mode is what to do; empty = what the findings call for.
	Mode Mode
	// BackupOnly takes the backup and repairs nothing.
	BackupOnly bool
	// Python, if given, is a Python with chromadb that opens the palace once it
	// is repaired and reads from it.
	Python string
	// Wait is how long a run waits for a held palace; 0 = it is refused at once.
	Wait time.Duration
	// Now is the clock; default: time.Now.
	Now func() time.Time
	// Version is Castellan's own, for the backup's description.
	Version string
}

// Repair is the action.
type Repair struct {
	o    Options
	dir  string // of the palace
	site palace.Site
	// at is told of each step that a crash or a full disk can come before; tests
	// crash there.
	at func(step string) error
}

// New makes the action; it looks at the path and at no database yet.
func New(ctx context.Context, o Options) (*Repair, error) {
	if o.Manager == nil || o.Examiner == nil || o.Observer == nil || !filepath.IsAbs(o.StateDir) {
		return nil, errors.New("a repair needs a manager, an examiner, an observer and a directory of state; this is a defect of Castellan, please report it")
	}
	if o.Mode != "" && !known(o.Mode) {
		return nil, fmt.Errorf("there is no repair mode %q; the modes are %s", string(o.Mode), joined(Modes()))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	site := o.Manager.Examine(ctx, o.Found.Ref.Path)
	r := &Repair{o: o, dir: site.Ref.Real, site: site, at: func(string) error { return nil }}
	if r.dir == "" {
		r.dir = site.Ref.Path
	}
	return r, nil
}

// Subject is the palace, with its lock; a mere copy needs none.
func (r *Repair) Subject() action.Subject {
	s := action.SubjectOf(&r.site)
	s.Wait = r.o.Wait
	if r.o.BackupOnly {
		s.LockPaths = nil
	}
	return s
}

func (r *Repair) path() string { return r.site.Ref.Path }

func (r *Repair) target() locks.Target {
	return locks.Target{Path: r.path(), Spellings: r.site.LockPaths()}
}

// key is what the palace's journal and undo records are kept under.
func (r *Repair) key() string { return locks.Key(r.site.LockPaths()[0]) }

// patient is a palace opened for mending.
type patient struct {
	r     *Repair
	dir   string
	p     *chroma.Palace
	w     *chroma.Writable
	facts *chroma.Facts
	temps []string // to be removed
}

// admit opens the palace and looks at all of it.
func (r *Repair) admit(ctx context.Context) (*patient, error) {
	p, err := chroma.Open(ctx, r.dir, chroma.Options{})
	if err != nil {
		return nil, err
	}
	pt := &patient{r: r, dir: r.dir, p: p, w: p.Writable(chroma.Writing{Alone: r.alone})}
	if pt.facts, err = p.Facts(ctx, chroma.Full); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return pt, nil
}

func (pt *patient) discharge() error {
	err := pt.p.Close()
	for _, dir := range pt.temps {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// alone reports that no other process is seen to have the palace open, and
// notices a lease that was lost. Where processes cannot be looked into the plan
// has said so, and whoever agreed to it knows what they run.
func (r *Repair) alone(ctx context.Context) (bool, error) {
	if l, ok := locks.LeaseFrom(ctx, r.target()); ok {
		if err := l.Check(ctx); err != nil {
			return false, err
		}
	}
	v, err := r.view(ctx)
	if err != nil {
		return false, err
	}
	return len(v.Openers) == 0, nil
}

// view looks who has the palace. A program that this one is starting has all of
// our files until it runs, so children of ours are given a moment.
func (r *Repair) view(ctx context.Context) (locks.PalaceView, error) {
	for try := 1; ; try++ {
		v, err := r.o.Observer.Palace(ctx, r.target())
		strangers := slices.ContainsFunc(v.Openers, func(o locks.Opener) bool { return o.PPID != os.Getpid() })
		if err != nil || len(v.Openers) == 0 || strangers || try == 20 {
			return v, err
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return v, ctx.Err()
		}
	}
}

// treatment is what one mode does.
type treatment interface {
	// prepare says what there is to do. It changes nothing.
	prepare(ctx context.Context, pt *patient) (work, error)
	// perform does it, after prepare has looked at the same patient.
	perform(ctx context.Context, pt *patient, run *running) error
}

// work is a treatment's part of the plan.
type work struct {
	// none says that there is nothing to do.
	none           bool
	steps, touches []string
	// notes are what people should know before they agree.
	notes []string
	// lost counts drawers whose vector only a model can make again.
	lost int
	// dirs are replaced or moved; they are copied to the backup first.
	dirs []string
	// bytes are needed beside the backup, temp where SQLite keeps scratch files.
	bytes, temp int64
	estimate    time.Duration
}

func (r *Repair) treatment(m Mode) treatment {
	switch m {
	case MaxSeqID:
		return &positions{}
	case SeqIDBlob:
		return &blobs{}
	case Index:
		return &reindex{mode: m, all: r.o.Mode == Index}
	case IndexMetadata:
		return &reindex{mode: m}
	case FTS:
		return &fulltext{}
	case Orphans:
		return &orphans{}
	case Vacuum:
		return &vacuum{}
	}
	return nil
}
