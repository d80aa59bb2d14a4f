package change

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/palace/action"
	"castellan/palace/action/undo"
	"castellan/palace/backend"
	"castellan/palace/specimen"
)

func TestAnUndoNeverReplacesWhatWasWrittenSince(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	sel := Selection{Source: ptr("/home/u/notes/file_001.md"), Collection: DefaultDrawers}
	old := contents(t, target.Palace)
	s.delete(target, sel)
	var id string
	for id = range old[DefaultDrawers] {
		if old[DefaultDrawers][id].Metadata["source_file"] == "/home/u/notes/file_001.md" {
			break
		}
	}
	s.write(target, DefaultDrawers, row(id, "wing", "new"))
	now := contents(t, target.Palace)
	u, err := NewUndo(target)
	must(t, err)
	if r := refused(t, u, IDsInUse); !strings.Contains(r.Reason, "1 row was written since") || !strings.Contains(r.Reason, id) {
		t.Errorf("%v", r)
	}
	// The plan is older than the write: the run looks again.
	plan, err := u.Plan(t.Context())
	must(t, err)
	plan.Refusal = nil
	if end := s.run(u, plan); end.State != action.StateFailed || refusal(end.Err) == nil || refusal(end.Err).Kind != IDsInUse {
		t.Errorf("%+v", end)
	}
	wantSame(t, now, contents(t, target.Palace))
	// With the new row deleted, which is kept too, undo takes that one first.
	s.delete(target, Selection{IDs: []string{id}, Collection: DefaultDrawers})
	s.undo(target)
	wantSame(t, now, contents(t, target.Palace))
}

func TestARowThatIsThereAsItWasIsNoLoss(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	before := contents(t, target.Palace)
	s.delete(target, Selection{Source: ptr("/home/u/notes/file_001.md")})
	for id, r := range before[DefaultDrawers] {
		if r.Metadata["source_file"] == "/home/u/notes/file_001.md" {
			s.write(target, DefaultDrawers, before[DefaultDrawers][id])
			break
		}
	}
	if back := s.undo(target); back.AlreadyThere != 1 {
		t.Errorf("%+v", back)
	}
	wantSame(t, before, contents(t, target.Palace))
}

func TestRowsWithoutAVectorAreCountedAndTheOthersComeBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := &stage{t: t, home: home, dir: filepath.Join(home, "p")}
	sick, ok := specimen.ByName("equal-counts-differ")
	if !ok {
		t.Fatal("no such specimen")
	}
	must(t, sick.Make(t.Context(), os.DirFS(filepath.Join("..", "..", "testdata", "palaces")), s.dir))
	target := s.target()
	before := contents(t, target.Palace)
	without := 0
	var ids []string
	for id, r := range before[DefaultDrawers] {
		if r.Embedding == nil {
			without++
		}
		if r.Embedding == nil || r.Metadata["source_file"] == "/home/u/notes/file_001.md" {
			ids = append(ids, id)
		}
	}
	if without == 0 || without == len(ids) {
		t.Fatalf("%d of %d rows have no vector: the specimen is no use here", without, len(ids))
	}
	d, err := NewDelete(target, Selection{IDs: ids, Collection: DefaultDrawers})
	must(t, err)
	if p := planned(t, d); !strings.Contains(strings.Join(p.Touches, "\n"), "cannot be put back (its vector is stored nowhere)") {
		t.Errorf("the plan does not say it: %q", p.Touches)
	}
	if did := s.do(d).Result.Detail.(*Deleted); did.CannotBePutBack != without {
		t.Errorf("%+v, want %d", did, without)
	}
	back := s.undo(target)
	if back.CannotBePutBack != without || back.Collections[0].Rows != len(ids)-without {
		t.Errorf("%+v", back)
	}
	for id, r := range before[DefaultDrawers] {
		if r.Embedding == nil && slices.Contains(ids, id) {
			delete(before[DefaultDrawers], id)
		}
	}
	wantSame(t, before, contents(t, target.Palace))
	// What is kept of them is whole but for the vector.
	store, err := target.store()
	must(t, err)
	e, err := store.Entry(filepath.Base(back.Undo))
	must(t, err)
	kept := 0
	must(t, readRows(store, e, func(_ string, r backend.Record) error {
		if r.Embedding == nil && r.Document != nil {
			kept++
		}
		return nil
	}))
	if kept != without {
		t.Errorf("%d texts are kept, want %d", kept, without)
	}
}

func TestADamagedRecordIsNotPutBackByHalves(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	did := s.delete(target, Selection{Source: ptr("/home/u/notes/file_001.md")})
	after := contents(t, target.Palace)
	path := filepath.Join(*did.Undo, rowsFile)
	raw, err := os.ReadFile(path)
	must(t, err)
	raw[len(raw)-10] ^= 1
	must(t, os.WriteFile(path, raw, 0o600))
	u, err := NewUndo(target)
	must(t, err)
	refused(t, u, UndoUnusable)
	wantSame(t, after, contents(t, target.Palace))
}

// other is somebody else's kind of change.
type other struct{ ran bool }

func (*other) Kind() undo.Kind { return undo.Repair }
func (*other) Plan(context.Context, Target, *undo.Store, undo.Entry) (action.Plan, error) {
	return action.Plan{Title: "Put the index back", Risk: action.RiskReversible}, nil
}
func (o *other) Run(context.Context, Target, *undo.Store, undo.Entry, action.Reporter) (action.Result, error) {
	o.ran = true
	return action.Result{Summary: "put back"}, nil
}

func TestOtherKindsArePutBackByTheirOwn(t *testing.T) {
	t.Parallel()
	s := set(t, "fresh")
	target := s.target()
	store, err := target.store()
	must(t, err)
	id, err := store.NewID()
	must(t, err)
	draft, err := store.Begin(id, undo.Repair, s.dir, "Rebuild the index")
	must(t, err)
	_, err = draft.Commit("the index as it was")
	must(t, err)
	u, err := NewUndo(target)
	must(t, err)
	refused(t, u, UndoUnusable)
	o := &other{}
	u, err = NewUndo(target, o)
	must(t, err)
	s.do(u)
	if !o.ran {
		t.Error("its restorer did not run")
	}
	refused(t, u, NothingToUndo)
}

func TestMemPalaceCanForbidDirectWrites(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	sel := Selection{Source: ptr("/home/u/notes/file_001.md")}
	s.delete(target, sel)
	d, err := NewDelete(target, Selection{Source: ptr("/home/u/notes/file_002.md")})
	must(t, err)
	u, err := NewUndo(target)
	must(t, err)
	q, err := NewDrain(target)
	must(t, err)
	must(t, func() error { _, err := d.Park(t.Context()); return err }())
	plans := map[action.Action]action.Plan{}
	for _, a := range []action.Action{d, u, q} {
		plans[a] = planned(t, a)
	}
	s.env["MEMPALACE_WRITE_ROUTING"] = "require"
	before := contents(t, target.Palace)
	for a, p := range plans {
		r := refused(t, a, WriteRouting)
		if r.Next == "" || !strings.Contains(r.Reason, "MEMPALACE_WRITE_ROUTING") {
			t.Errorf("%+v", r)
		}
		// It was forbidden after the plan was made.
		if end := s.run(a, p); end.State != action.StateFailed || refusal(end.Err) == nil || refusal(end.Err).Kind != WriteRouting {
			t.Errorf("%T: %+v", a, end.Err)
		}
	}
	if _, err := d.Park(t.Context()); refusal(err) == nil {
		t.Errorf("parked although it is forbidden: %v", err)
	}
	wantSame(t, before, contents(t, target.Palace))
}
