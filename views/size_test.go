package views

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

// sizes are those that people resize through, and those that have crashed other
// programs.
var sizes = [][2]int{
	{0, 0}, {1, 1}, {20, 5}, {29, 7}, {30, 8}, {40, 12}, {59, 15}, {60, 16}, {79, 23}, {80, 24},
	{110, 30}, {111, 30}, {120, 40}, {300, 100}, {300, 8}, {30, 100}, {120, 1}, {1, 40}, {0, 24}, {80, 0},
}

func TestEveryScreenFitsEverySize(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "quarantine-holds-more", "not-a-database")
	more := map[string]string{"help": "?", "palette": ":", "copy": "d y", "path": "o", "typing": "d /", "reading": "d enter",
		"full": "d z", "search": "d enter /", "finding": "j f z", "unreadable": "G enter"}
	for name, keys := range screens {
		more[name] = keys
	}
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		for name, keys := range more {
			d := newDriver(t, site, th, 80, 24)
			d.keys(keys)
			// Shrinking, growing, and from the smallest straight to the largest.
			for _, order := range [][][2]int{sizes, reversed(sizes), {{300, 100}, {1, 1}, {300, 100}, {0, 0}, {80, 24}}} {
				for _, size := range order {
					d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					uitest.Check(t, d.frame(), size[0], size[1])
					if t.Failed() {
						t.Fatalf("%s at %dx%d", name, size[0], size[1])
					}
				}
			}
		}
	}
}

func reversed(list [][2]int) [][2]int {
	var out [][2]int
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}

func TestShrinkingAndGrowingLeavesTheScreenAsItWas(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for name, keys := range screens {
		d := newDriver(t, site, uitest.Plain(), 80, 24)
		d.keys(keys)
		before := d.frame()
		for _, size := range [][2]int{{20, 5}, {0, 0}, {40, 12}, {80, 24}} {
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		}
		if d.frame() != before {
			t.Errorf("%s changed:\n%s\n%s", name, before, d.frame())
		}
	}
}

func TestTooSmallAWindowSaysWhatIsNeeded(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 29, 7)
	if got := d.frame(); got != "needs 30x8, has 29x7" {
		t.Errorf("%q", got)
	}
}

func TestNothingIsDrawnBeforeTheSizeIsKnown(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 0, 0)
	if got := d.frame(); got != "" {
		t.Errorf("%q", got)
	}
	d.keys("j d G / x") // keys may come first, too
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	uitest.Check(t, d.frame(), 80, 24)
}

func TestTheCursorRowStaysInSight(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 120, 40)
	d.keys("d G")
	id := d.app.top().(*drawers).table.ID()
	for _, size := range [][2]int{{80, 24}, {40, 12}, {30, 8}, {120, 40}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if got := d.app.top().(*drawers).table.ID(); got != id {
			t.Fatalf("at %v the cursor is on %s, was on %s", size, got, id)
		}
		if !strings.Contains(d.frame(), uitest.Plain().Glyphs.Cursor+" ") {
			t.Errorf("no cursor at %v:\n%s", size, d.frame())
		}
	}
}

func TestTheListComesBeforeItsPaneWhereThereIsLittleRoom(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	for _, c := range []struct {
		w, h int
		want string
	}{{40, 12, "none"}, {80, 24, "below"}, {110, 40, "below"}, {120, 40, "beside"}} {
		d := newDriver(t, site, uitest.Plain(), c.w, c.h)
		f := d.app.frame(d.app.top())
		got := "none"
		switch {
		case f.Detail.X > 0 && f.List.W >= 80:
			got = "beside"
		case !f.Detail.Empty():
			got = "below"
		}
		if got != c.want {
			t.Errorf("%dx%d: the pane is %s, want %s", c.w, c.h, got, c.want)
		}
	}
}
