package ui

import (
	"fmt"
	"strings"
	"testing"

	"castellan/theme"
	"castellan/ui/uitest"
)

func TestLayoutAtTheSizesPeopleHave(t *testing.T) {
	t.Parallel()
	all := Wants{Gauges: 5, Detail: Open, Log: true}
	for _, c := range []struct {
		w, h int
		want Wants
		f    Frame
	}{
		{0, 0, all, Frame{}},
		{80, 0, all, Frame{}},
		{-1, 24, all, Frame{}},
		{1, 1, all, Frame{W: 1, H: 1, Class: TooSmall}},
		{20, 5, all, Frame{W: 20, H: 5, Class: TooSmall}},
		{29, 24, all, Frame{W: 29, H: 24, Class: TooSmall}},
		{80, 7, all, Frame{W: 80, H: 7, Class: TooSmall}},
		{30, 8, all, Frame{W: 30, H: 8, Class: Small,
			Title: Rect{0, 0, 30, 1}, Detail: Rect{0, 1, 30, 6}, Help: Rect{0, 7, 30, 1}}},
		{40, 12, Wants{Gauges: 5}, Frame{W: 40, H: 12, Class: Small,
			Title: Rect{0, 0, 40, 1}, Gauges: Rect{0, 1, 40, 1}, List: Rect{0, 2, 40, 9}, Help: Rect{0, 11, 40, 1}}},
		{80, 24, Wants{Gauges: 5}, Frame{W: 80, H: 24, Class: Medium,
			Title: Rect{0, 0, 80, 1}, Gauges: Rect{0, 1, 80, 1}, List: Rect{0, 2, 80, 20},
			Status: Rect{0, 22, 80, 1}, Help: Rect{0, 23, 80, 1}}},
		{80, 24, Wants{}, Frame{W: 80, H: 24, Class: Medium,
			Title: Rect{0, 0, 80, 1}, List: Rect{0, 1, 80, 21}, Status: Rect{0, 22, 80, 1}, Help: Rect{0, 23, 80, 1}}},
		{80, 24, all, Frame{W: 80, H: 24, Class: Medium,
			Title: Rect{0, 0, 80, 1}, Gauges: Rect{0, 1, 80, 1}, List: Rect{0, 2, 80, 12},
			Rules: []Rect{{0, 14, 80, 1}}, Detail: Rect{0, 15, 80, 7},
			Status: Rect{0, 22, 80, 1}, Help: Rect{0, 23, 80, 1}}},
		{80, 24, Wants{Gauges: 5, Detail: Full}, Frame{W: 80, H: 24, Class: Medium,
			Title: Rect{0, 0, 80, 1}, Gauges: Rect{0, 1, 80, 1}, Detail: Rect{0, 2, 80, 20},
			Status: Rect{0, 22, 80, 1}, Help: Rect{0, 23, 80, 1}}},
		{80, 16, all, Frame{W: 80, H: 16, Class: Medium, // 40 % would be four lines: all of it instead
			Title: Rect{0, 0, 80, 1}, Gauges: Rect{0, 1, 80, 1}, Detail: Rect{0, 2, 80, 12},
			Status: Rect{0, 14, 80, 1}, Help: Rect{0, 15, 80, 1}}},
		{110, 24, Wants{Detail: Open}, Frame{W: 110, H: 24, Class: Medium, // the list would lose its 80 columns
			Title: Rect{0, 0, 110, 1}, List: Rect{0, 1, 110, 13}, Rules: []Rect{{0, 14, 110, 1}}, Detail: Rect{0, 15, 110, 7},
			Status: Rect{0, 22, 110, 1}, Help: Rect{0, 23, 110, 1}}},
		{120, 40, all, Frame{W: 120, H: 40, Class: Large,
			Title: Rect{0, 0, 120, 1}, Gauges: Rect{0, 1, 120, 1}, List: Rect{0, 2, 80, 29}, Detail: Rect{82, 2, 38, 29},
			Rules: []Rect{{0, 31, 120, 1}, {80, 2, 2, 29}}, Log: Rect{0, 32, 120, 6},
			Status: Rect{0, 38, 120, 1}, Help: Rect{0, 39, 120, 1}}},
		{200, 50, Wants{Detail: Open}, Frame{W: 200, H: 50, Class: Large,
			Title: Rect{0, 0, 200, 1}, List: Rect{0, 1, 118, 47}, Detail: Rect{120, 1, 80, 47}, Rules: []Rect{{118, 1, 2, 47}},
			Status: Rect{0, 48, 200, 1}, Help: Rect{0, 49, 200, 1}}},
		{50, 40, Wants{Gauges: 4}, Frame{W: 50, H: 40, Class: Small, // narrow and high: gauges one below the other
			Title: Rect{0, 0, 50, 1}, Gauges: Rect{0, 1, 50, 4}, List: Rect{0, 5, 50, 34}, Help: Rect{0, 39, 50, 1}}},
	} {
		if got := Layout(c.w, c.h, c.want); fmt.Sprint(got) != fmt.Sprint(c.f) {
			t.Errorf("%dx%d %+v:\n got %+v\nwant %+v", c.w, c.h, c.want, got, c.f)
		}
	}
}

// Every cell belongs to exactly one part, at every size.
func TestLayoutCoversTheScreenOnce(t *testing.T) {
	t.Parallel()
	for w := MinWidth; w <= 170; w += 3 {
		for h := MinHeight; h <= 60; h++ {
			for _, detail := range []Pane{Closed, Open, Full} {
				for _, log := range []bool{false, true} {
					want := Wants{Gauges: h % 7, Detail: detail, Log: log}
					f := Layout(w, h, want)
					area := 0
					for _, r := range append([]Rect{f.Title, f.Gauges, f.List, f.Detail, f.Log, f.Status, f.Help}, f.Rules...) {
						if r.Empty() {
							continue
						}
						if r.X < 0 || r.Y < 0 || r.X+r.W > w || r.Y+r.H > h {
							t.Fatalf("%dx%d %+v: %+v is outside", w, h, want, r)
						}
						area += r.W * r.H
					}
					if area != w*h {
						t.Fatalf("%dx%d %+v: parts cover %d of %d cells: %+v", w, h, want, area, w*h, f)
					}
					if f.List.Empty() && f.Detail.Empty() {
						t.Fatalf("%dx%d %+v: no body", w, h, want)
					}
					if !f.List.Empty() && !f.Detail.Empty() && f.Detail.X > 0 && f.List.W < 80 {
						t.Fatalf("%dx%d: the list has %d columns beside a detail", w, h, f.List.W)
					}
				}
			}
		}
	}
}

func TestComposeFillsTheFrameExactly(t *testing.T) {
	t.Parallel()
	hostileLines := strings.Repeat("漢字 \x1b[31mred\x1b[0m text that is far too long for its place ...................................................................................................................\n", 90)
	p := Parts{hostileLines, hostileLines, hostileLines, hostileLines, hostileLines, hostileLines, "", hostileLines}
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 5}, {30, 8}, {40, 12}, {59, 15}, {60, 16}, {80, 24}, {111, 30}, {120, 40}, {200, 60}} {
			for _, parts := range []Parts{{}, p} {
				f := Layout(size[0], size[1], Wants{Gauges: 3, Detail: Open, Log: true})
				frame := Compose(th, f, parts)
				uitest.Check(t, frame, size[0], size[1])
				if f.Class >= Small {
					if n := strings.Count(frame, "\n") + 1; n != size[1] {
						t.Errorf("%v: %d lines", size, n)
					}
				}
			}
		}
	}
}

func TestTooSmallSaysWhatIsNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, h int
		want string
	}{{20, 5, "needs 30x8, has 20x5"}, {80, 3, "needs 30x8, has 80x3"}, {1, 1, "…"}, {0, 0, ""}, {10, 0, ""}} {
		if got := Compose(uitest.Plain(), Layout(c.w, c.h, Wants{}), Parts{Title: "x"}); got != c.want {
			t.Errorf("%dx%d says %q, want %q", c.w, c.h, got, c.want)
		}
	}
}

func TestAToastTakesTheStatusLine(t *testing.T) {
	t.Parallel()
	parts := Parts{Status: "STATUS", Help: "HELP", Toast: "TOAST"}
	medium := Compose(uitest.Plain(), Layout(80, 24, Wants{}), parts)
	if strings.Contains(medium, "STATUS") || !strings.Contains(medium, "TOAST") || !strings.Contains(medium, "HELP") {
		t.Error("80x24")
	}
	small := Compose(uitest.Plain(), Layout(40, 12, Wants{}), parts)
	if !strings.Contains(small, "TOAST") || strings.Contains(small, "HELP") {
		t.Error("40x12")
	}
}

func TestScreenFrames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Wants{
		"screen":        {Gauges: 5},
		"screen-detail": {Gauges: 5, Detail: Open, Log: true},
		"screen-full":   {Detail: Full},
	} {
		uitest.Frames(t, name, func(th theme.Theme, w, h int) string { return drawScreen(t, th, w, h, want) })
	}
}

func drawScreen(t *testing.T, th theme.Theme, w, h int, want Wants) string {
	f := Layout(w, h, want)
	list := palaceTable(th)
	list.SetSize(f.List.W, f.List.H)
	detail := NewPager(th)
	detail.SetFields(append([]Field{{Text: In(theme.Error, th.Mark(theme.Fail)+" 176,613 of 192,997 drawers cannot be found by meaning.")}, Blank()}, rebuild(YesNo).Consequences...))
	detail.SetSize(f.Detail.W, f.Detail.H)
	log := NewLog(10, uitest.NewClock().Now)
	log.SetSize(f.Log.H)
	log.Add(theme.Good, "locked")
	log.Add(theme.Note, "gathered 2,395 vectors")
	return Compose(th, f, Parts{
		Title:  TitleLine(th, []string{"palaces", "~/.mempalace/palace"}, In(theme.Held, "held by PID 4121"), w),
		Gauges: Gauges(th, gauges(), f.Gauges),
		List:   list.View(),
		Detail: detail.View(),
		Log:    log.View(th, f.Log.W),
		Status: StatusLine(th, Plain("read 2 s ago"), Plain(list.Summary()), w),
		Help:   paletteRegistry(t).Footer(th, w),
	})
}

func TestTitleDropsWhatMattersLeast(t *testing.T) {
	t.Parallel()
	crumbs := []string{"palaces", "~/code/old", "repair"}
	right := Plain("step 1 of 3")
	for w, want := range map[int]string{
		80: " palaces › ~/code/old › repair" + strings.Repeat(" ", 38) + "step 1 of 3 ",
		60: " palaces › ~/code/old › repair" + strings.Repeat(" ", 18) + "step 1 of 3 ",
		40: " repair" + strings.Repeat(" ", 21) + "step 1 of 3 ",
		12: " repair     ",
	} {
		if got := TitleLine(uitest.Plain(), crumbs, right, w); got != want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
	long := []string{"palaces", strings.Repeat("/deep", 12), "repair"}
	if got := TitleLine(uitest.Plain(), long, nil, 80); !strings.Contains(got, "… › /deep") || !strings.Contains(got, "repair") {
		t.Errorf("%q", got)
	}
	for _, s := range uitest.Hostile() {
		for w := -1; w < 90; w++ {
			uitest.Check(t, TitleLine(uitest.Color(), []string{s, s, s}, Plain(s), w), max(w, 0), 1)
			uitest.Check(t, StatusLine(uitest.Color(), Plain(s), Plain(s), w), max(w, 0), 1)
		}
	}
}
