package ui

import (
	"fmt"
	"strings"
	"testing"

	"castellan/theme"
	"castellan/ui/text"
	"castellan/ui/uitest"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestPagerStaysInBounds(t *testing.T) {
	t.Parallel()
	p := NewPager(uitest.Plain())
	p.SetText(numbered(99))
	p.SetSize(20, 10)
	for _, c := range []struct {
		what string
		do   func()
		want string
	}{
		{"at first", func() {}, "1-10 of 100"},
		{"up from the top", func() { p.Scroll(-5) }, "1-10 of 100"},
		{"a page keeps a row in sight", func() { p.Page(1) }, "10-19 of 100"},
		{"the end", p.End, "91-100 of 100"},
		{"beyond it", func() { p.Page(3) }, "91-100 of 100"},
		{"a larger window fills up", func() { p.SetSize(20, 50) }, "51-100 of 100"},
		{"a window for all", func() { p.SetSize(20, 100) }, ""},
		{"a small one again", func() { p.SetSize(20, 10) }, "1-10 of 100"},
		{"no window", func() { p.SetSize(0, 0) }, ""},
	} {
		if c.do(); p.Position() != c.want {
			t.Errorf("%s: %q, want %q", c.what, p.Position(), c.want)
		}
	}
	if p.View() != "" {
		t.Error("something is drawn into nothing")
	}
	p.SetSize(20, 10)
	p.End()
	p.SetText(numbered(3))
	if !p.AtEnd() || !strings.Contains(p.View(), "line 0") {
		t.Errorf("a shorter text is out of sight: %q", p.View())
	}
}

func TestPagerShowsTheBeginningOfAHugeText(t *testing.T) {
	t.Parallel()
	p := NewPager(uitest.Plain())
	p.SetText(strings.Repeat("0123456789 ", 1<<20))
	p.SetSize(80, 24)
	p.End()
	if !strings.Contains(p.View(), "(10 MB more are not shown)") {
		t.Errorf("%s", p.View())
	}
}

func TestPagerHighlightsWithoutLosingText(t *testing.T) {
	t.Parallel()
	p := NewPager(uitest.Color())
	// Lower case of these has another length: positions must not slip.
	s := "İstanbul KELVIN K ẞ needle Ⱥ NEEDLE"
	p.SetText(s)
	p.SetSize(60, 5)
	p.Search("needle")
	if got := strings.TrimSpace(text.Strip(p.View())); got != "> "+s {
		t.Errorf("%q", got)
	}
	if n := strings.Count(p.View(), uitest.Color().Paint(theme.Match, "needle")); n != 1 {
		t.Errorf("%d matches painted: %q", n, p.View())
	}
	p.Search("no such")
	if got := p.Position(); got != `no match for "no such"` {
		t.Errorf("%q", got)
	}
	p.Next(1)
	p.Search("")
	if got := text.Strip(p.View()); got != s {
		t.Errorf("after the search: %q", got)
	}
}

func TestFieldsAlignTheirTexts(t *testing.T) {
	t.Parallel()
	fields := []Field{{"Why", Plain("one two three four")}, {"Backup", Plain("x")}, Blank(), Para("no label")}
	got := strings.Join(Fields(uitest.Plain(), fields, 20), "|")
	if want := "Why     one two|        three four|Backup  x||no label"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	narrow := strings.Join(Fields(uitest.Plain(), fields[:1], 9), "|")
	if want := "Why      |one two|three|four"; narrow != want {
		t.Errorf("%q, want %q", narrow, want)
	}
}

func TestLinesKeepTheirRolesAndTheirSize(t *testing.T) {
	t.Parallel()
	th := uitest.Color()
	l := Line{{"red ", theme.Error}, {"and 漢字 plain ", theme.Text}, {"key", theme.Key}}
	for w := 1; w < 40; w++ {
		for _, row := range l.Wrap(th, w) {
			uitest.Check(t, row, w, 1)
		}
		fit := l.Fit(th, w)
		uitest.Check(t, fit, w, 1)
		if (text.Ruler{}).Width(text.Strip(fit)) != w {
			t.Errorf("%d cells: %q", w, fit)
		}
	}
	if got := l.Fit(th, 9); got != th.Paint(theme.Error, "red ")+"and …" {
		t.Errorf("%q", got)
	}
	if got := (Line{}).Fit(th, 3); got != "   " {
		t.Errorf("%q", got)
	}
	for _, s := range uitest.Hostile() {
		hostile := Line{{s, theme.Danger}, {s, theme.OK}}
		for w := range 25 {
			uitest.Check(t, hostile.Fit(th, w), w, 1)
			for _, row := range hostile.Wrap(th, max(w, 2)) {
				uitest.Check(t, row, max(w, 2), 1)
			}
		}
	}
}

func BenchmarkPagerMegabyte(b *testing.B) {
	s := strings.Repeat("A wall of words, with some 漢字 in it.\n", 1<<15)
	for b.Loop() {
		p := NewPager(uitest.Color())
		p.SetSize(80, 24)
		p.SetText(s)
		p.View()
	}
}
