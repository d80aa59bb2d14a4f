package ui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"castellan/ui/text"
)

// SetFilter shows only rows that have s in any of their cells, upper and lower
// case alike, hidden columns included; "" shows all. With a Provider it is only
// remembered, to be told.
func (t *Table) SetFilter(s string) {
	if s == t.filter {
		return
	}
	t.filter = s
	t.reorder()
}

// Filter is the filter in force.
func (t *Table) Filter() string { return t.filter }

// SortBy sorts by a column; -1 restores the order the rows came in.
func (t *Table) SortBy(col int, desc bool) {
	if col < -1 || col >= len(t.cols) || col >= 0 && t.cols[col].Sort == SortNone {
		return
	}
	t.sortBy, t.desc = col, desc
	t.reorder()
}

// SortNext sorts by the next column that can be seen and sorted, and after the
// last one restores the original order.
func (t *Table) SortNext() {
	widths := t.widths()
	for c := t.sortBy + 1; c < len(t.cols); c++ {
		if widths[c] > 0 && t.cols[c].Sort != SortNone {
			t.SortBy(c, false)
			return
		}
	}
	t.SortBy(-1, false)
}

// SortReverse turns the order of the sorted column round.
func (t *Table) SortReverse() {
	if t.sortBy >= 0 {
		t.SortBy(t.sortBy, !t.desc)
	}
}

// Order is the column sorted by, -1 for none, and the direction: what a Provider
// must follow.
func (t *Table) Order() (col int, desc bool) { return t.sortBy, t.desc }

// Count is "340", or "12/340" under a filter.
func (t *Table) Count() string {
	total := humanize.Comma(int64(t.Total()))
	if t.filter == "" {
		return total
	}
	return humanize.Comma(int64(t.Len())) + "/" + total
}

// Summary is the table's part of a status line: count, marks, order.
func (t *Table) Summary() string {
	parts := []string{t.Count()}
	if t.Noun != "" {
		parts[0] += " " + t.Noun
	}
	if n := len(t.marks); n > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", n))
	}
	if t.sortBy >= 0 {
		way := "up"
		if t.desc {
			way = "down"
		}
		parts = append(parts, "by "+strings.ToLower(t.cols[t.sortBy].Title)+", "+way)
	}
	return strings.Join(parts, " "+t.th.Glyphs.Separator+" ")
}

// reorder applies filter and order, and keeps the cursor on its row.
func (t *Table) reorder() {
	if t.provider != nil {
		t.settle()
		return
	}
	want := strings.ToLower(t.filter)
	if want != "" && t.folded == nil {
		t.fold()
	}
	t.order = t.order[:0]
	for i := range t.rows {
		if want == "" || strings.Contains(t.folded[i], want) {
			t.order = append(t.order, i)
		}
	}
	if t.sortBy >= 0 {
		t.sort()
	}
	if t.id != "" {
		if i := slices.IndexFunc(t.order, func(i int) bool { return t.rows[i].ID == t.id }); i >= 0 {
			t.cursor = i
		}
	}
	t.settle()
}

// fold makes the text that filters look at. Cells are kept apart by a character
// nobody types, so that no match spans two of them.
func (t *Table) fold() {
	t.folded = make([]string, len(t.rows))
	var b strings.Builder
	for i, r := range t.rows {
		b.Reset()
		for _, c := range r.Cells {
			b.WriteString(text.Clean(c.Text))
			b.WriteByte(0)
		}
		t.folded[i] = strings.ToLower(b.String())
	}
}

func (t *Table) sort() {
	cell := func(i int) Cell {
		if c := t.rows[i].Cells; t.sortBy < len(c) {
			return c[t.sortBy]
		}
		return Cell{Num: math.NaN()}
	}
	number := t.cols[t.sortBy].Sort == SortNumber
	slices.SortStableFunc(t.order, func(i, j int) int {
		a, b := cell(i), cell(j)
		if t.desc {
			a, b = b, a
		}
		if !number {
			return cmp.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text))
		}
		if math.IsNaN(a.Num) != math.IsNaN(b.Num) {
			return unknownLast(cell(i).Num)
		}
		return cmp.Compare(a.Num, b.Num)
	})
}

// unknownLast compares v with another number of which exactly one is unknown.
func unknownLast(v float64) int {
	if math.IsNaN(v) {
		return 1
	}
	return -1
}
