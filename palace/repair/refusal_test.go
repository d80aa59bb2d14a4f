package repair

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/health"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
)

func TestAPlanTouchesNothing(t *testing.T) {
	slow(t)
	for _, name := range []string{"links-empty", "header-short", "quarantined", "fts-missing", "seq-id-poisoned", "hot-journal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sick(t, name)
			before, err := specimen.HashTree(s.home)
			must(t, err)
			for _, m := range append(Modes(), "") {
				_, err := s.repair(m).Plan(t.Context())
				must(t, err)
			}
			after, err := specimen.HashTree(s.home)
			must(t, err)
			if d := specimen.Diff(before, after); len(d) > 0 {
				t.Errorf("planning changed %v", d)
			}
		})
	}
}

func TestAPlanNamesWhatPeopleFearFor(t *testing.T) {
	slow(t)
	s := sick(t, "links-empty")
	graph := filepath.Join(s.dir, "knowledge_graph.sqlite3")
	must(t, os.WriteFile(graph, []byte("facts"), 0o600))
	old := s.dir + ".backup"
	must(t, os.Mkdir(old, 0o700))
	p := planned(t, s.repair(""))
	for _, want := range []string{graph, old} {
		if !strings.Contains(strings.Join(p.Leaves, "\n"), want) {
			t.Errorf("%s is not among %q", want, p.Leaves)
		}
	}
	if p.Backup == "" || !strings.HasPrefix(p.Backup, s.dir+BackupInfix) || p.BytesNeeded == nil || *p.BytesNeeded < 8<<20 || p.BytesFree == nil || p.Estimate <= 0 {
		t.Errorf("%+v", p)
	}
	end := s.run(s.repair(""), p)
	if end.Err != nil {
		t.Fatal(end.Err)
	}
	if raw, err := os.ReadFile(graph); err != nil || string(raw) != "facts" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestWhatCannotBeRepairedIsRefusedWithAWayOut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		mode Mode
		kind string
	}{
		"never-flushed":       {"", NothingToRepair},
		"fts-missing":         {Index, ""}, // asked for, so it is done
		"future-migration":    {Index, SchemaUnknown},
		"migration-altered":   {Index, SchemaUnknown},
		"btree-damaged":       {Index, DatabaseDamaged},
		"not-a-database":      {Index, NoPalace},
		"database-emptied":    {Index, NoPalace},
		"directory-missing":   {Index, NoPalace},
		"dimension-mismatch":  {Index, Mismatch},
		"dimension-unset":     {Index, Mismatch},
		"space-forgotten":     {Index, Mismatch},
		"config-unreadable":   {Index, Mismatch},
		"segment-missing":     {Index, Mismatch},
		"two-writers":         {"", NeedsModel},
		"label-without-id":    {FromSQLite, RowsMissing},
		"vectors-stale":       {Reembed, NeedsModel},
		"stale-mtime":         {FTS, ""},
		"dimensionality-none": {"", NothingToRepair},
	} {
		if underRace && want.kind != Mismatch {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sick(t, name)
			r := s.repair(want.mode)
			if want.kind == "" {
				planned(t, r)
				return
			}
			refused(t, r, want.kind)
		})
	}
}

func TestAHeldPalaceIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := sick(t, "links-empty")
	l, err := locks.Take(t.Context(), locks.Target{Path: s.dir}, locks.TakeOptions{Home: s.home})
	must(t, err)
	defer l.Release()
	refused(t, s.repair(""), LockHeld)
	// Whether there is nothing to do is not settled while somebody may write.
	refused(t, s.repair(Vacuum), LockHeld)
	// It may be waited for.
	planned(t, s.repair("", func(o *Options) { o.Wait = time.Minute }))
}

// openers answers that somebody has the palace open, from the n-th look on.
type openers struct {
	palace.Watcher
	from, n int
}

func (o *openers) Palace(ctx context.Context, target locks.Target) (locks.PalaceView, error) {
	v, err := o.Watcher.Palace(ctx, target)
	if o.n++; o.n >= o.from {
		v.Openers = append(v.Openers, locks.Opener{Process: locks.Process{PID: 4711, Command: "python server.py"}})
	}
	return v, err
}

func TestAPalaceThatOthersHaveOpenIsLeftAlone(t *testing.T) {
	slow(t)
	first := small(t, 100)
	before := first.contents()
	r := refused(t, first.repair("", func(o *Options) { o.Observer = &openers{o.Observer, 1, 0} }), InUse)
	if !strings.Contains(r.Reason, "4711") {
		t.Errorf("%q names nobody", r.Reason)
	}
	// Whoever comes while it runs stops it at the next step that matters.
	for n := 2; ; n += stride {
		s := &stage{t: t, home: t.TempDir()}
		s.dir = filepath.Join(s.home, "p")
		must(t, os.CopyFS(s.dir, os.DirFS(first.dir)))
		watch := &openers{from: n}
		a := s.repair("", func(o *Options) { watch.Watcher, o.Observer = o.Observer, watch })
		end := s.run(a, planned(t, a))
		s.safe("opened meanwhile", before)
		if watch.n < n {
			if end.Err != nil || n < 5 {
				t.Errorf("%d looks, %v", n, end.Err)
			}
			return
		}
		if end.Err == nil {
			t.Errorf("look %d: it went on while another process had the palace open", n)
		}
		s.do(s.repair(""))
		s.wantClean()
	}
}

func TestABackupIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	s := small(t, 100)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	clock := func(o *Options) { o.Now = func() time.Time { return now } }
	a := s.repair("", clock)
	p := planned(t, a)
	must(t, os.Mkdir(p.Backup, 0o700))
	must(t, os.WriteFile(filepath.Join(p.Backup, "mine"), nil, 0o600))
	end := s.run(a, p)
	refusedWith(t, end, BackupExists)
	if _, err := os.Stat(filepath.Join(p.Backup, "mine")); err != nil {
		t.Error(err)
	}
	// The next plan has another name.
	again := s.repair("", clock)
	q := planned(t, again)
	if q.Backup == p.Backup {
		t.Fatalf("the same name %s", q.Backup)
	}
	if end := s.run(again, q); end.Err != nil {
		t.Error(end.Err)
	}
}

func refusedWith(t *testing.T, end action.Snapshot, kind string) {
	t.Helper()
	r, ok := end.Err.(interface{ Unwrap() []error })
	err := end.Err
	if ok && len(r.Unwrap()) > 0 {
		err = r.Unwrap()[0]
	}
	refusal, ok := err.(*action.RefusedError)
	if !ok || refusal.Kind != kind {
		t.Errorf("%T %v, want %s", end.Err, end.Err, kind)
	}
}

func TestAPythonWithoutChromaIsToldBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	s := small(t, 100)
	before, files := s.contents(), s.indexes()
	self, err := os.Executable() // knows no chromadb: it fails on -c
	must(t, err)
	a := s.repair("", func(o *Options) { o.Python = self })
	refusedWith(t, s.run(a, planned(t, a)), NoChroma)
	wantSame(t, "refused", before, s.contents())
	if d := cmp.Diff(files, s.indexes()); d != "" {
		t.Error(d)
	}
	if list, err := Backups(t.Context(), s.dir, false); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestWithoutAnyVectorNothingIsBuilt(t *testing.T) {
	t.Parallel()
	s := sample(t, "empty")
	must(t, specimen.Generate(t.Context(), s.dir, specimen.Spec{Rows: 40, Dimension: 64, SyncThreshold: 10, DocumentChars: 50}))
	list, err := filepath.Glob(filepath.Join(s.dir, "*-*"))
	must(t, err)
	must(t, os.RemoveAll(list[0]))
	p, err := s.repair(Index).Plan(t.Context())
	must(t, err)
	if p.Refusal == nil || p.Refusal.Kind != NoVectors {
		// The queue keeps its top row, and with it a vector.
		if p.Refusal != nil || !strings.Contains(p.Reason, "are nowhere") {
			t.Errorf("%+v", p)
		}
	}
	// What can be put right without a vector is.
	s.do(s.repair(""))
	for _, f := range s.report().Findings {
		if f.Code == health.IndexIsLost {
			t.Errorf("%s: %s", f.Code, f.Cause)
		}
	}
}
