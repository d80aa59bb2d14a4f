package views

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui/uitest"
)

// screens are the ways to every screen, from the first one.
var screens = map[string]string{
	"palaces": "", "overview": "enter", "wings": "enter tab", "rooms": "enter tab enter", "drawers": "d",
	"findings": "f", "holders": "p", "tasks": "t", "search": "a esc", "like": "d m", "quality": "enter i", "guide": "enter u", "delete": "d D", "backups": "b", "vitals": "v", "findings of a part": "v enter",
}

func TestNoScreenHasTwoCommandsOnOneKey(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for name, keys := range screens {
		d := newDriver(t, site, uitest.Plain(), 80, 24) // a conflict panics
		d.keys(keys)
		for _, c := range d.app.top().keys().Commands() {
			if c.Group == "" {
				t.Errorf("%s: command %s is in no group of the help", name, c.ID)
			}
		}
	}
}

func TestQGoesBackAndQuitsFromTheFirstScreen(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("enter tab enter enter")
	for want := 3; want >= 1; want-- {
		d.keys("q")
		if got := len(d.app.stack); got != want {
			t.Fatalf("%d screens, want %d", got, want)
		}
	}
	if d.quits != 0 {
		t.Fatal("q quit from an inner screen")
	}
	d.keys("q")
	if d.quits != 1 {
		t.Error("q did not quit from the first screen")
	}
}

func TestEscEndsTheInnermostThingAndNeverQuits(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy", "fresh"), uitest.Plain(), 80, 24)
	d.keys("d /")
	d.typing("mutex")
	d.keys("enter space enter / k e r n e l enter")
	s := d.app.top().(*drawers)
	for _, step := range []struct {
		what string
		left func() bool
	}{
		{"the search in the text", func() bool { return s.detail.Query() == "" && s.reading }},
		{"reading", func() bool { return !s.reading && s.want == "mutex" }},
		{"the filter", func() bool { return s.want == "" && len(d.app.stack) == 2 }},
		{"the marks", func() bool { return len(s.table.Marked()) == 0 && len(d.app.stack) == 2 }},
		{"the screen", func() bool { return len(d.app.stack) == 1 }},
		{"nothing", func() bool { return len(d.app.stack) == 1 && d.quits == 0 }},
		{"nothing", func() bool { return len(d.app.stack) == 1 && d.quits == 0 }},
	} {
		d.keys("esc")
		if !step.left() {
			t.Fatalf("esc did not end %s:\n%s", step.what, d.frame())
		}
	}
}

func TestEveryLetterIsTextInAFilter(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy", "fresh"), uitest.Plain(), 80, 24)
	d.keys("/ q ? : r R d")
	if in := d.app.top().input(); in == nil || in.Value() != "q?:rRd" {
		t.Fatalf("the filter is not what was typed:\n%s", d.frame())
	}
	if d.quits != 0 || len(d.app.stack) != 1 || d.app.overlay.Top() != nil {
		t.Error("a letter typed into the filter did something else")
	}
	d.keys("esc esc")
	if d.quits != 0 {
		t.Error("esc quit")
	}
}

func TestAPasteIsNoCommand(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy"))
	for name, keys := range screens {
		d := newDriver(t, s, uitest.Plain(), 80, 24)
		d.keys(keys)
		before, asked := d.frame(), s.count(fakeHome+"/palaces/healthy")
		for _, text := range []string{"rrr", "q", "qqqq\nq", "y", "x\r\n"} {
			d.send(uitest.Paste(text))
		}
		if d.quits != 0 || d.frame() != before || s.count(fakeHome+"/palaces/healthy") != asked {
			t.Errorf("%s: a paste acted:\n%s", name, d.frame())
		}
	}
}

func TestAPasteIntoTheFilterIsText(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("d /")
	d.send(uitest.Paste("winter\ncloset"))
	d.settle()
	d.shows("/winter closet")
}

func TestKeysTypedQuicklyCountOneByOne(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy", "fresh"), uitest.Plain(), 80, 24)
	d.send(uitest.Joined("jkd"))
	if _, ok := d.app.top().(*drawers); !ok {
		t.Fatalf("jkd did not open the drawers:\n%s", d.frame())
	}
	d.send(uitest.Joined("/mut"))
	d.settle()
	d.send(uitest.Joined("ex"))
	d.settle()
	d.shows("/mutex", "501/1,500")
	d.keys("esc")
	d.send(uitest.Joined("qq"))
	if d.quits != 1 {
		t.Error("qq did not go back and quit")
	}
}

func TestCtrlCQuitsFromAnywhere(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for _, keys := range []string{"", "enter", "d /", "?", ":", "y", "o", "d enter /"} {
		d := newDriver(t, site, uitest.Plain(), 80, 24)
		d.keys(keys)
		d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
		if d.quits != 1 {
			t.Errorf("ctrl+c did not quit after %q", keys)
		}
	}
}

func TestAKeyThatCannotActSaysWhy(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "empty"), uitest.Plain(), 80, 24)
	d.keys("d")
	d.shows("Drawers of the palace: the palace has no collection")
}

func TestHelpNamesEveryKeyOfTheScreen(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for name, keys := range screens {
		d := newDriver(t, site, uitest.Plain(), 100, 80)
		d.keys(keys + " ?")
		for _, c := range d.app.top().keys().Commands() {
			for _, k := range c.Keys {
				if !strings.Contains(d.frame(), k) {
					t.Errorf("%s: the help does not name the key %s of %s", name, k, c.ID)
				}
			}
		}
		d.keys("q")
		if d.app.overlay.Top() != nil {
			t.Errorf("%s: q does not close the help", name)
		}
	}
}

func TestThePaletteRunsWhatItFinds(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys(":")
	d.typing("holders")
	d.keys("enter")
	if _, ok := d.app.top().(*holders); !ok {
		t.Errorf("the palette did not open the holders:\n%s", d.frame())
	}
}

func TestErrorsStayUntilAKey(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("o")
	d.typing("/nowhere/at/all")
	d.keys("enter")
	d.shows("no such palace")
	d.wait(time.Minute)
	d.shows("no such palace")
	d.keys("j")
	d.hides("no such palace")
	d.keys(":")
	d.typing("messages")
	d.keys("enter")
	d.shows("no such palace")
}
