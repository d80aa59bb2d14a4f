package ui

import (
	"strings"

	"castellan/theme"
	"castellan/ui/text"
)

// Gauge is a figure and, if it is a part of something, its share in words and as
// a bar.
type Gauge struct {
	Label string // "searchable"
	Value string // "16,384 of 192,997"
	// Done of Total; a Total of 0 means that there is no share to show.
	Done, Total int64
	Role        theme.Role
}

const (
	barMin = 5
	barMax = 24
)

// words is the gauge without its bar.
func (g Gauge) words() string {
	parts := []string{g.Label}
	pct := Percent(g.Done, g.Total)
	switch {
	case g.Value != "" && pct != "":
		parts = append(parts, g.Value, "("+pct+")")
	case g.Value != "":
		parts = append(parts, g.Value)
	case pct != "":
		parts = append(parts, pct)
	}
	return strings.TrimSpace(oneLine(strings.Join(parts, " ")))
}

// View draws the gauge into at most w cells: the bar shrinks, then goes, then the
// words are cut.
func (g Gauge) View(th theme.Theme, w int) string {
	r := Ruler(th)
	words := r.Truncate(g.words(), w, text.CutEnd)
	label := strings.TrimSpace(oneLine(g.Label))
	if !strings.HasPrefix(words, label) {
		return th.Paint(theme.Faint, words) // no more than a part of the label
	}
	line := th.Paint(theme.Faint, label) + th.Paint(g.Role, words[len(label):])
	if room := w - r.Width(words) - 1; g.Total > 0 && room >= barMin {
		line += " " + Bar(th, g.Done, g.Total, min(room, barMax), g.Role)
	}
	return line
}

// Gauges draws gauges into the place a Layout has for them: a Strip in one line,
// a Stack in several.
func Gauges(th theme.Theme, gauges []Gauge, at Rect) string {
	if at.H > 1 {
		return strings.Join(Stack(th, gauges, at.W), "\n")
	}
	return Strip(th, gauges, at.W)
}

// Strip draws gauges side by side into one line of w cells. Those that do not fit
// go, the last ones first. What is left makes bars, from the first gauge on:
// figures matter more.
func Strip(th theme.Theme, gauges []Gauge, w int) string {
	const gap = 4
	r := Ruler(th)
	if w <= 2 || len(gauges) == 0 {
		return strings.Repeat(" ", max(w, 0))
	}
	var sizes []int
	spare := w - 1
	for i, g := range gauges {
		n := r.Width(g.words())
		if i == 0 {
			n = min(n, w-2)
			spare -= 1 + n
		} else if spare -= gap + n; spare < 0 {
			spare += gap + n
			break
		}
		sizes = append(sizes, n)
	}
	var bars []int
	for i := range sizes {
		if gauges[i].Total > 0 && spare >= 1+barMin {
			bars = append(bars, i)
			sizes[i] += 1 + barMin
			spare -= 1 + barMin
		}
	}
	for _, i := range bars {
		sizes[i] += min(spare/len(bars), barMax-barMin)
	}
	line := " "
	for i, n := range sizes {
		if i > 0 {
			line += strings.Repeat(" ", gap)
		}
		line += r.Slice(gauges[i].View(th, n), 0, n)
	}
	return r.Slice(line, 0, w)
}

// Stack draws gauges one below the other, w cells wide at most, labels and shares
// aligned: the form for small windows.
func Stack(th theme.Theme, gauges []Gauge, w int) []string {
	r := Ruler(th)
	label := 0
	for _, g := range gauges {
		label = max(label, r.Width(oneLine(g.Label)))
	}
	label = min(label, max(w/2, 1))
	var rows []string
	for _, g := range gauges {
		line := th.Paint(theme.Faint, r.Fit(g.Label, label, text.CutEnd, text.Left)) + " "
		room := w - label - 1
		if pct := Percent(g.Done, g.Total); pct != "" && room >= 4 {
			line += th.Paint(g.Role, r.Pad(pct, 4, text.Right))
			room -= 4
			if n := min(room-1, barMax/2); n >= barMin {
				line += " " + Bar(th, g.Done, g.Total, n, g.Role)
				room -= n + 1
			}
			line, room = line+" ", room-1
		}
		if room > 0 && (g.Total <= 0 || room >= r.Width(oneLine(g.Value))) {
			line += th.Paint(g.Role, strings.TrimRight(r.Fit(g.Value, room, text.CutEnd, text.Left), " "))
		}
		rows = append(rows, r.Slice(line, 0, w))
	}
	return rows
}
