package change

import (
	"context"
	"errors"
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

func TestWhatWasDeletedComesBackToTheByte(t *testing.T) {
	t.Parallel()
	const source = "/home/u/notes/file_001.md"
	for name, c := range map[string]struct {
		sample string
		sel    Selection
		rows   int
	}{
		"source of a palace with vectors in the queue": {"healthy", Selection{Source: ptr(source)}, 14},
		"source of a palace with vectors in the index": {"synced", Selection{Source: ptr(source)}, 14},
		"wing":             {"synced", Selection{Wing: ptr("wing_code")}, 585},
		"room":             {"healthy", Selection{Room: ptr("general")}, 0},
		"room of a wing":   {"healthy", Selection{Wing: ptr("wing_home"), Room: ptr("general")}, 0},
		"exact, wing":      {"exact", Selection{Wing: ptr("home")}, 0},
		"exact, ids":       {"exact", Selection{IDs: []string{"d0", "a"}}, 0},
		"one collection":   {"healthy", Selection{Wing: ptr("wing_home"), Collection: "mempalace_closets"}, 0},
		"ids and a closet": {"healthy", Selection{IDs: []string{"drawer_wing_code_general_53b2123fccb88d276d5f34f2"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, c.sample)
			target := s.target()
			before := contents(t, target.Palace)
			sel := c.sel
			if name == "exact, ids" {
				sel.IDs = nil
				for id := range before[DefaultDrawers] {
					sel.IDs = append(sel.IDs, id)
				}
			}
			did := s.delete(target, sel)
			if did.Rows() == 0 || c.rows > 0 && did.Rows() != c.rows || !did.Complete || did.Undo == nil || did.CannotBePutBack != 0 {
				t.Errorf("%+v", did)
			}
			after := contents(t, target.Palace)
			gone := 0
			for collection, rows := range before {
				gone += len(rows) - len(after[collection])
			}
			if gone != did.Rows() {
				t.Errorf("%d rows are gone, %d are told", gone, did.Rows())
			}
			back := s.undo(target)
			if back.AlreadyThere != 0 || back.CannotBePutBack != 0 || back.Undo != *did.Undo {
				t.Errorf("%+v", back)
			}
			wantSame(t, before, contents(t, target.Palace))
			u, err := NewUndo(target)
			must(t, err)
			refused(t, u, NothingToUndo)
		})
	}
}

func TestAPlanTouchesNothingAndSaysWhatGoes(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	before, err := specimen.HashTree(s.home)
	must(t, err)
	d, err := NewDelete(target, Selection{Wing: ptr("wing_code")})
	must(t, err)
	p := planned(t, d)
	u, err := NewUndo(target)
	must(t, err)
	refused(t, u, NothingToUndo)
	q, err := NewDrain(target)
	must(t, err)
	refused(t, q, NothingMatches)
	after, err := specimen.HashTree(s.home)
	must(t, err)
	if d := specimen.Diff(before, after); len(d) > 0 {
		t.Errorf("planning has changed %s", strings.Join(d, "\n"))
	}
	if p.Risk != action.RiskDestructive || p.TypedName != "wing_code" || p.Mode != "wing" || p.Estimate == 0 || *p.BytesNeeded < 368*4*384 || *p.BytesFree <= 0 {
		t.Errorf("%+v", p)
	}
	if !strings.HasPrefix(p.Backup, filepath.Join(s.home, "state", "undo")) || !strings.Contains(strings.Join(p.Touches, "\n"), "of the 1,500 rows of mempalace_drawers: \"drawer_wing_code") {
		t.Errorf("%+v", p)
	}
	end := s.run(d, p)
	if end.State != action.StateDone || *end.Result.Detail.(*Deleted).Undo != p.Backup {
		t.Errorf("%+v: the record is not where the plan says", end)
	}
	info, err := os.Stat(filepath.Join(p.Backup, rowsFile))
	must(t, err)
	if info.Size() != *p.BytesNeeded {
		t.Errorf("the record has %d bytes, the plan says %d", info.Size(), *p.BytesNeeded)
	}
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	for _, sel := range []Selection{{Wing: ptr("no such")}, {Wing: ptr("")}, {Source: ptr("/")}, {IDs: []string{"\x1b[31m\xff"}}, {Room: ptr("x"), Collection: DefaultClosets}} {
		d, err := NewDelete(target, sel)
		must(t, err)
		refused(t, d, NothingMatches)
	}
	for _, sel := range []Selection{{}, {Collection: "x"}, {IDs: []string{"a"}, Wing: ptr("x")}, {IDs: []string{"a", ""}}, {Source: ptr("a"), Room: ptr("b")}} {
		if _, err := NewDelete(target, sel); err == nil {
			t.Errorf("%+v was taken", sel)
		}
	}
	d, err := NewDelete(target, Selection{Wing: ptr("x"), Collection: "nope"})
	must(t, err)
	var none *backend.CollectionNotFoundError
	if _, err := d.Plan(t.Context()); !errors.As(err, &none) {
		t.Error(err)
	}
	// One of two ids: the other is told.
	did := s.delete(target, Selection{IDs: []string{"nope", "drawer_wing_code_general_53b2123fccb88d276d5f34f2"}})
	if !slices.Equal(did.NotFound, []string{"nope"}) || did.Collections[len(did.Collections)-1] != (Counted{DefaultDrawers, 1}) {
		t.Errorf("%+v", did)
	}
}

// write puts rows into a collection, as MemPalace would.
func (s *stage) write(t Target, collection string, list ...backend.Record) {
	s.t.Helper()
	for i := range list {
		if list[i].Embedding == nil {
			list[i].Embedding = make([]float32, 384)
			list[i].Embedding[i] = 1
		}
		if list[i].Document == nil {
			list[i].Document = ptr("text of " + list[i].ID)
		}
	}
	w, err := t.Palace.Writer(s.t.Context(), collection)
	must(s.t, err)
	must(s.t, w.Upsert(s.t.Context(), list))
}

func row(id string, pairs ...string) backend.Record {
	m := backend.Metadata{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return backend.Record{ID: id, Metadata: m}
}

func TestClosetsGoTheWayMemPalaceHasIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sel  Selection
		want []string
	}{
		"a source takes its closets":                           {Selection{Source: ptr("/a")}, []string{"a1", "a2", "ca"}},
		"a drawer takes the closets of its source":             {Selection{IDs: []string{"a1"}}, []string{"a1", "ca"}},
		"a text in parts goes whole":                           {Selection{IDs: []string{"whole"}}, []string{"part0", "part1", "cb"}},
		"a part goes alone":                                    {Selection{IDs: []string{"part1"}}, []string{"part1", "cb"}},
		"a closet can be named":                                {Selection{IDs: []string{"ca"}}, []string{"ca"}},
		"a wing takes its closets":                             {Selection{Wing: ptr("w1")}, []string{"a1", "a2", "ca"}},
		"and those of sources that are left with nothing":      {Selection{Wing: ptr("w2")}, []string{"part0", "part1", "cb"}},
		"not those of sources that still have a drawer":        {Selection{Wing: ptr("w3"), Room: ptr("x")}, []string{"c1"}},
		"bookkeeping is no drawer":                             {Selection{Room: ptr("solo")}, []string{"d1", "cd"}},
		"one collection is one collection":                     {Selection{Wing: ptr("w1"), Collection: DefaultClosets}, []string{"ca"}},
		"the drawers alone":                                    {Selection{Source: ptr("/a"), Collection: DefaultDrawers}, []string{"a1", "a2"}},
		"a wing that has only closets is a wing all the same":  {Selection{Wing: ptr("closets only")}, []string{"ce"}},
		"a source of which only closets are left can be named": {Selection{Source: ptr("/e")}, []string{"ce"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, "healthy")
			target := s.target()
			s.write(target, DefaultDrawers,
				row("a1", "source_file", "/a", "wing", "w1", "room", "r"), row("a2", "source_file", "/a", "wing", "w1", "room", "r"),
				row("part0", "source_file", "/b", "wing", "w2", "room", "r", "parent_drawer_id", "whole"),
				row("part1", "source_file", "/b", "wing", "w2", "room", "r", "parent_drawer_id", "whole"),
				row("c1", "source_file", "/c", "wing", "w3", "room", "x"), row("c2", "source_file", "/c", "wing", "w3", "room", "y"),
				row("d1", "source_file", "/d", "wing", "w4", "room", "solo"), row("_reg_d", "source_file", "/d", "wing", "w4", "room", "_registry", "ingest_mode", "registry"))
			s.write(target, DefaultClosets,
				row("ca", "source_file", "/a", "wing", "w1", "room", "r"), row("cb", "source_file", "/b", "wing", "old", "room", "old"),
				row("cc", "source_file", "/c", "wing", "w3", "room", "y"), row("cd", "source_file", "/d", "wing", "w4", "room", "other"),
				row("ce", "source_file", "/e", "wing", "closets only", "room", "r"))
			before := contents(t, target.Palace)
			s.delete(target, c.sel)
			after := contents(t, target.Palace)
			var gone []string
			for name, rows := range before {
				for id := range rows {
					if _, ok := after[name][id]; !ok {
						gone = append(gone, id)
					}
				}
			}
			slices.Sort(gone)
			slices.Sort(c.want)
			if !slices.Equal(gone, c.want) {
				t.Errorf("gone are %q, want %q", gone, c.want)
			}
		})
	}
}

func TestACancelLeavesARecordOfExactlyWhatWasDeleted(t *testing.T) {
	t.Parallel()
	s := set(t, "synced")
	target := s.target()
	before := contents(t, target.Palace)
	d, err := NewDelete(target, Selection{Wing: ptr("wing_code")}) // 585 rows: two batches
	must(t, err)
	p := planned(t, d)
	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: s.home}})
	defer func() { must(t, runner.Shutdown(context.Background())) }()
	started := make(chan *action.Run, 1)
	d.at = func(step string) {
		if step == "deleted" {
			(<-started).Cancel()
		}
	}
	run, err := runner.Start(t.Context(), d, p)
	must(t, err)
	started <- run
	<-run.Done()
	end := run.Snapshot()
	did, _ := end.Result.Detail.(*Deleted)
	if end.State != action.StateCancelled || did == nil || did.Rows() != step || did.Complete || !errors.Is(end.Err, action.ErrCancelled) {
		t.Fatalf("%+v, %+v", end, did)
	}
	// A row that was never deleted is changed: no reason to refuse.
	kept := func() backend.Record {
		for _, r := range contents(t, target.Palace)[DefaultDrawers] {
			if r.Metadata["wing"] == "wing_code" {
				return r
			}
		}
		t.Fatal("all are gone")
		return backend.Record{}
	}()
	kept.Metadata["room"] = "changed"
	s.write(target, DefaultDrawers, kept)
	before[DefaultDrawers][kept.ID] = contents(t, target.Palace)[DefaultDrawers][kept.ID]
	if back := s.undo(target); back.Collections[0].Rows != step || back.AlreadyThere != 0 {
		t.Errorf("%+v", back)
	}
	wantSame(t, before, contents(t, target.Palace))
}

func TestAKillAtAnyMomentLosesNothing(t *testing.T) {
	t.Parallel()
	const source = "/notes/b.md"
	for _, sample := range []string{"fresh", "exact"} {
		for step := 1; ; step++ {
			s := set(t, sample)
			target := s.target()
			s.twoOf(target, source)
			before := contents(t, target.Palace)
			p := peer{Home: s.home, Dir: s.dir, Do: "delete", Source: source, KillAt: step}
			killed := p.run(t)
			u, err := NewUndo(target)
			must(t, err)
			plan, err := u.Plan(t.Context())
			must(t, err)
			if plan.Refusal == nil {
				if end := s.run(u, plan); end.State != action.StateDone {
					t.Errorf("%s, step %d: %v", sample, step, end.Err)
				}
			} else if plan.Refusal.Kind != NothingToUndo {
				t.Errorf("%s, step %d: %v", sample, step, plan.Refusal)
			}
			wantSame(t, before, contents(t, target.Palace))
			if !killed {
				if step < 5 {
					t.Errorf("%s: only %d steps", sample, step)
				}
				break
			}
		}
	}
}

// twoOf gives a palace two drawers of a source.
func (s *stage) twoOf(t Target, source string) {
	s.t.Helper()
	c, err := t.Palace.Collection(s.t.Context(), DefaultDrawers)
	must(s.t, err)
	n := *c.Info().Dimension
	v := make([]float32, n)
	v[0] = 0.5
	s.write(t, DefaultDrawers, backend.Record{ID: "b1", Embedding: v, Metadata: backend.Metadata{"source_file": source, "wing": "w"}},
		backend.Record{ID: "b2", Embedding: v, Metadata: backend.Metadata{"source_file": source, "n": int64(1 << 60), "f": 2.0}})
}

func TestWithoutARecordNothingIsDeleted(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	before := contents(t, target.Palace)
	d, err := NewDelete(target, Selection{Source: ptr("/home/u/notes/file_001.md")})
	must(t, err)
	d.free = func(string) int64 { return 100 }
	if r := refused(t, d, DiskLow); !strings.Contains(r.Reason, "100 B are free") {
		t.Errorf("%v", r)
	}
	d.free = freeBytes
	p := planned(t, d)
	// Something stands where the records belong.
	must(t, os.MkdirAll(target.StateDir, 0o700))
	must(t, os.WriteFile(filepath.Join(target.StateDir, "undo"), nil, 0o600))
	var broken *undo.StoreError
	if end := s.run(d, p); end.State != action.StateFailed || !errors.As(end.Err, &broken) || end.Result.Detail != nil {
		t.Errorf("%+v", end)
	}
	wantSame(t, before, contents(t, target.Palace))
}

func TestARecordThatWasPlannedMakesRoomForOnesThatCameSince(t *testing.T) {
	t.Parallel()
	s := set(t, "healthy")
	target := s.target()
	first, err := NewDelete(target, Selection{Source: ptr("/home/u/notes/file_001.md")})
	must(t, err)
	p := planned(t, first)
	second := s.delete(target, Selection{Source: ptr("/home/u/notes/file_002.md")})
	did := s.run(first, p).Result.Detail.(*Deleted)
	if *did.Undo == *second.Undo || !did.Complete {
		t.Errorf("%v %v", *did.Undo, *second.Undo)
	}
	if back := s.undo(target); back.Undo != *did.Undo {
		t.Errorf("undo takes %s first, not the last delete", back.Undo)
	}
}
