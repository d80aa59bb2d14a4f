package views

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace"
	"castellan/palace/health"
	"castellan/palace/repair"
	"castellan/theme"
	"castellan/ui/uitest"
)

// the is the palace of a site by its name, as the screens have it.
func (d *driver) the(name string) *reading {
	d.t.Helper()
	r := d.app.house.find(fakeHome + "/palaces/" + name)
	if r == nil {
		d.t.Fatalf("no palace %s", name)
	}
	return r
}

// at puts the cursor of the first screen on a palace.
func (d *driver) at(name string) {
	d.t.Helper()
	if !d.app.stack[0].(*palaces).table.Select(d.the(name).path()) {
		d.t.Fatalf("no palace %s", name)
	}
	d.keys("k j")
	d.app.stack[0].(*palaces).table.Select(d.the(name).path())
	d.app.settle()
}

func TestAPalaceIsRepairedFromTheScreensAndTakenBack(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	r := d.the("quarantine-holds-more")
	missing := *mainCollection(r.report, "").Vectors.Missing
	if missing == 0 {
		t.Fatal("the specimen is not sick")
	}
	d.shows("R repairs it: index", "R repair")
	d.keys("R")
	d.shows("nothing done yet", "enter repair")
	d.agree()
	d.finish()
	d.shows("done", "before", "after", "searchable", "u undo")
	d.keys("enter r f d")
	r = d.the("quarantine-holds-more")
	if r.full == nil || *mainCollection(r.full, "").Vectors.Missing != 0 {
		t.Fatalf("not repaired:\n%s", d.frame())
	}
	for _, f := range r.full.Findings {
		if f.Severity.Worse(health.Info) {
			t.Errorf("after the repair: %s: %s", f.Code, f.Cause)
		}
	}
	d.keys("q enter")
	d.hides("R repairs it")
	d.keys("u")
	d.shows("Undo the repair", "enter put back")
	d.agree()
	d.finish()
	d.shows("done")
	d.keys("enter r")
	if n := *mainCollection(d.the("quarantine-holds-more").report, "").Vectors.Missing; n != missing {
		t.Errorf("%d missing before the repair, %d after its undo", missing, n)
	}
}

func TestEachFindingStartsTheRepairThatItsRemedyNames(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fts-missing", "seq-id-poisoned", "quarantine-holds-more", "healthy")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	for _, r := range d.app.house.palaces {
		s := newFindings(d.app, r)
		d.run(d.app.push(s))
		for i := range s.shown {
			f := s.shown[i]
			s.table.Select(f.id)
			d.keys("R")
			g, guides := d.app.top().(*guide)
			mode := ""
			if f.Remedy != nil {
				mode = f.Remedy.Mode
			}
			if guides != (mode != "") {
				t.Errorf("%s of %s has the remedy %q:\n%s", f.Code, r.path(), mode, d.frame())
			}
			if guides {
				if g.act.(*disguised).real.Mode != mode && g.plan.Refusal == nil {
					t.Errorf("%s starts %q, its remedy is %q", f.Code, g.plan.Mode, mode)
				}
				d.keys("q")
			}
		}
		d.keys("q")
	}
}

func TestARepairSaysWhyItCannotBegin(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more", "healthy")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	d.at("healthy")
	d.keys("R")
	d.shows("a quick look finds nothing to mend")
	for _, way := range []string{"", "enter", "f"} {
		d = newDriver(t, site, uitest.Plain(), 120, 40, func(o *Options) { o.ReadOnly = true })
		d.keys(way + " R")
		if _, guides := d.app.top().(*guide); guides {
			t.Errorf("%q R begins a repair in read-only mode:\n%s", way, d.frame())
		}
		d.hides("R repair")
	}
}

func TestARepairThatWasCutShortIsToldAndFinished(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more")
	left := filepath.Join(site.path("quarantine-holds-more"), palace.RepairDir+"20261201-115900")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	if !cutShort(d.app.house.palaces[0].findings()) {
		t.Fatal("the report does not tell of it")
	}
	d.shows("R finishes the repair")
	d.keys("enter")
	d.shows("R finishes the repair")
	d.keys("f")
	list := d.app.top().(*findings)
	for _, f := range list.shown {
		if unfinishedRepair(f.Finding) {
			list.table.Select(f.id)
		}
	}
	d.app.settle()
	d.keys("z")
	d.shows("R goes on from where it was cut short")
	d.keys("R")
	d.shows("enter repair")
}

func TestCopiesAreListedVerifiedAndRestored(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more")
	d := newDriver(t, site, uitest.Plain(), 120, 40)
	sick := *mainCollection(d.the("quarantine-holds-more").report, "").Vectors.Missing
	d.keys("b")
	d.shows("No copies of this palace yet", "B copy now")
	d.keys("B enter")
	d.finish()
	d.shows("done")
	d.keys("enter")
	d.shows("1 copy", "when taken", "asked for")
	d.keys("v")
	d.shows("now", "Every file is what was")
	d.keys("q R")
	d.agree()
	d.finish()
	d.keys("enter b")
	d.shows("2 copies")
	s := d.app.top().(*backups)
	for _, b := range s.known {
		if strings.Contains(b.Reason, "asked for") {
			s.table.Select(b.Path)
		}
	}
	d.keys("R")
	d.shows("Restore ", "enter restore")
	d.agree()
	d.finish()
	d.shows("done")
	d.keys("enter r q r")
	if n := *mainCollection(d.the("quarantine-holds-more").report, "").Vectors.Missing; n != sick {
		t.Errorf("the copy has %d drawers that cannot be found, the restored palace %d", sick, n)
	}
}

func TestThePlainFormRepairsAndTellsOfTheCopy(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more")
	out := plainDialog(t, site, "1", "R", "y", "3", "4", "1", "v", "b", "u", "y", "q")
	wantInOrder(t, out, "R repairs it: index", "Repair? y for yes", "searchable", "Copies that repairs took", "of 2,395 drawers by meaning", "grew: ", "1 copy", "verified when taken",
		"verified now", "Undo the repair", "as it was before the repair")
}

func TestEveryModeHasWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range repair.Modes() {
		words := modeWords(m)
		if seen[words] || strings.Contains(words, "--mode") {
			t.Errorf("%s has no words of its own: %q", m, words)
		}
		seen[words] = true
	}
}

// mend repairs the palace under the cursor.
func (d *driver) mend() {
	d.keys("R")
	d.agree()
	d.finish()
}

func TestFramesOfRepairs(t *testing.T) {
	t.Parallel()
	play(t, newSite(t, "quarantine-holds-more"), []scene{
		{name: "repair-palaces"},
		{name: "repair-finding", keys: "f enter"},
		{name: "repair-plan", keys: "R"},
		{name: "repair-confirm", keys: "R enter"},
		{name: "backups-none", keys: "b"},
	})
	repaired := newSite(t, "quarantine-holds-more")
	newDriver(t, repaired, uitest.Plain(), 80, 24).mend()
	play(t, repaired, []scene{
		{name: "backups", keys: "b"},
		{name: "backups-verified", keys: "b v"},
		{name: "restore-plan", keys: "b R"},
	})
	t.Run("repair-result", func(t *testing.T) {
		uitest.Frames(t, "repair-result", func(th theme.Theme, w, h int) string {
			d := newDriver(t, newSite(t, "quarantine-holds-more"), th, w, h)
			d.mend()
			return d.frame()
		})
	})
}
