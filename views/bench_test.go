package views

import (
	"context"
	"os"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/specimen"
	"castellan/ui/uitest"
)

// bigPalace names a palace of 200,000 drawers. Without it one is made, which takes
// a minute or two, and removed at the end.
const bigPalace = "CASTELLAN_BIG_PALACE"

// madeBig is the one that was made.
var madeBig string

// bigSite is a home whose only palace is the big one.
func bigSite(b *testing.B) *site {
	b.Helper()
	path := os.Getenv(bigPalace)
	if path == "" && madeBig == "" {
		dir, err := os.MkdirTemp("", "castellan-big-")
		if err != nil {
			b.Fatal(err)
		}
		madeBig = dir
		err = specimen.CopyFS(os.DirFS("../testdata/palaces"), "empty", dir)
		if err == nil {
			err = specimen.Generate(context.Background(), dir, specimen.Spec{Rows: 200_000, Closets: 2_000})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if path == "" {
		path = madeBig
	}
	return openSite(b, b.TempDir(), path)
}

// onBig is a driver on the palaces screen with the big palace under the cursor,
// read already.
func onBig(b *testing.B) *driver {
	d := newDriver(b, bigSite(b), uitest.Color(), 120, 40)
	d.keys("G")
	d.shows("200,000")
	return d
}

// The first frame stands before anything has been read.
func BenchmarkFirstFrame(b *testing.B) {
	site := bigSite(b)
	b.ReportAllocs()
	for b.Loop() {
		a := newApp(context.Background(), Options{Core: site, Theme: uitest.Color(), Out: os.Stderr, still: true}.resolve())
		a.Init()
		a.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		if a.View() == "" {
			b.Fatal("no frame")
		}
	}
}

// A key is answered when the screen that shows its effect has been drawn; what it
// makes the program read comes later, by itself.
func BenchmarkKey(b *testing.B) {
	for _, c := range []struct{ name, way, keys string }{
		{"move", "d", "jk"},
		{"page", "d", "\x04\x15"},
		{"ends", "d", "Gg"},
		{"turn", "d", "SS"},
		{"zoom", "d", "zz"},
		{"overview", "", "\rq"},
		{"help", "d", "?q"},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := onBig(b)
			d.keys(c.way)
			i := 0
			for b.Loop() {
				key := uitest.Key(benchKey(c.keys[i%len(c.keys)]))
				i++
				d.app.Update(key)
				if d.app.View() == "" {
					b.Fatal("no frame")
				}
			}
		})
	}
}

func benchKey(c byte) string {
	switch c {
	case '\r':
		return "enter"
	case 4:
		return "ctrl+d"
	case 21:
		return "ctrl+u"
	}
	return string(c)
}

// Drawers measures a key together with everything that it makes the program read.
func BenchmarkDrawers(b *testing.B) {
	for _, c := range []struct{ name, keys string }{{"next-page", "pgdown"}, {"to-the-other-end", "S"}} {
		b.Run(c.name, func(b *testing.B) {
			d := onBig(b)
			d.keys("d")
			for b.Loop() {
				d.keys(c.keys)
			}
		})
	}
	b.Run("filter", func(b *testing.B) {
		d := onBig(b)
		d.keys("d")
		for b.Loop() {
			d.keys("/")
			d.typing("winter")
			d.keys("esc")
		}
	})
}

// A refresh with nothing changed.
func BenchmarkRefresh(b *testing.B) {
	d := onBig(b)
	d.keys("d")
	for b.Loop() {
		d.wait(refreshPace)
	}
}
