package ui

import (
	"strings"

	"castellan/theme"
	"castellan/ui/text"
)

// Parts are the drawn parts of a screen. Toast, if there is one, takes the place
// of Status.
type Parts struct {
	Title, Gauges, List, Detail, Log, Status, Toast, Help string
}

// Compose puts parts where the frame has them: exactly f.H lines of exactly f.W
// cells, whatever the parts are. A part that is larger than its place is cut.
func Compose(th theme.Theme, f Frame, p Parts) string {
	r := Ruler(th)
	switch f.Class {
	case Unsized:
		return ""
	case TooSmall:
		return r.Truncate(needs(f.W, f.H), f.W, text.CutEnd)
	}
	status, help := p.Status, p.Help
	if p.Toast != "" {
		status = p.Toast
		if f.Status.Empty() {
			help = p.Toast
		}
	}
	canvas := make([][]piece, f.H)
	put := func(at Rect, s string) {
		if at.Empty() {
			return
		}
		lines := strings.Split(s, "\n")
		for i := range at.H {
			line := ""
			if i < len(lines) {
				line = lines[i]
			}
			canvas[at.Y+i] = append(canvas[at.Y+i], piece{at.X, at.W, line})
		}
	}
	put(f.Title, p.Title)
	put(f.Gauges, p.Gauges)
	put(f.List, p.List)
	for _, rule := range f.Rules {
		if rule.W > ruleWidth {
			put(rule, Rule(th, rule.W))
		} else {
			line := th.Paint(theme.Border, th.Glyphs.VLine)
			put(rule, strings.TrimSuffix(strings.Repeat(line+"\n", rule.H), "\n"))
		}
	}
	put(f.Detail, p.Detail)
	put(f.Log, p.Log)
	put(f.Status, status)
	put(f.Help, help)

	out := make([]string, f.H)
	for y, pieces := range canvas {
		var b strings.Builder
		at := 0
		for _, x := range pieces { // from left to right, in the order put above
			b.WriteString(strings.Repeat(" ", x.at-at))
			b.WriteString(r.Slice(x.line, 0, x.w))
			at = x.at + x.w
		}
		b.WriteString(strings.Repeat(" ", f.W-at))
		out[y] = b.String()
	}
	return strings.Join(out, "\n")
}

// piece is a part's share of one line.
type piece struct {
	at, w int
	line  string
}
