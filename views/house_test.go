package views

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/health"
	"castellan/palace/queue"
	"castellan/palace/repair"
	"castellan/palace/specimen"
)

// fakeHome is where goldens say that the palaces lie: temporary directories have
// another name each time.
const fakeHome = "/home/u"

// noon is the time in tests, some hours after the sample palaces were written.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// site is a home directory with palaces, and the real core looking at it.
type site struct {
	home    string
	manager *palace.Manager
	Core
}

// newSite lays palaces out: names of samples, or of sicknesses.
func newSite(t testing.TB, names ...string) *site {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "palaces")
	samples := os.DirFS("../testdata/palaces")
	for _, name := range names {
		to := filepath.Join(dir, name)
		if sick, ok := specimen.ByName(name); ok {
			err = sick.Make(context.Background(), samples, to)
		} else {
			err = specimen.CopyFS(samples, name, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, ".mempalace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		config, err := json.Marshal(map[string]string{"palace_path": filepath.Join(dir, names[0])})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".mempalace", "config.json"), config, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var extra []string
	for _, name := range names {
		extra = append(extra, filepath.Join(dir, name))
	}
	return openSite(t, home, extra...)
}

// openSite looks at a home that is there.
func openSite(t testing.TB, home string, extra ...string) *site {
	t.Helper()
	none := func(string) string { return "" }
	now := func() time.Time { return noon }
	m := palace.NewManager(palace.Options{Home: home, Env: none, Now: now})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	o := locks.NewObserver(locks.Options{Home: home, Now: now, SampleInterval: -1, Getenv: none})
	state := t.TempDir()
	x := health.NewExaminer(health.Options{Manager: m, Observer: o, Version: "1.0", Now: now, CopyDir: t.TempDir(), StateDir: state})
	r := action.NewRunner(action.Options{Now: now, StateDir: state, Locker: action.PalaceLocks{Home: home}})
	return &site{home: home, manager: m, Core: NewCore(CoreOptions{Manager: m, Observer: o, Examiner: x, Runner: r, StateDir: state, Extra: extra, Now: now})}
}

func (s *site) path(name string) string { return filepath.Join(s.home, "palaces", name) }

// Paths are disguised on the way out and found again on the way in; sizes are
// those that files claim, since what a file system gives differs.

func (s *site) out(p palace.Found) palace.Found {
	p.Ref.Path = s.fake(p.Ref.Path)
	p.Ref.Real = s.fake(p.Ref.Real)
	for i := range p.Detail {
		p.Detail[i] = s.fake(p.Detail[i])
	}
	for i := range p.Notes {
		p.Notes[i].Text = s.fake(p.Notes[i].Text)
	}
	return p
}

func (s *site) in(p palace.Found) palace.Found {
	p.Ref.Path = s.real(p.Ref.Path)
	p.Ref.Real = s.real(p.Ref.Real)
	return p
}

func (s *site) fake(v string) string { return strings.ReplaceAll(v, s.home, fakeHome) }
func (s *site) real(v string) string {
	if rest, ok := strings.CutPrefix(v, fakeHome); ok {
		return s.home + rest
	}
	return v
}

func (s *site) Discover(ctx context.Context) (palace.Discovery, error) {
	d, err := s.Core.Discover(ctx)
	for i := range d.Palaces {
		d.Palaces[i] = s.out(d.Palaces[i])
	}
	for i := range d.Notes {
		d.Notes[i].Text = s.fake(d.Notes[i].Text)
	}
	return d, err
}

func (s *site) Add(ctx context.Context, path string) (palace.Found, error) {
	f, err := s.Core.Add(ctx, s.real(path))
	return s.out(f), err
}

func (s *site) Report(ctx context.Context, p palace.Found, depth health.Depth) *health.Report {
	r := s.Core.Report(ctx, s.in(p), depth)
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var out health.Report
	if err := json.Unmarshal([]byte(s.fake(string(b))), &out); err != nil {
		panic(err)
	}
	if b := out.Palace.Bytes; b != nil {
		b.Allocated = b.Apparent
	}
	for _, c := range out.Collections {
		if c.Index != nil && c.Index.Bytes != nil {
			c.Index.Bytes.Allocated = c.Index.Bytes.Apparent
		}
	}
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		if f.Code != health.DiskLow {
			kept = append(kept, f)
		}
	}
	out.Findings = kept
	return &out
}

func (s *site) Survey(ctx context.Context, list []palace.Found) (locks.Survey, error) {
	var real []palace.Found
	for _, p := range list {
		real = append(real, s.in(p))
	}
	v, err := s.Core.Survey(ctx, real)
	v.Hidden, v.Gaps = 0, nil
	v.Directory = s.fake(v.Directory)
	for i := range v.PalaceLocks {
		l := &v.PalaceLocks[i]
		l.Palace, l.Path = s.fake(l.Palace), fakeHome+"/.mempalace/locks/mine_palace_0123456789abcdef.lock"
	}
	for i := range v.Openers {
		v.Openers[i].Palace = s.fake(v.Openers[i].Palace)
	}
	return v, err
}

func (s *site) Closing(ctx context.Context, p palace.Found, how Closing) (action.Action, error) {
	return s.Core.Closing(ctx, s.in(p), how)
}

func (s *site) Deleting(ctx context.Context, p palace.Found, sel change.Selection) (action.Action, error) {
	return s.Core.Deleting(ctx, s.in(p), sel)
}

func (s *site) Undoing(ctx context.Context, p palace.Found) (action.Action, error) {
	return s.Core.Undoing(ctx, s.in(p))
}

func (s *site) Draining(ctx context.Context, p palace.Found) (action.Action, error) {
	return s.Core.Draining(ctx, s.in(p))
}

func (s *site) Waiting(ctx context.Context, p palace.Found) ([]queue.Entry, error) {
	return s.Core.Waiting(ctx, s.in(p))
}

// Actions work on real paths; what they plan and tell is disguised.

func (s *site) Repairing(ctx context.Context, p palace.Found, how Mending) (action.Action, error) {
	return s.disguise(s.Core.Repairing(ctx, s.in(p), how))
}

func (s *site) Restoring(ctx context.Context, p palace.Found, backup string) (action.Action, error) {
	return s.disguise(s.Core.Restoring(ctx, s.in(p), s.real(backup)))
}

func (s *site) Backups(ctx context.Context, p palace.Found, verify bool) ([]repair.Backup, error) {
	list, err := s.Core.Backups(ctx, s.in(p), verify)
	for i := range list {
		b := &list[i]
		b.Path, b.Palace, b.Bytes = s.fake(b.Path), s.fake(b.Palace), 6_200_000
	}
	return list, err
}

func (s *site) disguise(a action.Action, err error) (action.Action, error) {
	if err != nil {
		return nil, err
	}
	return &disguised{Action: a, site: s}, nil
}

// disguised is an action whose words say that the palaces lie in fakeHome, and
// whose sizes are the same on every disk.
type disguised struct {
	action.Action
	site *site
	real action.Plan
}

var unseen = regexp.MustCompile(`; (who has the palace open|\d+ process(es)?) cannot be (seen|looked into) from here.*`)

func (d *disguised) Subject() action.Subject {
	s := d.Action.Subject()
	s.Palace = d.site.fake(s.Palace)
	return s
}

func (d *disguised) Plan(ctx context.Context) (action.Plan, error) {
	var err error
	d.real, err = d.Action.Plan(ctx)
	p := d.real
	for _, words := range []*string{&p.Title, &p.Reason, &p.Backup} {
		*words = d.site.fake(*words)
	}
	for _, list := range []*[]string{&p.Steps, &p.Touches, &p.Leaves} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = d.site.fake((*list)[i])
		}
	}
	if p.Refusal != nil {
		r := *p.Refusal
		r.Subject, r.Reason, r.Next = d.site.fake(r.Subject), d.site.fake(r.Reason), d.site.fake(r.Next)
		p.Refusal = &r
	}
	if p.BytesNeeded != nil {
		need, free := int64(12_000_000), int64(38_000_000_000)
		p.BytesNeeded, p.BytesFree = &need, &free
	}
	// Who can be looked into depends on who runs the tests.
	p.Reason = unseen.ReplaceAllString(p.Reason, "")
	return p, err
}

func (d *disguised) Run(ctx context.Context, say action.Reporter) (action.Result, error) {
	res, err := d.Action.Run(ctx, undisguised{say, d.real})
	res.Summary = d.site.fake(res.Summary)
	if r, ok := res.Detail.(*repair.Result); ok {
		out := *r
		out.Backup, out.Moved = d.site.fake(r.Backup), slices.Clone(r.Moved)
		for i := range out.Moved {
			out.Moved[i] = d.site.fake(out.Moved[i])
		}
		res.Detail = &out
	}
	return res, err
}

// undisguised gives the action the plan that it made.
type undisguised struct {
	action.Reporter
	plan action.Plan
}

func (u undisguised) Plan() action.Plan { return u.plan }

func (s *site) Count(ctx context.Context, at Place, f backend.Filter) (int64, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Count(ctx, at, f)
}

func (s *site) Page(ctx context.Context, at Place, q backend.Query) (backend.Page, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Page(ctx, at, q)
}

func (s *site) Facets(ctx context.Context, at Place, f backend.Filter, keys ...string) ([]backend.Facet, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Facets(ctx, at, f, keys...)
}

func (s *site) Writes(ctx context.Context, at Place, n int) ([]Write, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Writes(ctx, at, n)
}
