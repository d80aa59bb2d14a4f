package locks

import (
	"context"
	"os"
	"sync"
	"time"
)

// defaultInterval is how far apart the two processor samples of a holder lie
// that is seen for the first time.
const defaultInterval = 200 * time.Millisecond

// Options of an Observer. The zero value looks at the caller's own home.
type Options struct {
	Home     string // whose ~/.mempalace; default: HOME (USERPROFILE on Windows)
	ProcRoot string // default: /proc
	// Now is the clock for ages. Default: time.Now.
	Now func() time.Time
	// SampleInterval: how long the first look at a holder waits for a second
	// processor sample. Default 200 ms; negative: never wait, leave the share and
	// the idle time of new holders open until the next look.
	SampleInterval time.Duration
	// Getenv reads MemPalace's settings. Default: os.Getenv.
	Getenv func(string) string
}

// Observer looks at MemPalace's locks and at who has palaces open. It takes no
// lock, tries none, and creates, changes or removes no file.
//
// It keeps one thing between two looks, the processor samples of holders, and
// may be used by several goroutines at once.
type Observer struct {
	home     string
	proc     string
	now      func() time.Time
	interval time.Duration
	getenv   func(string) string
	activity tracker
	boot     func() time.Time // when the machine started; zero = not known
	outside  func(dir string) string
}

// NewObserver makes an observer. It reads nothing yet.
func NewObserver(opt Options) *Observer {
	o := &Observer{home: opt.Home, proc: opt.ProcRoot, now: opt.Now, interval: opt.SampleInterval, getenv: opt.Getenv}
	if o.getenv == nil {
		o.getenv = os.Getenv
	}
	if o.home == "" {
		o.home = os.Getenv(homeVariable)
		if o.home == "" {
			o.home = expanduser("~", "")
		}
	}
	if o.proc == "" {
		o.proc = "/proc"
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.interval == 0 {
		o.interval = defaultInterval
	}
	o.boot = sync.OnceValue(o.bootTime)
	o.outside = o.outOfSight
	return o
}

// Directory is the lock directory this observer looks at, existing or not.
func (o *Observer) Directory() string { return Directory(o.home) }

// Process describes a process, as far as this system shows it, and tells whether
// there is one.
func (o *Observer) Process(pid int) (Process, bool) { return o.process(pid) }

// Survey looks at all locks, at the hook slots, and at who has the targets
// open, in one pass over the lock directory and the kernel's tables. Its only
// error is the context's; whatever could not be read makes states unknown and
// stands in Hidden and Gaps.
func (o *Observer) Survey(ctx context.Context, targets []Target) (Survey, error) {
	l := list(o.Directory())
	s, err := o.look(ctx, targets, l, l.sources)
	if err != nil {
		return Survey{}, err
	}
	s.HookSlots, err = o.hookSlots()
	if err != nil {
		s.Gaps = append(s.Gaps, err)
	}
	return s, nil
}

// Palace looks at one palace only: cheaper than a survey, for a refresh.
func (o *Observer) Palace(ctx context.Context, target Target) (PalaceView, error) {
	keys := map[string]bool{}
	for _, key := range target.keys(o.home) {
		keys[key] = true
	}
	l := list(o.Directory())
	l.palaces = ofKeys(l.palaces, keys)
	l.wants = ofKeys(l.wants, keys)
	s, err := o.look(ctx, []Target{target}, l, nil)
	if err != nil {
		return PalaceView{}, err
	}
	return s.Palace(target.Path), nil
}

func ofKeys(names []string, keys map[string]bool) []string {
	var out []string
	for _, name := range names {
		if _, key := parseName(name); keys[key] {
			out = append(out, name)
		}
	}
	return out
}

func (o *Observer) look(ctx context.Context, targets []Target, l listing, sources []string) (Survey, error) {
	q := query{dir: l.dir, sources: sources}
	q.names = append(append(q.names, l.palaces...), l.wants...)
	for _, t := range targets {
		q.palaces = append(q.palaces, indexPalace(t, o.home))
	}
	seen, err := o.scan(ctx, q)
	if err != nil {
		return Survey{}, err
	}
	a := assembly{o: o, listing: l, sight: seen, palaces: q.palaces, known: map[int]*Process{}}
	s := Survey{At: o.now(), Directory: l.dir, Hidden: len(seen.hidden)}
	for i, pids := range seen.reach {
		if s.reach == nil {
			s.reach = map[string][]int{}
		}
		s.reach[targets[i].Path] = pids
	}
	s.PalaceLocks = a.palaceLocks(targets)
	s.Sources = a.sourceLocks()
	s.Openers = a.openers(s.PalaceLocks)
	s.Gaps = seen.gaps
	if l.err != nil {
		s.Gaps = append(s.Gaps, l.err)
	}
	for _, p := range q.palaces {
		if p.cut {
			s.Gaps = append(s.Gaps, errTooMany(p.path))
		}
	}
	if err := o.measure(ctx, a.watched); err != nil {
		return Survey{}, err
	}
	return s, nil
}
