package ui

import (
	"maps"
	"slices"
)

// Move moves the cursor by n rows, stopping at the ends.
func (t *Table) Move(n int) {
	t.cursor += n
	t.settle()
}

// Page moves by n pages, HalfPage by n halves of one.
func (t *Table) Page(n int) { t.Move(n * max(t.bodyHeight(), 1)) }

// HalfPage moves by n half pages.
func (t *Table) HalfPage(n int) { t.Move(n * max(t.bodyHeight()/2, 1)) }

// Home and End go to the ends.
func (t *Table) Home() { t.Move(-t.Len()) }

// End goes to the last row.
func (t *Table) End() { t.Move(t.Len()) }

// Select puts the cursor on the row of that ID, and tells whether it is shown.
func (t *Table) Select(id string) bool {
	if id == "" {
		return false
	}
	i := -1
	if t.provider != nil {
		i = t.provider.Find(id)
	} else {
		i = slices.IndexFunc(t.order, func(i int) bool { return t.rows[i].ID == id })
	}
	if i < 0 {
		return false
	}
	t.cursor = i
	t.settle()
	return true
}

// Click selects the row drawn on line y of the table, 0 being its first, and
// tells whether there is one.
func (t *Table) Click(y int) bool {
	i := t.top + y - (t.h - t.bodyHeight())
	if i < t.top || i >= min(t.Len(), t.top+t.bodyHeight()) {
		return false
	}
	t.cursor = i
	t.settle()
	return true
}

// Visible is the range of rows on the screen: what a Provider should have read.
func (t *Table) Visible() (first, end int) {
	return t.top, min(t.top+t.bodyHeight(), t.Len())
}

// Mark marks the row under the cursor, or takes its mark away, and moves on.
func (t *Table) Mark() {
	if id := t.ID(); id != "" {
		if t.marks[id] {
			delete(t.marks, id)
		} else {
			t.marks[id] = true
		}
	}
	t.Move(1)
}

// ClearMarks takes all marks away, and tells whether there were any.
func (t *Table) ClearMarks() bool {
	had := len(t.marks) > 0
	clear(t.marks)
	return had
}

// Marked are the IDs of the marked rows, in alphabetical order.
func (t *Table) Marked() []string { return slices.Sorted(maps.Keys(t.marks)) }

// Targets is what an action acts on: the marked rows, or else the one under the
// cursor.
func (t *Table) Targets() []string {
	if len(t.marks) > 0 {
		return t.Marked()
	}
	if id := t.ID(); id != "" {
		return []string{id}
	}
	return nil
}

// bodyHeight is the number of lines for rows. A single line shows the row under
// the cursor rather than a header of nothing.
func (t *Table) bodyHeight() int {
	if t.h > 1 {
		return t.h - 1
	}
	return t.h
}

// settle brings cursor and scroll position back into bounds after any change:
// the row under the cursor is always on the screen.
func (t *Table) settle() {
	n, body := t.Len(), t.bodyHeight()
	t.cursor = max(min(t.cursor, n-1), 0)
	t.top = min(t.top, t.cursor)
	if body > 0 {
		t.top = max(t.top, t.cursor-body+1)
		t.top = max(min(t.top, n-body), 0) // after shrinking, fill the page
	}
	if t.provider != nil {
		first, end := t.Visible()
		for i := first; i < end; i++ {
			t.measure(t.row(i))
		}
	}
	t.id = t.ID()
}
