package ui

import tea "github.com/charmbracelet/bubbletea"

// Commands are the commands every list has. They are the same on all screens, so
// put them into each screen's Registry after its own. changed, if not nil, runs
// after each and may return a command: to load the rows now in sight, or the
// detail of the row under the cursor.
func (t *Table) Commands(changed func() tea.Cmd) []Command {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd {
			f()
			if changed == nil {
				return nil
			}
			return changed()
		}
	}
	unsorted := func() string {
		if t.sortBy < 0 {
			return "the list is in its own order"
		}
		return ""
	}
	var narrow func() string
	if !t.hasWide() {
		narrow = func() string { return "all columns are shown already" }
	}
	return []Command{
		{ID: "list.down", Title: "Next row", Keys: []string{"j", "down"}, Run: do(func() { t.Move(1) }), Hidden: true, Group: "List"},
		{ID: "list.up", Title: "Previous row", Keys: []string{"k", "up"}, Run: do(func() { t.Move(-1) }), Hidden: true, Group: "List"},
		{ID: "list.half-down", Title: "Half a page down", Keys: []string{"ctrl+d"}, Run: do(func() { t.HalfPage(1) }), Hidden: true, Group: "List"},
		{ID: "list.half-up", Title: "Half a page up", Keys: []string{"ctrl+u"}, Run: do(func() { t.HalfPage(-1) }), Hidden: true, Group: "List"},
		{ID: "list.page-down", Title: "Page down", Keys: []string{"pgdown", "ctrl+f"}, Run: do(func() { t.Page(1) }), Hidden: true, Group: "List"},
		{ID: "list.page-up", Title: "Page up", Keys: []string{"pgup", "ctrl+b"}, Run: do(func() { t.Page(-1) }), Hidden: true, Group: "List"},
		{ID: "list.top", Title: "First row", Keys: []string{"g", "home"}, Run: do(t.Home), Hidden: true, Group: "List"},
		{ID: "list.end", Title: "Last row", Keys: []string{"G", "end"}, Run: do(t.End), Hidden: true, Group: "List"},
		{ID: "list.mark", Title: "Mark the row", Keys: []string{"space"}, Run: do(t.Mark), Group: "List"},
		{ID: "list.sort", Title: "Sort by the next column", Keys: []string{"s"}, Run: do(t.SortNext), Group: "List"},
		{ID: "list.reverse", Title: "Reverse the order", Keys: []string{"S"}, Disabled: unsorted, Run: do(t.SortReverse), Group: "List"},
		{ID: "list.wide", Title: "Show or hide wide columns", Keys: []string{"w"}, Disabled: narrow, Run: do(func() { t.SetWide(!t.wide) }), Group: "List"},
	}
}

func (t *Table) hasWide() bool {
	for _, c := range t.cols {
		if c.Wide {
			return true
		}
	}
	return false
}
