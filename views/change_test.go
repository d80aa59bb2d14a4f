package views

import (
	"context"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/ui/uitest"
)

// finish waits for the runs that go on, and lets the screens hear of it.
func (d *driver) finish() {
	d.t.Helper()
	for _, run := range d.app.runs.live {
		select {
		case <-run.Done():
		case <-time.After(deadline):
			d.t.Fatal("a run does not end")
		}
	}
	d.hear()
}

// rowsOf counts the drawers of a palace of a site.
func rowsOf(d *driver, s *site, name string) int64 {
	d.t.Helper()
	for _, r := range d.app.house.palaces {
		if r.path() != fakeHome+"/palaces/"+name {
			continue
		}
		n, err := s.Count(context.Background(), r.place("mempalace_drawers"), backend.Filter{})
		if err != nil {
			d.t.Fatal(err)
		}
		return n
	}
	d.t.Fatalf("no palace %s", name)
	return 0
}

func TestMarkedDrawersAreDeletedAndPutBack(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	before := rowsOf(d, site, "healthy")
	d.keys("d space j space D")
	d.shows("nothing done yet", "enter delete")
	d.agree()
	d.finish()
	d.shows("done", "u undo")
	after := rowsOf(d, site, "healthy")
	if after >= before-1 {
		t.Fatalf("%d drawers before, %d after:\n%s", before, after, d.frame())
	}
	d.keys("u")
	d.shows("Put back what was deleted", "enter put back")
	d.agree()
	d.finish()
	d.shows("done")
	if back := rowsOf(d, site, "healthy"); back != before {
		t.Errorf("%d drawers before, %d after undo:\n%s", before, back, d.frame())
	}
}

func TestAWholeWingWantsItsNameTyped(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	before := rowsOf(d, site, "healthy")
	d.keys("enter tab enter")
	wing := *d.app.top().(*rooms).wing.wing
	d.keys("X enter")
	d.now = d.now.Add(time.Second)
	d.keys("y enter")
	d.shows("Not the name. Nothing is done.")
	d.keys("backspace")
	for _, k := range uitest.Type(wing) {
		d.send(k)
	}
	d.keys("enter")
	d.finish()
	d.shows("done")
	if after := rowsOf(d, site, "healthy"); after >= before {
		t.Errorf("%d drawers before, %d after:\n%s", before, after, d.frame())
	}
}

func TestWaitingWritesAreShownAndMade(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	before := rowsOf(d, site, "healthy")
	d.keys("enter")
	d.hides("write waits")
	ctx := context.Background()
	page, err := site.Page(ctx, d.app.house.palaces[0].place("mempalace_drawers"), backend.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	act, err := site.Deleting(ctx, d.app.house.palaces[0].found, change.Selection{IDs: []string{page.Records[0].ID}, Collection: "mempalace_drawers"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act.(*change.Delete).Park(ctx); err != nil {
		t.Fatal(err)
	}
	d.keys("r")
	d.shows("1 write waits", "w makes what", "w make waiting writes")
	d.keys("w enter") // it was agreed to when it was parked
	d.finish()
	d.shows("1 waiting write was made")
	if after := rowsOf(d, site, "healthy"); after != before-1 {
		t.Errorf("%d drawers before, %d after", before, after)
	}
	d.keys("enter")
	d.hides("write waits")
}

func TestADeleteThatMeetsAHolderIsKeptForLater(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	lease, err := locks.Take(context.Background(), locks.Target{Path: site.path("healthy")}, locks.TakeOptions{Home: site.home})
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	before := rowsOf(d, site, "healthy")
	d.keys("enter d D")
	d.shows("not possible now", "P keep for later")
	d.keys("P")
	d.now = d.now.Add(time.Second)
	d.keys("y")
	d.shows("Kept: ", "for the palace; w in its overview")
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	d.keys("q q r")
	d.shows("w makes what")
	d.keys("w enter")
	d.finish()
	if after := rowsOf(d, site, "healthy"); after >= before {
		t.Errorf("%d drawers before, %d after:\n%s", before, after, d.frame())
	}
}

func TestNothingIsOfferedThatChangesAnythingInReadOnlyMode(t *testing.T) {
	t.Parallel()
	s := newRehearsal(t, newSite(t, "healthy"), done)
	d := newDriver(t, s, uitest.Plain(), 80, 24, func(o *Options) { o.ReadOnly = true })
	for _, way := range []string{"", "enter", "enter tab enter", "d", "p"} {
		for _, key := range []string{"c", "C", "K", "D", "X", "u", "w"} {
			d.keys(way + " " + key)
			if _, guides := d.app.top().(*guide); guides || d.app.overlay.Top() != nil {
				t.Errorf("%q %s acts:\n%s", way, key, d.frame())
			}
			for len(d.app.stack) > 1 {
				d.app.pop()
			}
			d.keys("esc")
		}
	}
}

func TestThePlainFormDeletesAndPutsBack(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	out := plainDialog(t, site, "1", "2", "1", "d 1", "y", "b", "b", "u", "y", "q")
	wantInOrder(t, out, "Delete", "Deleted: ", "Put back what was deleted", "Put back: ")
}
