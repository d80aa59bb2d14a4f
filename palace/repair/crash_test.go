package repair

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/chroma"
	"castellan/palace/health"
	"castellan/palace/hnswlib"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
)

// small is a palace of 150 drawers whose index cannot be followed: quick enough
// to be killed at every step.
func small(t *testing.T, threshold int) *stage {
	t.Helper()
	s := sample(t, "empty")
	must(t, specimen.Generate(t.Context(), s.dir, specimen.Spec{Rows: 150, Dimension: 64, Queued: 20, SyncThreshold: threshold, DocumentChars: 100, Seed: 7}))
	list, err := filepath.Glob(filepath.Join(s.dir, "*", hnswlib.LinksFile))
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("indexes: %v", list)
	}
	must(t, os.Truncate(list[0], 0))
	return s
}

// contents is everything in a palace, by collection and id.
func (s *stage) contents() map[string]map[string]backend.Record {
	s.t.Helper()
	p, err := chroma.Open(s.t.Context(), s.dir, chroma.Options{})
	must(s.t, err)
	defer p.Close()
	all := map[string]map[string]backend.Record{}
	list, err := p.Collections(s.t.Context())
	must(s.t, err)
	for _, info := range list {
		rows := map[string]backend.Record{}
		c, err := p.Collection(s.t.Context(), info.Name)
		must(s.t, err)
		q := backend.Query{Include: backend.Documents | backend.Metadatas | backend.Embeddings | backend.URIs}
		must(s.t, backend.Walk(s.t.Context(), c, q, func(r backend.Record) error {
			rows[r.ID] = r
			return nil
		}))
		all[info.Name] = rows
	}
	return all
}

// wantSame compares texts and metadata as they are, and vectors but for the
// rounding of a division by their length.
func wantSame(t *testing.T, what string, before, after map[string]map[string]backend.Record) {
	t.Helper()
	close := cmp.Comparer(func(a, b []float32) bool { return sameVector("l2", a, b) && len(a) == len(b) })
	if d := cmp.Diff(before, after, close); d != "" {
		t.Errorf("%s: the palace does not hold what it held:\n%.2000s", what, d)
	}
}

// safe says what would make Chroma lose vectors from this state; every row has
// to be there, and no vector may be in fewer places than before.
func (s *stage) safe(what string, before map[string]map[string]backend.Record) {
	s.t.Helper()
	wantSame(s.t, what, before, s.contents())
	p, err := chroma.Open(s.t.Context(), s.dir, chroma.Options{})
	must(s.t, err)
	defer p.Close()
	f, err := p.Facts(s.t.Context(), chroma.Sampled)
	must(s.t, err)
	for _, c := range f.Collections {
		if c.Coverage.Missing > 0 || c.Coverage.Stale > 0 {
			s.t.Errorf("%s: %s has %d drawers without a vector and %d stale ones", what, c.Row.Name, c.Coverage.Missing, c.Coverage.Stale)
		}
		if seg := c.Row.Segment(chroma.ScopeVector); seg.MaxSeqID != nil && !c.Index.Flushed() {
			s.t.Errorf("%s: %s has the vector position %d and no index: the next write destroys vectors", what, c.Row.Name, seg.MaxSeqID.Value)
		}
		if top := deref(f.Queue.Highest); top < f.HighestPosition {
			s.t.Errorf("%s: the queue's top %d is below position %d", what, top, f.HighestPosition)
		}
	}
}

func TestAKillAtAnyStepLosesNothingAndTheNextRunFinishes(t *testing.T) {
	t.Parallel()
	for name, threshold := range map[string]int{"index written": 100, "through the queue": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := small(t, threshold)
			before := first.contents()
			for n := 1; ; n += stride {
				s := &stage{t: t, home: t.TempDir()}
				s.dir = filepath.Join(s.home, "p")
				must(t, os.CopyFS(s.dir, os.DirFS(first.dir)))
				step, killed := peer{Home: s.home, Dir: s.dir, KillAt: n}.run(t)
				if !killed {
					if n < 12 {
						t.Errorf("only %d steps: the process was not killed where it should be", n)
					}
					s.wantClean()
					return
				}
				what := fmt.Sprintf("killed before step %d (%s)", n, step)
				s.safe(what, before)
				s.tellsOfIt(what)
				s.do(s.repair(""))
				s.wantClean()
				wantSame(t, what+", finished", before, s.contents())
				s.wantNothingLeft(what)
			}
		})
	}
}

// tellsOfIt wants the doctor to name a repair that was cut short as soon as it
// may have changed something.
func (s *stage) tellsOfIt(what string) {
	s.t.Helper()
	list, err := Unfinished(filepath.Join(s.home, "state"))
	must(s.t, err)
	work, err := filepath.Glob(filepath.Join(s.dir, palace.RepairDir+"*"))
	must(s.t, err)
	told := false
	for _, f := range s.report().Findings {
		told = told || f.Code == health.RebuildUnfinished
	}
	if told != (len(work) > 0) || len(work) > 0 && len(list) == 0 {
		s.t.Errorf("%s: the doctor tells of it: %v, journals %v, directories %v", what, told, list, work)
	}
}

// The modes that change rows only are killed at every step too.
func TestAKillOfAnyModeIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("each of them is a process of its own")
	}
	for name, mode := range map[string]Mode{"fts-missing": FTS, "segment-orphan": Orphans, "seq-id-blob": SeqIDBlob, "seq-id-poisoned": MaxSeqID, "quarantine-piled-up": Orphans} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := sick(t, name)
			before := first.contents()
			for n := 1; ; n += stride {
				s := &stage{t: t, home: t.TempDir()}
				s.dir = filepath.Join(s.home, "p")
				must(t, os.CopyFS(s.dir, os.DirFS(first.dir)))
				step, killed := peer{Home: s.home, Dir: s.dir, Mode: mode, KillAt: n}.run(t)
				what := fmt.Sprintf("killed before step %d (%s)", n, step)
				wantSame(t, what, before, s.contents())
				if killed {
					s.do(s.repair(mode))
					wantSame(t, what+", finished", before, s.contents())
				} else if n < 8 {
					t.Errorf("only %d steps", n)
				}
				s.wantClean()
				s.wantNothingLeft(what)
				if !killed {
					return
				}
			}
		})
	}
}

// wantNothingLeft looks for scaffolding.
func (s *stage) wantNothingLeft(what string) {
	s.t.Helper()
	if list, err := Unfinished(filepath.Join(s.home, "state")); err != nil || len(list) > 0 {
		s.t.Errorf("%s: still unfinished: %v, %v", what, list, err)
	}
	list, err := os.ReadDir(s.dir)
	must(s.t, err)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			s.t.Errorf("%s: left behind: %s", what, e.Name())
		}
	}
}

func TestAFullDiskLeavesThePalaceAsItWasOrToBeFinished(t *testing.T) {
	slow(t)
	first := small(t, 100)
	before := first.contents()
	for n := 1; ; n += stride {
		s := &stage{t: t, home: t.TempDir()}
		s.dir = filepath.Join(s.home, "p")
		must(t, os.CopyFS(s.dir, os.DirFS(first.dir)))
		r := s.repair("")
		i, at := 0, ""
		r.at = func(step string) error {
			if i++; i == n {
				at = step
				return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
			}
			return nil
		}
		end := s.run(r, planned(t, r))
		if at == "" {
			if end.Err != nil || n < 12 {
				t.Errorf("%d steps, %v", n, end.Err)
			}
			return
		}
		what := fmt.Sprintf("full before step %d (%s)", n, at)
		if end.Err == nil || !errors.Is(end.Err, syscall.ENOSPC) {
			t.Errorf("%s: %v", what, end.Err)
		}
		s.safe(what, before)
		backups, err := filepath.Glob(s.dir + BackupInfix + "*")
		must(t, err)
		list, err := Unfinished(filepath.Join(s.home, "state"))
		must(t, err)
		switch {
		case len(list) == 0 && len(backups) > 0 && at != "end journal":
			t.Errorf("%s: the palace is as it was, and a copy fills the disk: %v", what, backups)
		case len(list) == 0:
			s.wantNothingLeft(what)
		case list[0].Backup == "" || list[0].Palace != s.dir:
			t.Errorf("%s: %+v", what, list[0])
		}
		s.do(s.repair(""))
		s.wantClean()
		wantSame(t, what+", finished", before, s.contents())
	}
}

// undoTarget is the palace as the undo command has it.
func (s *stage) undoAction() *change.Undo {
	s.t.Helper()
	e := look(s.home)
	s.t.Cleanup(func() { must(s.t, e.manager.Close()) })
	p, err := e.manager.Open(s.t.Context(), backend.Ref{Path: s.dir})
	must(s.t, err)
	u, err := change.NewUndo(change.Target{Manager: e.manager, Palace: p, StateDir: filepath.Join(s.home, "state"), Watch: e.watch}, Restorer{})
	must(s.t, err)
	return u
}

func TestUndoRestoresEveryByteThatCounts(t *testing.T) {
	t.Parallel()
	for name, threshold := range map[string]int{"index written": 100, "through the queue": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(t, threshold)
			before, rows := s.indexes(), s.contents()
			s.do(s.repair(""))
			if cmp.Diff(before, s.indexes()) == "" {
				t.Fatal("the repair changed nothing")
			}
			s.do(s.undoAction())
			if d := cmp.Diff(before, s.indexes()); d != "" {
				t.Errorf("index files differ:\n%s", d)
			}
			wantSame(t, "undone", rows, s.contents())
			s.wantNothingLeft("undone")
			refusedKind(t, s.undoAction(), change.NothingToUndo)
			// It is as sick as before, and can be repaired again.
			s.do(s.repair(""))
			s.wantClean()
		})
	}
}

func refusedKind(t *testing.T, a action.Action, kind string) {
	t.Helper()
	p, err := a.Plan(t.Context())
	must(t, err)
	if p.Refusal == nil || p.Refusal.Kind != kind {
		t.Errorf("refusal %v, want %s", p.Refusal, kind)
	}
}

// indexes are the checksums of all index files.
func (s *stage) indexes() map[string]string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.dir, "*-*", "*"))
	must(s.t, err)
	hashes := map[string]string{}
	for _, path := range list {
		rel, err := filepath.Rel(s.dir, path)
		must(s.t, err)
		hashes[rel], err = digest(s.t.Context(), path)
		must(s.t, err)
	}
	return hashes
}

func TestUndoRefusesToLoseWhatWasFiledSince(t *testing.T) {
	t.Parallel()
	s := small(t, 100)
	s.do(s.repair(""))
	e := look(s.home)
	p, err := e.manager.Open(t.Context(), backend.Ref{Path: s.dir})
	must(t, err)
	c, err := p.Writer(t.Context(), specimen.Drawers)
	must(t, err)
	text := "filed since"
	must(t, c.Add(t.Context(), []backend.Record{{ID: "new", Document: &text, Embedding: make([]float32, 64), Metadata: backend.Metadata{"wing": "x"}}}))
	must(t, e.manager.Close())
	r := refused(t, s.undoAction(), WrittenSince)
	if !strings.Contains(r.Reason, "1 write that was made") {
		t.Errorf("%q does not say what would be lost", r.Reason)
	}
}

func TestUndoTakesBackARepairThatWasCutShort(t *testing.T) {
	slow(t)
	s := small(t, 100)
	before, rows := s.indexes(), s.contents()
	r := s.repair("")
	r.at = func(step string) error {
		if step == "position" {
			return syscall.ENOSPC
		}
		return nil
	}
	if end := s.run(r, planned(t, r)); end.Err == nil {
		t.Fatal("it was not cut short")
	}
	store, err := undo.Open(r.o.StateDir, r.key(), undo.Options{})
	must(t, err)
	if e, err := store.Newest(); err != nil || e.Outcome != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	s.do(s.undoAction())
	if d := cmp.Diff(before, s.indexes()); d != "" {
		t.Errorf("index files differ:\n%s", d)
	}
	wantSame(t, "undone", rows, s.contents())
	s.wantNothingLeft("undone")
}
