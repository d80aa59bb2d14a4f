package views

import (
	"testing"

	"castellan/ui/uitest"
)

func TestHealthNamesTheWorstOfEachCollectionAndLeadsToItsEvidence(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "closets-sick"), uitest.Plain(), 120, 40)
	d.keys("v")
	s := d.app.top().(*vitals)
	for _, c := range d.the("closets-sick").report.Collections {
		s.table.Select(c.Name)
		d.app.settle()
		list := s.r.about(c.Name)
		for _, f := range list {
			if f.Severity.Worse(list[0].Severity) {
				t.Errorf("%s is named and %s is worse", list[0].Code, f.Code)
			}
		}
		d.keys("enter")
		f := d.app.top().(*findings)
		if len(f.shown) != len(list) {
			t.Errorf("%d findings about %s, %d are shown:\n%s", len(list), c.Name, len(f.shown), d.frame())
		}
		if len(list) > 0 {
			d.shows(string(list[0].Code), "How we know")
		}
		d.keys("q")
	}
	for _, f := range s.r.findings() {
		if p := partOf(s.r.report, f); p != palacePart && p != f.Subject {
			t.Errorf("%s is about %s and stands with %q", f.Code, f.Subject, p)
		}
	}
}

func TestHealthTellsByHowMuchAPalaceGrew(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	d.keys("v")
	d.shows("not known: a full check (d)")
	d.keys("d")
	before := rowsOf(d, site, "healthy")
	d.keys("q d D")
	d.agree()
	d.finish()
	d.keys("enter q r v")
	after := rowsOf(d, site, "healthy")
	if after >= before {
		t.Fatal("nothing was deleted")
	}
	d.shows(signed(after-before)+" drawers", "since 2026-12-01")
}

func TestFramesOfHealth(t *testing.T) {
	t.Parallel()
	play(t, newSite(t, "capacity-frozen", "closets-sick"), []scene{
		{name: "vitals", keys: "v"},
		{name: "vitals-sick", keys: "j v"},
		{name: "vitals-palace", keys: "v G"},
		{name: "vitals-part", keys: "v enter"},
	})
	play(t, newSite(t, "not-a-database"), []scene{{name: "vitals-unreadable", keys: "v"}})
}
