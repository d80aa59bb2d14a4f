package views

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/health"
	"castellan/palace/search"
	"castellan/palace/search/seek"
)

// CoreOptions are the parts that a Core is made of. Extra are palaces to look at
// beside those that are found, Flag the one that was named first. Without a Runner
// nothing can be done, only looked at; StateDir is Castellan's own directory of
// state.
type CoreOptions struct {
	Manager  *palace.Manager
	Observer *locks.Observer
	Examiner *health.Examiner
	Runner   *action.Runner
	StateDir string
	Flag     string
	Extra    []string
	// Version is Castellan's own, for the copies that repairs take.
	Version string
	// Embedder makes vectors of what is searched for; without one words are
	// searched for as words.
	Embedder search.Embedder
	// Now times searches and names copies; time.Now if nil.
	Now func() time.Time
}

// NewCore is the Core over the real packages. The manager stays the caller's to
// close, after Run has returned.
func NewCore(o CoreOptions) Core {
	return &core{o: o, kept: seek.NewKept(), extra: slices.Clone(o.Extra)}
}

type core struct {
	o    CoreOptions
	kept *seek.Kept

	mu    sync.Mutex
	extra []string
}

func (c *core) Discover(ctx context.Context) (palace.Discovery, error) {
	d, err := c.o.Manager.Discover(ctx, c.o.Flag)
	if err != nil {
		return d, err
	}
	c.mu.Lock()
	extra := slices.Clone(c.extra)
	c.mu.Unlock()
	for _, path := range extra {
		f, err := c.found(ctx, path)
		if err != nil {
			return d, err
		}
		if !slices.ContainsFunc(d.Palaces, func(k palace.Found) bool { return same(k.Ref, f.Ref) }) {
			d.Palaces = append(d.Palaces, f)
		}
	}
	return d, nil
}

// same tells whether two references are one palace: by identity, and by
// spelling where there is none.
func same(a, b backend.Ref) bool {
	return a.Path == b.Path || !a.ID.IsZero() && a.ID == b.ID
}

// found is a palace that only we were told of.
func (c *core) found(ctx context.Context, path string) (palace.Found, error) {
	d, err := c.o.Manager.Discover(ctx, path)
	if err != nil {
		return palace.Found{}, err
	}
	f := *d.Default()
	f.Default, f.Source, f.Detail = false, palace.SourceFound, []string{"opened by its path"}
	return f, nil
}

func (c *core) Add(ctx context.Context, path string) (palace.Found, error) {
	site := c.o.Manager.Examine(ctx, path)
	if site.State == palace.Missing || site.State == palace.Unreadable && site.Ref.ID.IsZero() {
		return palace.Found{}, site.Err
	}
	f, err := c.found(ctx, path)
	if err != nil {
		return f, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := f.Ref.Path; !slices.Contains(c.extra, p) {
		c.extra = append(c.extra, p)
	}
	return f, nil
}

func (c *core) Report(ctx context.Context, p palace.Found, depth health.Depth) *health.Report {
	return c.o.Examiner.Report(ctx, p, depth)
}

// Watch is Report with somebody who hears of it meanwhile.
func (c *core) Watch(ctx context.Context, p palace.Found, depth health.Depth, w health.Watch) *health.Report {
	return c.o.Examiner.Watch(ctx, p, depth, w)
}

func (c *core) Survey(ctx context.Context, palaces []palace.Found) (locks.Survey, error) {
	var targets []locks.Target
	for _, p := range palaces {
		if !filepath.IsAbs(p.Ref.Path) {
			continue // a server
		}
		targets = append(targets, locks.Target{Path: p.Ref.Path, Spellings: p.LockPaths()})
	}
	return c.o.Observer.Survey(ctx, targets)
}

// collection opens a view; the manager keeps the handle of the palace.
func (c *core) collection(ctx context.Context, at Place) (backend.Collection, error) {
	p, err := c.o.Manager.Open(ctx, at.Palace.Ref)
	if err != nil {
		return nil, err
	}
	return p.Collection(ctx, at.Collection)
}

func (c *core) Count(ctx context.Context, at Place, f backend.Filter) (int64, error) {
	col, err := c.collection(ctx, at)
	if err != nil {
		return 0, err
	}
	return col.Count(ctx, f)
}

func (c *core) Page(ctx context.Context, at Place, q backend.Query) (backend.Page, error) {
	col, err := c.collection(ctx, at)
	if err != nil {
		return backend.Page{}, err
	}
	return col.Get(ctx, q)
}

func (c *core) Facets(ctx context.Context, at Place, f backend.Filter, keys ...string) ([]backend.Facet, error) {
	col, err := c.collection(ctx, at)
	if err != nil {
		return nil, err
	}
	return col.Facets(ctx, f, keys...)
}

func (c *core) Writes(ctx context.Context, at Place, n int) ([]Write, error) {
	p, err := c.o.Manager.Open(ctx, at.Palace.Ref)
	if err != nil {
		return nil, err
	}
	var out []Write
	err = p.With(ctx, func(b backend.Backend) error {
		out = nil
		db, ok := b.(*chroma.Palace)
		if !ok {
			return nil // no other engine keeps a queue
		}
		list, err := db.RecentWrites(ctx, at.Collection, n)
		for _, w := range list {
			out = append(out, Write{At: w.At, Kind: w.Op.String(), ID: w.ID, Wing: w.Wing, Room: w.Room, Source: w.Source, By: w.AddedBy})
		}
		return err
	})
	return out, err
}
