package views

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"
	"castellan/ui/uitest"
)

// ids are the drawers of a sample in the order of filing.
func ids(t *testing.T, site *site, name string) []string {
	t.Helper()
	p, err := site.manager.Open(context.Background(), backend.Ref{Path: site.path(name)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Collection(context.Background(), "mempalace_drawers")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = backend.Walk(context.Background(), c, backend.Query{Limit: 1000}, func(r backend.Record) error {
		out = append(out, r.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryDrawerIsReachedFromEitherEnd(t *testing.T) {
	t.Parallel()
	site := newSite(t, "synced")
	want := ids(t, site, "synced")
	for _, newest := range []bool{true, false} {
		d := newDriver(t, site, uitest.Plain(), 40, 30)
		d.keys("d")
		if !newest {
			d.keys("S")
		}
		s := d.app.top().(*drawers)
		var got []string
		for len(got) < len(want) {
			first, end := s.table.Visible()
			for i := max(first, len(got)); i < end; i++ {
				got = append(got, s.shown.Row(i).ID)
			}
			d.keys("pgdown")
		}
		if newest {
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i]
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("newest first %v: the list has other drawers than the palace, or another order", newest)
		}
		if len(s.shown.kept) > pagesKept {
			t.Errorf("%d pages are kept, want %d at most", len(s.shown.kept), pagesKept)
		}
	}
}

func TestAJumpReadsOnlyWhereItLands(t *testing.T) {
	t.Parallel()
	c := &counting{Core: newSite(t, "synced")}
	d := newDriver(t, c, uitest.Plain(), 80, 24)
	d.keys("d")
	before := c.rows
	d.keys("G")
	if got := c.rows - before; got > 3 {
		t.Errorf("going to the end asked %d questions", got)
	}
	d.shows("Chunk 0:")
	d.keys("g")
	s := d.app.top().(*drawers)
	if s.table.ID() != ids(t, c.Core.(*site), "synced")[2394] {
		t.Errorf("g does not go back to the newest: %s", s.table.ID())
	}
}

func TestTheCursorStaysOnItsDrawerWhenTheOrderTurns(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("d S j j j")
	s := d.app.top().(*drawers)
	first := s.table.ID()
	d.keys("S")
	if s.table.ID() == first {
		t.Error("turning the order begins at the other end, but the cursor did not move")
	}
}

func TestSlowAnswersOfAnOlderFilterAreCalledOff(t *testing.T) {
	t.Parallel()
	c := &slowCount{Core: newSite(t, "healthy"), started: make(chan context.Context, 8)}
	d := newDriver(t, c, uitest.Plain(), 80, 24)
	d.blocked = c.blocked()
	d.keys("d /")
	d.typing("mutex")
	old := <-c.started
	d.typing("es")
	select {
	case <-old.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the older question goes on")
	}
	d.collect()
	if s := d.app.top().(*drawers); s.err != nil {
		t.Errorf("a question that was called off shows as an error: %v", s.err)
	}
}

// slowCount lets the count under the filter "mutex" hang until it is called off.
type slowCount struct {
	Core
	started chan context.Context
	told    chan struct{}
}

func (s *slowCount) blocked() <-chan struct{} {
	s.told = make(chan struct{})
	return s.told
}

func (s *slowCount) Count(ctx context.Context, at Place, f backend.Filter) (int64, error) {
	if strings.Contains(fmt.Sprint(f.WhereDocument), "{$contains mutex}") {
		s.started <- ctx
		s.told <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return s.Core.Count(ctx, at, f)
}

func TestTypingAsksOnceItPauses(t *testing.T) {
	t.Parallel()
	c := &counting{Core: newSite(t, "healthy")}
	d := newDriver(t, c, uitest.Plain(), 80, 24)
	d.keys("d /")
	before := c.rows
	for _, k := range uitest.Type("winter closet") {
		d.send(k)
	}
	if c.rows != before {
		t.Errorf("%d questions while typing", c.rows-before)
	}
	d.settle()
	if c.rows == before {
		t.Error("no question when typing had paused")
	}
	// Old rows stayed until then, and the new ones replace them.
	d.keys("enter")
	d.shows("/winter closet")
}

func TestAFilterAlsoFindsWordsWithACapital(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("d /")
	d.typing("chunk 14")
	d.shows("Chunk 14") // stored with a capital
}

func TestMarksAndFilterSurviveARefresh(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	d.keys("d /")
	d.typing("mutex")
	d.keys("enter space space j")
	s := d.app.top().(*drawers)
	on, marked := s.table.ID(), s.table.Marked()
	d.keys("r")
	d.wait(refreshPace)
	if s.table.ID() != on || len(s.table.Marked()) != 2 || strings.Join(s.table.Marked(), " ") != strings.Join(marked, " ") {
		t.Errorf("on %s with marks %v, was on %s with %v", s.table.ID(), s.table.Marked(), on, marked)
	}
	d.shows("/mutex", "501/1,500", "2 marked")
}

func TestAWingWithoutAName(t *testing.T) {
	t.Parallel()
	site := newSite(t, "drawers-without-wing")
	d := newDriver(t, site, uitest.Plain(), 80, 30)
	d.keys("enter tab")
	s := d.app.top().(*overview)
	if !s.wings.Select(wingKey(nil)) {
		t.Fatalf("no row for drawers without a wing:\n%s", d.frame())
	}
	want := s.wing().Rows
	d.keys("d")
	in := d.app.top().(*drawers)
	if int64(in.table.Total()) != want || want == 0 {
		t.Errorf("%d drawers in the wing without a name, want %d", in.table.Total(), want)
	}
}

func TestWingsOfEveryTypeOpen(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "exact"), uitest.Plain(), 80, 60)
	d.keys("enter")
	s := d.app.top().(*overview)
	total := int64(0)
	for _, w := range s.current().Wings {
		s.inWings = true
		if !s.wings.Select(wingKey(w.Name)) {
			t.Fatalf("no row for wing %v", w.Name)
		}
		d.keys("d")
		in := d.app.top().(*drawers)
		// 7 and 7.0 are one value to the engine, so each shows both.
		if got := int64(in.table.Total()); got != w.Rows && (got < w.Rows || !strings.HasPrefix(*w.Name, "7")) {
			t.Errorf("wing %s shows %d drawers, the report has %d", wingName(w.Name).Text, got, w.Rows)
		}
		total += w.Rows
		d.keys("q")
	}
	if rows := s.current().Rows; total != *rows {
		t.Errorf("the wings add up to %d, there are %d drawers", total, *rows)
	}
}
