package ui

import (
	"math"

	"castellan/theme"
	"castellan/ui/text"
)

// Column describes one column of a Table.
type Column struct {
	Title string
	// Priority decides what goes when space is short: the lowest first. Of
	// equal ones the rightmost goes first; the last one left never goes.
	Priority int
	// Min is the least width in cells worth showing. 0 means that the column
	// does not shrink: half a number is a wrong number.
	Min int
	// Max is the greatest width; 0 means no limit.
	Max int
	// Flex gives the column whatever width is left. At most one has it.
	Flex  bool
	Align text.Align
	Cut   text.Cut
	// Wide shows the column only in wide mode.
	Wide bool
	Sort Sort
}

// Sort is how a column is sorted.
type Sort uint8

const (
	SortText   Sort = iota // by Cell.Text, upper and lower case alike
	SortNumber             // by Cell.Num
	SortNone               // not at all
)

// Cell is one field of a row. The text is cleaned when it is shown.
type Cell struct {
	Text string
	Role theme.Role
	// Num sorts a SortNumber column. NaN, a figure that could not be read,
	// comes last in either direction.
	Num float64
}

// Number is a cell that sorts by v.
func Number(s string, v float64) Cell { return Cell{Text: s, Num: v} }

// NoNumber is the cell of a figure that is not known.
func NoNumber(s string) Cell { return Cell{Text: s, Role: theme.Faint, Num: math.NaN()} }

// Row is one row. The ID says which thing it shows; cursor and marks follow it
// through refreshes, filters and sorting.
type Row struct {
	ID    string
	Cells []Cell
}

// Provider serves rows one by one, for lists too long to hold. It filters and
// sorts itself: the table only shows what it was told.
type Provider interface {
	// Len is the number of rows under the filter, Total without it.
	Len() int
	Total() int
	// Row is called for rows on the screen only, and must not block. For a row
	// that has not been read yet it returns one without an ID.
	Row(i int) Row
	// Find is the index of an ID, -1 if that is not known.
	Find(id string) int
}

// Table is a list with columns that adapt to the width. It draws itself from
// its state alone; every change goes through a method.
type Table struct {
	// Noun is what the rows are, in the plural, for the empty texts.
	Noun string
	// Empty says why there is nothing and what to do about it.
	Empty string

	th      theme.Theme
	cols    []Column
	wide    bool
	blurred bool
	w, h    int

	rows     []Row
	folded   []string // rows in lower case, made by the first filter
	order    []int    // what is shown, indexes into rows
	provider Provider

	filter string
	sortBy int // column, -1 for the order the rows came in
	desc   bool

	cursor, top int    // indexes into what is shown
	id          string // of the row under the cursor
	marks       map[string]bool
	natural     []int // width each column would like
}

// NewTable makes an empty table.
func NewTable(th theme.Theme, cols ...Column) *Table {
	return &Table{th: th, cols: cols, sortBy: -1, marks: map[string]bool{}, natural: make([]int, len(cols))}
}

// SetRows replaces the rows. Cursor and marks stay with the IDs they were on; if
// the row under the cursor is gone, the next one takes its place. Marks of rows
// that are gone are dropped: nothing may act on what cannot be seen. The table
// keeps the slice.
func (t *Table) SetRows(rows []Row) {
	t.provider, t.rows, t.folded = nil, rows, nil
	if len(t.marks) > 0 {
		marks := map[string]bool{}
		for _, r := range rows {
			if t.marks[r.ID] {
				marks[r.ID] = true
			}
		}
		t.marks = marks
	}
	clear(t.natural)
	for _, r := range rows[:min(len(rows), measureLimit)] {
		t.measure(r)
	}
	t.reorder()
}

// measureLimit bounds the rows a column's width is taken from.
const measureLimit = 2000

// SetProvider shows the rows of p, also to say that they have changed. Columns
// grow with what has been on the screen and do not shrink again.
func (t *Table) SetProvider(p Provider) {
	if t.provider == nil {
		clear(t.natural)
	}
	t.provider, t.rows, t.folded, t.order = p, nil, nil, nil
	if t.id != "" {
		if i := p.Find(t.id); i >= 0 {
			t.cursor = i
		}
	}
	t.settle()
}

// SetSize says how many cells the table may take, header included. 0 means not
// yet known.
func (t *Table) SetSize(w, h int) {
	t.w, t.h = max(w, 0), max(h, 0)
	t.settle()
}

// SetFocus says whether keys go to this table.
func (t *Table) SetFocus(on bool) { t.blurred = !on }

// SetWide shows or hides the columns for wide mode.
func (t *Table) SetWide(on bool) { t.wide = on }

// Wide tells whether wide mode is on.
func (t *Table) Wide() bool { return t.wide }

// Len is the number of rows shown, Total the number there are.
func (t *Table) Len() int {
	if t.provider != nil {
		return t.provider.Len()
	}
	return len(t.order)
}

// Total is the number of rows without the filter.
func (t *Table) Total() int {
	if t.provider != nil {
		return t.provider.Total()
	}
	return len(t.rows)
}

// row is the i-th row shown.
func (t *Table) row(i int) Row {
	if t.provider != nil {
		return t.provider.Row(i)
	}
	return t.rows[t.order[i]]
}

// Row is the row under the cursor; false if there is none.
func (t *Table) Row() (Row, bool) {
	if t.cursor < 0 || t.cursor >= t.Len() {
		return Row{}, false
	}
	return t.row(t.cursor), true
}

// ID is the ID under the cursor, "" if there is none.
func (t *Table) ID() string {
	r, _ := t.Row()
	return r.ID
}

func (t *Table) measure(r Row) {
	ruler := Ruler(t.th)
	for c := range t.cols {
		if c < len(r.Cells) {
			s, _ := text.Bound(r.Cells[c].Text, 512, text.CutEnd)
			t.natural[c] = max(t.natural[c], ruler.Width(text.Clean(s)))
		}
	}
}
