package change

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/queue"
)

func (s *stage) queue(t Target) *queue.Queue {
	s.t.Helper()
	q, err := t.queue()
	must(s.t, err)
	return q
}

func waiting(t *testing.T, q *queue.Queue) []queue.Entry {
	t.Helper()
	list, err := q.List()
	must(t, err)
	return list
}

func TestABusyPalaceParksAndIsDrainedOnce(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	letGo := s.hold()
	source := "/home/u/notes/file_001.md"
	d, err := NewDelete(target, Selection{Source: &source})
	must(t, err)
	// Plans see it where holders can be seen; runs are refused everywhere.
	p, err := d.Plan(t.Context())
	must(t, err)
	if p.Refusal != nil && p.Refusal.Kind != LockHeld {
		t.Fatal(p.Refusal)
	}
	p.Refusal = nil
	var held *locks.HeldError
	if end := s.run(d, p); !errors.As(end.Err, &held) {
		t.Fatalf("%+v", end)
	}
	before := contents(t, target.Palace)
	parked, err := d.Park(t.Context())
	must(t, err)
	if len(parked) != 2 || parked[0].Collection != DefaultClosets || parked[1].Rows != 7 {
		t.Errorf("%+v", parked)
	}
	// Filed after it was parked: not meant.
	wantSame(t, before, contents(t, target.Palace))
	letGo()
	late := row("late", "source_file", source)
	s.write(target, DefaultDrawers, late)
	drain, err := NewDrain(target)
	must(t, err)
	did := s.do(drain).Result.Detail.(*Drained)
	if did.Applied != 2 || did.Left != 0 || len(waiting(t, s.queue(target))) != 0 {
		t.Errorf("%+v", did)
	}
	after := contents(t, target.Palace)
	if n := len(before[DefaultDrawers]) - len(after[DefaultDrawers]); n != 6 { // 7 gone, 1 new
		t.Errorf("%d drawers fewer", n)
	}
	if _, ok := after[DefaultDrawers]["late"]; !ok {
		t.Error("a drawer went that was filed after the delete was parked")
	}
	refused(t, drain, NothingMatches)
	// Both collections can be undone.
	s.undo(target)
	s.undo(target)
	after = contents(t, target.Palace)
	delete(after[DefaultDrawers], "late")
	wantSame(t, before, after)
}

func TestAKillWhileDrainingAppliesEachOnce(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		s := set(t, "fresh")
		target := s.target()
		var ids []string
		for id := range contents(t, target.Palace)[DefaultDrawers] {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		v := make([]float32, 384)
		v[0] = 1
		for _, e := range []queue.Entry{
			{Operation: queue.Upsert, Records: []backend.Record{{ID: "new", Document: ptr("first"), Embedding: v}}},
			{Operation: queue.Add, Records: []backend.Record{{ID: "added", Document: ptr("added"), Embedding: v}}},
			{Operation: queue.Delete, IDs: ids[:2]},
			{Operation: queue.Update, Changes: []backend.Change{{ID: "new", Document: ptr("second")}}},
		} {
			e.Collection = DefaultDrawers
			_, err := target.Park(t.Context(), e)
			must(t, err)
		}
		killed := peer{Home: s.home, Dir: s.dir, Do: "drain", KillAt: step}.run(t)
		if n := len(waiting(t, s.queue(target))); n > 0 {
			d, err := NewDrain(target)
			must(t, err)
			s.do(d)
		} else if killed {
			t.Errorf("step %d: killed with nothing left to do", step)
		}
		rows := contents(t, target.Palace)[DefaultDrawers]
		if len(rows) != 5 || rows["new"].Document == nil || *rows["new"].Document != "second" || *rows["added"].Document != "added" {
			t.Errorf("step %d: %d rows, %+v", step, len(rows), rows["new"])
		}
		// What was deleted can be put back, whatever happened.
		s.undo(target)
		if rows := contents(t, target.Palace)[DefaultDrawers]; len(rows) != 7 {
			t.Errorf("step %d: %d rows after the undo", step, len(rows))
		}
		if !killed {
			if step < 8 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

func TestAnAddThatMayHaveBeenMadeIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	for _, sample := range []string{"fresh", "exact"} {
		s := set(t, sample)
		target := s.target()
		c, err := target.Palace.Collection(t.Context(), DefaultDrawers)
		must(t, err)
		v := make([]float32, *c.Info().Dimension)
		v[0] = 1
		s.write(target, DefaultDrawers, backend.Record{ID: "x1", Document: ptr("as it was made"), Embedding: v})
		_, err = target.Park(t.Context(), queue.Entry{Operation: queue.Add, Collection: DefaultDrawers, State: queue.StateUnknown, Records: []backend.Record{
			{ID: "x1", Document: ptr("again"), Embedding: v}, {ID: "x2", Document: ptr("new"), Embedding: v}}})
		must(t, err)
		d, err := NewDrain(target)
		must(t, err)
		s.do(d)
		rows := contents(t, target.Palace)[DefaultDrawers]
		if *rows["x1"].Document != "as it was made" || *rows["x2"].Document != "new" {
			t.Errorf("%s: %+v %+v", sample, rows["x1"], rows["x2"])
		}
	}
}

func TestAPoisonedEntryIsSetAsideAndInTheWay(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	var names []string
	for _, e := range []queue.Entry{
		{Operation: queue.Upsert, Collection: DefaultDrawers, Records: []backend.Record{{ID: "short", Document: ptr("x"), Embedding: []float32{1}}}},
		{Operation: queue.Delete, Collection: DefaultClosets, IDs: []string{"no such closet"}},
		{Operation: queue.Delete, Collection: DefaultDrawers, IDs: []string{"behind it"}},
	} {
		kept, err := target.Park(t.Context(), e)
		must(t, err)
		names = append(names, kept.Name)
	}
	d, err := NewDrain(target)
	must(t, err)
	end := s.run(d, planned(t, d))
	did := end.Result.Detail.(*Drained)
	if end.State != action.StateDone || did.Applied != 1 || did.Left != 2 || !slices.Equal(did.SetAside, names[:1]) {
		t.Errorf("%+v, %+v", end, did)
	}
	// A direct write to these drawers would overtake it.
	before := contents(t, target.Palace)
	del, err := NewDelete(target, Selection{Source: ptr("/home/u/notes/file_001.md")})
	must(t, err)
	if end := s.run(del, planned(t, del)); refusal(end.Err) == nil || refusal(end.Err).Kind != QueueWaits {
		t.Errorf("%+v", end.Err)
	}
	wantSame(t, before, contents(t, target.Palace))
	must(t, s.queue(target).Drop(t.Context(), names[0]))
	if did := s.delete(target, Selection{Source: ptr("/home/u/notes/file_001.md")}); did.AppliedFirst != 1 {
		t.Errorf("%+v", did)
	}
	// A file that was damaged on the disk.
	kept, err := target.Park(t.Context(), queue.Entry{Operation: queue.Delete, Collection: DefaultDrawers, IDs: []string{"x"}})
	must(t, err)
	must(t, os.Truncate(filepath.Join(s.queue(target).Dir(), kept.Name+".entry"), 40))
	end = s.run(d, planned(t, d))
	if did := end.Result.Detail.(*Drained); !slices.Equal(did.SetAside, []string{kept.Name}) {
		t.Errorf("%+v", did)
	}
}

func TestWaitingWritesComeBeforeADeleteAndAnUndo(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	source := "/home/u/notes/file_001.md"
	v := make([]float32, 384)
	v[0] = 1
	park := func(id string) {
		_, err := target.Park(t.Context(), queue.Entry{Operation: queue.Upsert, Collection: DefaultDrawers, Records: []backend.Record{
			{ID: id, Document: ptr(id), Metadata: backend.Metadata{"source_file": source}, Embedding: v}}})
		must(t, err)
	}
	park("first")
	d, err := NewDelete(target, Selection{Source: &source})
	must(t, err)
	p := planned(t, d)
	if !strings.Contains(p.Steps[0], "1 write that waits") {
		t.Errorf("%q", p.Steps)
	}
	did := s.run(d, p).Result.Detail.(*Deleted)
	if did.AppliedFirst != 1 || did.Rows() != 15 {
		t.Errorf("%+v: the write that waited is not among what was deleted", did)
	}
	// It waits for an undo too, which must not replace what it writes.
	park("first")
	u, err := NewUndo(target)
	must(t, err)
	end := s.run(u, planned(t, u))
	if refusal(end.Err) != nil || end.State != action.StateDone {
		t.Errorf("%+v", end.Err) // the same row: nothing would be lost
	}
	s.delete(target, Selection{Source: &source})
	v[1] = 1
	park("first")
	end = s.run(u, planned(t, u))
	if r := refusal(end.Err); r == nil || r.Kind != IDsInUse {
		t.Errorf("%+v", end.Err)
	}
}
