package health

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// Options of an Examiner.
type Options struct {
	Manager  *palace.Manager
	Observer *locks.Observer
	// Version is Castellan's own, for the report.
	Version string
	// CopyDir is where private copies for long questions go; empty means the
	// system's temporary directory.
	CopyDir string
	// StateDir is where a small history of sizes is kept, for Report.Growth; empty
	// means that none is. Only full examinations write to it.
	StateDir string
	// Now is the clock; nil means the system's.
	Now func() time.Time
}

// Examiner makes reports. It keeps what it read of a palace's files for as
// long as nothing about them changes, so that a refresh costs a few stats and
// a look at the locks. Its methods may be called from several goroutines.
type Examiner struct {
	opts Options

	history history

	mu   sync.Mutex
	kept map[keptKey]*kept
}

// NewExaminer makes an examiner that has looked at nothing yet.
func NewExaminer(o Options) *Examiner {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Examiner{opts: o, kept: map[keptKey]*kept{}}
	if o.StateDir != "" {
		e.history.file = filepath.Join(o.StateDir, growthFile)
	}
	return e
}

// Report looks at one palace. It always answers: whatever could not be read is
// in the report. A cancelled context shows as such in Report.Error.
func (e *Examiner) Report(ctx context.Context, found palace.Found, depth Depth) *Report {
	return e.Watch(ctx, found, depth, Watch{})
}

// Watch is Report with somebody who hears of it meanwhile.
func (e *Examiner) Watch(ctx context.Context, found palace.Found, depth Depth, w Watch) *Report {
	r := e.blank(found, depth)
	m := newMeter(w)
	if found.Ref.Kind == backend.ChromaHTTP {
		r.fail(Unreadable, &backend.UnsupportedBackendError{Palace: found.Ref.Path, Kind: found.Ref.Kind})
		return r
	}
	site := e.opts.Manager.Examine(ctx, found.Ref.Path)
	r.describe(&site, found)
	view := e.observe(ctx, r, &site)
	add := func(list []Finding) {
		m.found(list)
		r.Findings = append(r.Findings, list...)
	}
	add(siteFindings(&site))
	add(lockFindings(view, site.Ref.Path))
	if site.State == palace.OK {
		add(diskFindings(site.Ref.Path, site.Size.Allocated, freeBytes(site.Ref.Path)))
		e.files(ctx, r, &site, depth, len(view.Openers) > 0, m)
	}
	r.conclude()
	if ctx.Err() == nil {
		// A history that cannot be kept is no reason to withhold the report.
		var err error
		if r.Growth, err = e.history.growth(r, e.opts.Now(), depth == Full); err != nil {
			r.CheckedWith.NotDone = append(slices.Clone(r.CheckedWith.NotDone), "growth since the last look: "+err.Error())
		}
	}
	return r
}

func (e *Examiner) blank(found palace.Found, depth Depth) *Report {
	return &Report{
		Palace: Palace{
			Path: found.Ref.Path, Aliases: found.Aliases, Source: string(found.Source),
			Backend: string(found.Ref.Kind), State: Missing,
		},
		Collections: []Collection{}, Openers: []Opener{}, Findings: []Finding{},
		Lock:        Lock{State: string(locks.StateUnknown)},
		CheckedWith: CheckedWith{Castellan: e.opts.Version, SQLite: dbfile.SQLiteVersion, Depth: depth},
	}
}

func (r *Report) fail(state State, err error) {
	r.Palace.State, r.Error = state, errorDocument(r.Palace.Path, state, err)
	r.conclude()
}

// describe fills in what is known without opening anything.
func (r *Report) describe(s *palace.Site, found palace.Found) {
	p := &r.Palace
	if s.Ref.Real != "" {
		p.RealPath = &s.Ref.Real
	}
	p.Backend, p.ReadOnly = string(s.Ref.Kind), s.ReadOnly
	if p.Backend == "" {
		p.Backend = string(backend.Unknown)
	}
	for _, a := range s.Aliases {
		if !slices.Contains(p.Aliases, a) && a != p.Path {
			p.Aliases = append(p.Aliases, a)
		}
	}
	if p.Aliases == nil {
		p.Aliases = []string{}
	}
	if s.State != palace.Missing {
		p.Bytes = &Bytes{Apparent: s.Size.Apparent, Allocated: s.Size.Allocated}
	}
	p.State = State(s.State)
	if s.State == palace.Missing || s.State == palace.Unreadable {
		r.Error = errorDocument(p.Path, p.State, s.Err)
	}
}

// observe looks at the lock under every spelling by which the palace may be
// locked, and at who has its files open.
func (e *Examiner) observe(ctx context.Context, r *Report, s *palace.Site) locks.PalaceView {
	spellings := palace.LockPaths(s.Ref, r.Palace.Aliases)
	view, err := e.opts.Observer.Palace(ctx, locks.Target{Path: s.Ref.Path, Spellings: spellings})
	if err != nil {
		return view
	}
	r.Lock = lockDocument(view.Lock)
	r.Openers = OpenerDocuments(view.Openers)
	return view
}

// conclude sorts the findings, worst first, and draws the verdicts from them.
func (r *Report) conclude() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return b.Severity.rank() - a.Severity.rank() })
	named := map[string]bool{}
	for _, c := range r.Collections {
		named[c.Name] = true
	}
	for i := range r.Collections {
		c := &r.Collections[i]
		if c.OpenedBy != nil {
			o := openedBy(c.Name, r.Findings, named)
			o.MemPalace = c.OpenedBy.MemPalace
			c.OpenedBy = &o
		}
		own := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Subject != c.Name })
		c.Verdict = VerdictOf(own)
	}
	r.Verdict = VerdictOf(r.Findings)
}
