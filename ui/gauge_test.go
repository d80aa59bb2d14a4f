package ui

import (
	"math"
	"strings"
	"testing"

	"castellan/theme"
	"castellan/ui/uitest"
)

func TestPercentIsHonestAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done, total int64
		want        string
	}{
		{0, 100, "0%"}, {100, 100, "100%"}, {1, 192_997, "1%"}, {192_996, 192_997, "99%"},
		{16_384, 192_997, "8%"}, {1, 2, "50%"}, {5, 1000, "1%"}, {15, 1000, "2%"}, {14, 1000, "1%"},
		{995, 1000, "99%"}, {120, 100, "100%"}, {0, 0, ""}, {5, 0, ""}, {-1, 10, ""}, {3, -1, ""},
		{math.MaxInt64 - 1, math.MaxInt64, "99%"}, {math.MaxInt64 / 2, math.MaxInt64, "50%"},
	} {
		if got := Percent(c.done, c.total); got != c.want {
			t.Errorf("%d of %d is %q, want %q", c.done, c.total, got, c.want)
		}
	}
}

func TestBarIsFullOnlyWhenComplete(t *testing.T) {
	t.Parallel()
	th := uitest.ASCII()
	for _, c := range []struct {
		done, total int64
		w           int
		want        string
	}{
		{0, 10, 5, "....."}, {1, 1000, 5, "#...."}, {999, 1000, 5, "####."}, {10, 10, 5, "#####"},
		{5, 10, 4, "##.."}, {9, 10, 1, "."}, {10, 10, 1, "#"}, {5, 10, 0, ""}, {5, 10, -1, ""}, {5, 0, 3, "..."},
	} {
		if got := Bar(th, c.done, c.total, c.w, theme.Text); got != c.want {
			t.Errorf("%d of %d in %d cells is %q, want %q", c.done, c.total, c.w, got, c.want)
		}
	}
}

func gauges() []Gauge {
	return []Gauge{
		{Label: "drawers", Value: "192,997"},
		{Label: "searchable", Value: "16,384", Done: 16_384, Total: 192_997, Role: theme.Danger},
		{Label: "capacity", Value: "16,384 of 16,384", Done: 16_384, Total: 16_384},
		{Label: "disk", Value: "1.4 GB, 38 GB free"},
		{Label: "queue", Value: "0"},
	}
}

func TestGaugeFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "gauges", func(th theme.Theme, w, h int) string {
		rows := []string{Strip(th, gauges(), w), ""}
		rows = append(rows, Stack(th, gauges(), w)...)
		rows = append(rows, "")
		for n := 10; n <= w; n += 25 {
			rows = append(rows, gauges()[1].View(th, n))
		}
		return strings.Join(rows, "\n")
	})
	ascii := strings.Join(Stack(uitest.ASCII(), gauges(), 40), "\n")
	uitest.Golden(t, "gauges.ascii.txt", ascii)
}

func TestGaugesKeepToAnyWidth(t *testing.T) {
	t.Parallel()
	gs := gauges()
	for _, s := range uitest.Hostile() {
		gs = append(gs, Gauge{Label: s, Value: s, Done: 1, Total: 3})
	}
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		for w := -1; w < 60; w++ {
			uitest.Check(t, Strip(th, gs[5:], w), max(w, 0), 1)
			for _, row := range Stack(th, gs, w) {
				uitest.Check(t, row, max(w, 0), 1)
			}
			for _, g := range gs {
				uitest.Check(t, g.View(th, w), max(w, 0), 1)
			}
		}
	}
}
