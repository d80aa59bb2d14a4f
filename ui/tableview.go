package ui

import (
	"strings"

	"github.com/dustin/go-humanize"

	"castellan/theme"
	"castellan/ui/text"
)

// gutter is the space for the cursor and the marks.
func (t *Table) gutter() int {
	if len(t.marks) > 0 {
		return 3
	}
	return 2
}

func (t *Table) widths() []int {
	natural := make([]int, len(t.cols))
	for i, c := range t.cols {
		title := Ruler(t.th).Width(c.Title)
		if i == t.sortBy {
			title++
		}
		natural[i] = max(t.natural[i], title)
	}
	return fitColumns(t.cols, natural, t.w-t.gutter(), t.wide)
}

// View draws the table, at most as large as SetSize allows.
func (t *Table) View() string {
	if t.w == 0 || t.h == 0 {
		return ""
	}
	widths := t.widths()
	var rows []string
	if t.h > 1 {
		rows = append(rows, t.header(widths))
	}
	if t.Len() == 0 {
		rows = append(rows, t.nothing()...)
		return strings.Join(rows[:min(len(rows), t.h)], "\n")
	}
	first, end := t.Visible()
	for i := first; i < end; i++ {
		rows = append(rows, t.line(i, widths))
	}
	return strings.Join(rows, "\n")
}

func (t *Table) header(widths []int) string {
	r := Ruler(t.th)
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", t.gutter()))
	first := true
	for i, c := range t.cols {
		if widths[i] == 0 {
			continue
		}
		if !first {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		first = false
		title := c.Title
		if i == t.sortBy {
			if t.desc {
				title += t.th.Glyphs.Desc
			} else {
				title += t.th.Glyphs.Asc
			}
		}
		b.WriteString(r.Fit(title, widths[i], text.CutEnd, c.Align))
	}
	return t.th.Paint(theme.Header, r.Fit(b.String(), t.w, text.CutEnd, text.Left))
}

// line draws the i-th row shown.
func (t *Table) line(i int, widths []int) string {
	r := Ruler(t.th)
	row := t.row(i)
	current := i == t.cursor
	paint := t.th.Paint
	if current && !t.blurred {
		// One style from edge to edge: role colours on a coloured row are
		// what made other programs' selected rows illegible.
		paint = func(_ theme.Role, s string) string { return s }
	}
	var b strings.Builder
	b.WriteString(t.signs(row, current, paint))
	used := t.gutter()
	first := true
	for c, w := range widths {
		if w == 0 {
			continue
		}
		if !first {
			b.WriteString(strings.Repeat(" ", columnGap))
			used += columnGap
		}
		first = false
		used += w
		cell := Cell{}
		switch {
		case row.ID == "":
			cell = Cell{Text: t.th.Glyphs.Ellipsis, Role: theme.Faint}
		case c < len(row.Cells):
			cell = row.Cells[c]
		}
		// Blanks stay unpainted: a word on red must not become a bar of red.
		fitted := r.Fit(cell.Text, w, t.cols[c].Cut, t.cols[c].Align)
		tail := strings.TrimLeft(fitted, " ")
		b.WriteString(fitted[:len(fitted)-len(tail)])
		word := strings.TrimRight(tail, " ")
		b.WriteString(paint(cell.Role, word))
		b.WriteString(tail[len(word):])
	}
	line := b.String()
	if used > t.w {
		return r.Slice(line, 0, t.w) // narrower than the gutter
	}
	line += strings.Repeat(" ", t.w-used)
	if current && !t.blurred {
		line = t.th.Paint(theme.Selected, line)
	}
	return line
}

// signs draws the gutter: the cursor, and the mark if any row has one.
func (t *Table) signs(row Row, current bool, paint func(theme.Role, string) string) string {
	cursor, mark := " ", ""
	if current {
		cursor = t.th.Glyphs.Cursor
		if t.blurred {
			cursor = t.th.Glyphs.Rest
		}
	}
	if len(t.marks) > 0 {
		mark = " "
		if t.marks[row.ID] {
			mark = paint(theme.Marked, t.th.Glyphs.Marker)
		}
	}
	return cursor + mark + " "
}

// nothing is what stands in place of the rows.
func (t *Table) nothing() []string {
	msg := t.Empty
	if t.filter != "" && t.Total() > 0 {
		noun := t.Noun
		if noun == "" {
			noun = "rows"
		}
		msg = "Nothing in " + humanize.Comma(int64(t.Total())) + " " + noun + ` matches "` + t.filter + `". esc shows all.`
	}
	var rows []string
	for _, l := range In(theme.Faint, msg).Wrap(t.th, max(t.w-t.gutter(), 1)) {
		rows = append(rows, Ruler(t.th).Slice("  "+l, 0, t.w))
	}
	return rows
}
