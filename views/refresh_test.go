package views

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/health"
	"castellan/ui/uitest"
)

// counting counts the questions that read a palace's rows.
type counting struct {
	Core
	rows int
}

func (c *counting) Count(ctx context.Context, at Place, f backend.Filter) (int64, error) {
	c.rows++
	return c.Core.Count(ctx, at, f)
}

func (c *counting) Page(ctx context.Context, at Place, q backend.Query) (backend.Page, error) {
	c.rows++
	return c.Core.Page(ctx, at, q)
}

func (c *counting) Facets(ctx context.Context, at Place, f backend.Filter, keys ...string) ([]backend.Facet, error) {
	c.rows++
	return c.Core.Facets(ctx, at, f, keys...)
}

func (c *counting) Writes(ctx context.Context, at Place, n int) ([]Write, error) {
	c.rows++
	return c.Core.Writes(ctx, at, n)
}

func TestARefreshOfAnUnchangedPalaceReadsAndDrawsNothing(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "synced")
	for name, keys := range screens {
		c := &counting{Core: site}
		d := newDriver(t, c, uitest.Plain(), 80, 24)
		d.keys(keys)
		before, rows := d.frame(), c.rows
		for range 12 {
			d.wait(refreshPace)
		}
		if c.rows != rows {
			t.Errorf("%s: %d questions about rows in 12 refreshes", name, c.rows-rows)
		}
		if d.frame() != before {
			t.Errorf("%s: the frame changed:\n%s\n%s", name, before, d.frame())
		}
	}
}

func TestASilentPalaceHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy", "synced"))
	sick, well := fakeHome+"/palaces/healthy", fakeHome+"/palaces/synced"
	s.hang(sick)
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	d.shows("~/palaces/synced")
	d.keys("j d")
	d.shows("2,395 drawers")
	d.keys("q")
	if len(d.app.stack) != 1 {
		t.Fatal("the keys are stuck")
	}
	asked := s.count(sick)
	d.wait(20 * time.Second)
	d.wait(20 * time.Second)
	if got := s.count(sick); got != asked {
		t.Errorf("a palace that has not answered was asked %d times more", got-asked)
	}
	d.keys("k")
	d.shows("No answer for 40 s")
	d.keys("p") // the survey leaves it out
	d.shows("~/palaces/synced")
	if s.count(well) == 0 {
		t.Error("the other palace was not looked at")
	}
	d.keys("q")
	s.release(sick)
	d.collect()
	d.shows("1,500")
}

func TestOldFiguresStayWhileAPalaceIsSilent(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy"))
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	d.keys("enter")
	s.hang(fakeHome + "/palaces/healthy")
	d.wait(refreshPace)
	d.wait(10 * time.Second)
	d.shows("1,500", "no answer, figures of 12:00:00")
	s.release(fakeHome + "/palaces/healthy")
	d.collect()
	d.shows("live")
}

func TestALateAnswerIsDropped(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy"))
	path := fakeHome + "/palaces/healthy"
	s.hang(path)
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	r := d.app.house.find(path)
	first := r.gen
	d.keys("r") // gives the question up and asks anew
	if r.gen == first {
		t.Fatal("r did not ask again")
	}
	d.send(reportMsg{path: path, gen: first, depth: health.Sampled, report: &health.Report{}})
	if r.report != nil {
		t.Error("the answer to an older question counted")
	}
	s.release(path)
	d.collect()
	d.shows("1,500")
}

func TestNothingIsAskedWhileSomebodyElseHasTheTerminal(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy"))
	path := fakeHome + "/palaces/healthy"
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	d.send(tea.KeyMsg{Type: tea.KeyCtrlZ})
	asked := s.count(path)
	d.wait(refreshPace)
	d.wait(refreshPace)
	if got := s.count(path); got != asked {
		t.Errorf("asked %d times while suspended", got-asked)
	}
	d.send(tea.ResumeMsg{})
	if s.count(path) == asked {
		t.Error("nothing was read again after coming back")
	}
}

func TestManyPalacesAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	names := []string{"healthy", "fresh", "empty", "exact", "synced", "collection-empty", "collection-missing"}
	s := newStage(newSite(t, names...))
	for _, n := range names {
		s.hang(fakeHome + "/palaces/" + n)
	}
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	under := func() (n int) {
		for _, r := range d.app.house.palaces {
			if !r.asked.IsZero() {
				n++
			}
		}
		return n
	}
	if got := under(); got != askedAtOnce {
		t.Errorf("%d palaces are read at once, want %d", got, askedAtOnce)
	}
	d.wait(slowPalace) // those that keep silent do not count any more
	if got := under(); got != len(names) {
		t.Errorf("%d palaces have been asked, want all %d", got, len(names))
	}
}

func TestHoldersSeenEarlierAreTold(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "fresh"))
	path := fakeHome + "/palaces/fresh"
	s.holder[path] = busyMine()
	d := newDriver(t, s, uitest.Plain(), 80, 40)
	for range 90 {
		d.wait(refreshPace)
	}
	delete(s.holder, path)
	d.wait(refreshPace)
	s.holder[path] = idleServer()
	d.wait(refreshPace)
	d.keys("p z")
	d.shows("seen so far", "3990 mempalace-mcp, held it for 0 s", "mine /home/u/src, held it for 3 min, until 4 s")
}

func TestThePalaceNamedAtTheStartIsOpened(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy", "fresh"), uitest.Plain(), 80, 24,
		func(o *Options) { o.Start = fakeHome + "/palaces/fresh" })
	d.shows("palaces › ~/palaces/fresh")
	d.keys("esc")
	d.shows("2 palaces")
}

func TestAnotherPathCanBeOpened(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	other := newSite(t, "fresh")
	d := newDriver(t, site, uitest.Plain(), 120, 24)
	d.keys("o")
	d.send(uitest.Paste(other.path("fresh")))
	d.keys("enter")
	if s, ok := d.app.top().(*overview); !ok || !strings.Contains(s.r.path(), "fresh") {
		t.Fatalf("the palace was not opened:\n%s", d.frame())
	}
	d.keys("q")
	d.shows("2 palaces")
}
