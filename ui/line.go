package ui

import (
	"strings"
	"unicode/utf8"

	"castellan/theme"
	"castellan/ui/text"
)

// Ruler measures and cuts text for a theme.
func Ruler(th theme.Theme) text.Ruler {
	return text.Ruler{Wide: th.MeasureWide(), Tail: th.Glyphs.Ellipsis}
}

// Span is a piece of text in one role. The text may come from anywhere: it is
// cleaned before it is shown.
type Span struct {
	Text string
	Role theme.Role
}

// Line is text in several roles. It may hold line breaks.
type Line []Span

// Plain is a Line of running text.
func Plain(s string) Line { return Line{{Text: s}} }

// In is a Line in one role.
func In(r theme.Role, s string) Line { return Line{{s, r}} }

// lineLimit is how much of a text is looked at for one row of the screen, in
// bytes.
const lineLimit = 2048

// oneLine makes any text fit to be shown in one row, before it is cut to width.
func oneLine(s string) string {
	s, _ = text.Bound(s, lineLimit, text.CutEnd)
	return text.Clean(s)
}

// width is the number of cells the line takes in one row.
func (l Line) width(r text.Ruler) int {
	n := 0
	for _, s := range l {
		n += r.Width(oneLine(s.Text))
	}
	return n
}

// Fit paints the line into exactly w cells of one row.
func (l Line) Fit(th theme.Theme, w int) string {
	if w <= 0 {
		return ""
	}
	r := Ruler(th)
	var clean strings.Builder
	var ends []int
	for _, s := range l {
		clean.WriteString(oneLine(s.Text))
		ends = append(ends, clean.Len())
	}
	shown := r.Truncate(clean.String(), w, text.CutEnd)
	// The mark of a cut belongs to the span that was cut.
	kept := commonPrefix(shown, clean.String())
	for i, end := range ends {
		if end > kept {
			ends[i] = len(shown)
		}
	}
	pad := strings.Repeat(" ", w-r.Width(shown))
	return l.paint(th, shown, ends, text.Span{End: len(shown)}) + pad
}

// Wrap paints the line into rows of at most w cells.
func (l Line) Wrap(th theme.Theme, w int) []string {
	r := Ruler(th)
	var clean strings.Builder
	var ends []int
	for _, s := range l {
		clean.WriteString(text.Block(s.Text))
		ends = append(ends, clean.Len())
	}
	all := clean.String()
	var rows []string
	for _, sp := range r.Breaks(all, w) {
		row := l.paint(th, all, ends, sp)
		if r.Width(all[sp.Start:sp.End]) > w {
			row = r.Slice(row, 0, w)
		}
		rows = append(rows, row)
	}
	return rows
}

// commonPrefix is the length of what a and b begin with, in whole characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// paint paints s[sp.Start:sp.End]; span i of the line ends at ends[i] of s.
func (l Line) paint(th theme.Theme, s string, ends []int, sp text.Span) string {
	var b strings.Builder
	at := sp.Start
	for i, end := range ends {
		if end = min(end, sp.End); end > at {
			b.WriteString(th.Paint(l[i].Role, s[at:end]))
			at = end
		}
	}
	return b.String()
}

// Field is a paragraph with a label beside it: the form in which facts and
// consequences are told. Without a label it takes the whole width.
type Field struct {
	Label string
	Text  Line
}

// Para is a Field without a label.
func Para(s string) Field { return Field{Text: Plain(s)} }

// Blank is an empty line between fields.
func Blank() Field { return Field{} }

// Fields lays fields out w cells wide, their texts aligned behind the labels.
func Fields(th theme.Theme, fields []Field, w int) []string {
	if w <= 0 {
		return nil
	}
	r := Ruler(th)
	label := 0
	for _, f := range fields {
		label = max(label, r.Width(oneLine(f.Label)))
	}
	// A label of a third of the width or more squeezes its text.
	label = min(label, max(w/3, 1))
	indent := label + 2
	if indent+8 > w {
		indent = 0
	}
	var rows []string
	for _, f := range fields {
		switch {
		case f.Label == "":
			rows = append(rows, f.Text.Wrap(th, w)...)
		case indent == 0:
			rows = append(rows, In(theme.Header, f.Label).Fit(th, w))
			rows = append(rows, f.Text.Wrap(th, w)...)
		default:
			name := th.Paint(theme.Header, r.Fit(f.Label, label, text.CutEnd, text.Left)) + "  "
			for _, row := range f.Text.Wrap(th, w-indent) {
				rows = append(rows, name+row)
				name = strings.Repeat(" ", indent)
			}
		}
	}
	return rows
}
