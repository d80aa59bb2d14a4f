package ui

import (
	"strings"

	"castellan/theme"
	"castellan/ui/text"
)

// Rule is a horizontal line of w cells.
func Rule(th theme.Theme, w int) string {
	return th.Paint(theme.Border, strings.Repeat(th.Glyphs.HLine, max(w, 0)))
}

// box frames rows, w cells wide in all, with a title in the upper edge.
func box(th theme.Theme, title string, rows []string, w int) []string {
	r := Ruler(th)
	g := th.Glyphs
	edge := func(s string) string { return th.Paint(theme.Border, s) }
	inner := w - 4
	title = r.Truncate(oneLine(title), inner-2, text.CutMiddle)
	rest := w - 5 - r.Width(title)
	out := []string{edge(g.TopLeft+g.HLine) + " " + th.Paint(theme.Title, title) + " " +
		edge(strings.Repeat(g.HLine, rest)+g.TopRight)}
	for _, row := range rows {
		out = append(out, edge(g.VLine)+" "+r.Slice(row, 0, inner)+" "+edge(g.VLine))
	}
	return append(out, edge(g.BotLeft+strings.Repeat(g.HLine, w-2)+g.BotRight))
}

// place puts a box over the middle of a screen of w x h.
func place(th theme.Theme, screen string, box []string, w, h int) string {
	r := Ruler(th)
	lines := strings.Split(screen, "\n")
	for len(lines) < h {
		lines = append(lines, "")
	}
	lines = lines[:h]
	box = box[:min(len(box), h)]
	width := r.Width(text.Strip(box[0]))
	left, top := max((w-width)/2, 0), (h-len(box))/2
	for i, row := range box {
		under := lines[top+i]
		lines[top+i] = r.Slice(under, 0, left) + r.Slice(row, 0, width) + r.Slice(under, left+width, w)
	}
	return strings.Join(lines, "\n")
}
