package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is one column of a table for people.
type column struct {
	title string
	// right aligns figures.
	right bool
	// spare columns are left out where the terminal is too narrow for all, the
	// highest number first; 0 always stays.
	spare int
	// flex gives way when that is not enough; at most one column does. Paths
	// give way at the front, where they say least.
	flex, path bool
}

// table is aligned by cells, not bytes: names may be Chinese or emoji.
type table struct {
	columns []column
	rows    [][]string
}

func newTable(columns ...column) *table { return &table{columns: columns} }

// add takes one cell a column, cleaned by the caller where it is stored text.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// minFlex is the narrowest a giving column becomes; below that lines wrap.
const minFlex = 12

// write prints the table with an indent; width 0 leaves out and cuts nothing.
func (t *table) write(w io.Writer, k ink, indent string, width int) {
	l := t.layOut(width - len(indent))
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	writeLine(w, indent+k.faint(l.line(titles)))
	for _, r := range t.rows {
		writeLine(w, indent+l.line(r))
	}
}

// tableLayout is which columns are shown and how wide each is.
type tableLayout struct {
	columns []column
	shown   []int
	widths  []int
}

// between is the space that parts two columns.
const between = 2

func (t *table) layOut(width int) tableLayout {
	l := tableLayout{columns: t.columns, widths: make([]int, len(t.columns))}
	for i, c := range t.columns {
		l.widths[i] = ansi.StringWidth(c.title)
		for _, r := range t.rows {
			l.widths[i] = max(l.widths[i], ansi.StringWidth(r[i]))
		}
		l.shown = append(l.shown, i)
	}
	if width <= 0 {
		return l
	}
	for l.total() > width {
		spare := slices.MaxFunc(l.shown, func(i, j int) int { return t.columns[i].spare - t.columns[j].spare })
		if t.columns[spare].spare == 0 {
			break
		}
		l.shown = slices.DeleteFunc(l.shown, func(i int) bool { return i == spare })
	}
	for i, c := range t.columns {
		if over := l.total() - width; c.flex && over > 0 {
			l.widths[i] = max(min(minFlex, l.widths[i]), l.widths[i]-over)
		}
	}
	return l
}

func (l tableLayout) total() int {
	n := between * (len(l.shown) - 1)
	for _, i := range l.shown {
		n += l.widths[i]
	}
	return n
}

func (l tableLayout) line(cells []string) string {
	var parts []string
	for _, i := range l.shown {
		parts = append(parts, l.cell(i, cells[i]))
	}
	return strings.TrimRight(strings.Join(parts, strings.Repeat(" ", between)), " ")
}

func (l tableLayout) cell(i int, s string) string {
	c, n := l.columns[i], ansi.StringWidth(s)
	if n > l.widths[i] {
		if c.path {
			s = ansi.TruncateLeft(s, n-l.widths[i]+1, "…")
		} else {
			s = ansi.Truncate(s, l.widths[i], "…")
		}
		n = ansi.StringWidth(s)
	}
	pad := strings.Repeat(" ", max(0, l.widths[i]-n))
	if c.right {
		return pad + s
	}
	return s + pad
}

// writeLine writes to a buffered writer that keeps its first error for Flush.
func writeLine(w io.Writer, s string) { _, _ = io.WriteString(w, s+"\n") }
