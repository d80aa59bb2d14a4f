package ui

import (
	"strings"

	"castellan/theme"
	"castellan/ui/text"
)

// TitleLine is the first line of a screen: where one is, and at the right what is
// always worth knowing. In a narrow window only the last element of the path is
// shown; before that elements go from the left.
func TitleLine(th theme.Theme, crumbs []string, right Line, w int) string {
	if w <= 2 {
		return strings.Repeat(" ", max(w, 0))
	}
	r := Ruler(th)
	if w < dialogFullW && len(crumbs) > 1 {
		crumbs = crumbs[len(crumbs)-1:]
	}
	sep := " " + th.Glyphs.Crumb + " "
	room := w - 2
	rightWidth := right.width(r)
	if rightWidth > 0 && room >= 16 {
		rightWidth = min(rightWidth, room/2)
		room -= rightWidth + 2
	} else {
		rightWidth = 0
	}
	short := make([]string, len(crumbs))
	for i, c := range crumbs {
		short[i], _ = text.Bound(c, lineLimit, text.CutStart)
	}
	path := text.Clean(strings.Join(short, sep))
	for len(short) > 1 && r.Width(path) > room {
		short = short[1:]
		path = th.Glyphs.Ellipsis + sep + text.Clean(strings.Join(short, sep))
	}
	// What is left is a name or a path: its end tells it apart.
	line := " " + th.Paint(theme.Title, r.Fit(path, room, text.CutStart, text.Left))
	if rightWidth > 0 {
		line += "  " + right.Fit(th, rightWidth)
	}
	return line + " "
}

// StatusLine has something at the left and something at the right. The right side
// gives way.
func StatusLine(th theme.Theme, left, right Line, w int) string {
	if w <= 2 {
		return strings.Repeat(" ", max(w, 0))
	}
	r := Ruler(th)
	room := w - 2
	leftWidth := min(left.width(r), room)
	rightWidth := right.width(r)
	if leftWidth+2+rightWidth > room {
		rightWidth = max(room-leftWidth-2, 0)
	}
	gap := room - leftWidth - rightWidth
	return " " + left.Fit(th, leftWidth) + strings.Repeat(" ", gap) + right.Fit(th, rightWidth) + " "
}
