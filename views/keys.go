package views

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui"
)

// Groups of the help screen.
const (
	groupScreen = "This screen"
	groupText   = "Text beside the list"
	groupAll    = "Everywhere"
)

// register puts a screen's commands together with those that work everywhere.
// A conflict is a mistake in the program, and the test that opens every screen
// finds it.
func (a *App) register(groups ...[]ui.Command) *ui.Registry {
	var all []ui.Command
	for i, g := range append(groups, a.everywhere()) {
		if i == 1 {
			// Behind the screen's own, so that the footer shows it too.
			all = append(all, ui.Command{ID: "app.commands", Title: "All commands by name", Short: "commands", Keys: []string{":"}, Group: groupAll, Run: always(a.openPalette)})
		}
		all = append(all, g...)
	}
	r, err := ui.NewRegistry(all...)
	if err != nil {
		panic(fmt.Sprintf("views: the keys of a screen: %v", err))
	}
	r.SetReadOnly(a.opts.ReadOnly)
	return r
}

// always wraps what returns nothing.
func always(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		f()
		return nil
	}
}

// everywhere are the commands that every screen has.
func (a *App) everywhere() []ui.Command {
	leave := "quit"
	if len(a.stack) > 0 {
		leave = "back"
	}
	return []ui.Command{
		{ID: "app.help", Title: "Help for this screen", Short: "help", Keys: []string{"?"}, Group: groupAll, Pinned: true, Run: always(a.openHelp)},
		{ID: "app.leave", Title: "Go back, or quit from the first screen", Short: leave, Keys: []string{"q"}, Group: groupAll, Pinned: true, Run: a.leave},
		{ID: "app.back", Title: "End the innermost thing: filter, text, screen", Keys: []string{"esc"}, Group: groupAll, Hidden: true, Run: a.retreat},
		{ID: "app.copy", Title: "Copy", Short: "copy", Keys: []string{"y"}, Group: groupAll, Disabled: a.nothingToCopy, Run: always(a.openCopy)},
		{ID: "app.refresh", Title: "Read this again", Keys: []string{"r"}, Group: groupAll, Run: a.refreshOne},
		{ID: "app.refresh-all", Title: "Read everything again", Keys: []string{"ctrl+r"}, Group: groupAll, Run: a.refreshAll},
		{ID: "app.messages", Title: "Messages of this session", Group: groupAll, Run: always(a.openMessages)},
		{ID: "app.redraw", Title: "Draw the screen again", Keys: []string{"ctrl+l"}, Group: groupAll, Hidden: true, Run: func() tea.Cmd { return tea.ClearScreen }},
		{ID: "app.suspend", Title: "Suspend the program; fg brings it back", Keys: []string{"ctrl+z"}, Group: groupAll, Hidden: true, Run: a.suspend},
		{ID: "app.quit", Title: "Quit", Keys: []string{"ctrl+c"}, Group: groupAll, Run: a.quit},
	}
}

// listKeys are the commands of a list screen: moving, marking, sorting, the
// filter and the pane. What moves the list moves the text while that has the
// keys. marks tells whether rows can be marked; without names those that make no
// sense here.
func (l *list) listKeys(marks bool, without ...string) []ui.Command {
	text := map[string]func(){
		"list.down":      func() { l.detail.Scroll(1) },
		"list.up":        func() { l.detail.Scroll(-1) },
		"list.half-down": func() { l.detail.Scroll(max(l.frame.Detail.H/2, 1)) },
		"list.half-up":   func() { l.detail.Scroll(-max(l.frame.Detail.H/2, 1)) },
		"list.page-down": func() { l.detail.Page(1) },
		"list.page-up":   func() { l.detail.Page(-1) },
		"list.top":       l.detail.Home,
		"list.end":       l.detail.End,
	}
	var out []ui.Command
	for _, c := range l.table.Commands(l.changed) {
		if c.ID == "list.mark" && !marks || slices.Contains(without, c.ID) {
			continue
		}
		if move := text[c.ID]; move != nil {
			row := c.Run
			c.Run = func() tea.Cmd {
				if l.reading {
					move()
					return nil
				}
				return row()
			}
		}
		out = append(out, c)
	}
	out = append(out, ui.Command{ID: "list.filter", Title: "Filter the list, or search the text", Short: "filter", Keys: []string{"/"}, Group: "List", Run: l.slash})
	if l.about == nil {
		return out
	}
	return append(out,
		ui.Command{ID: "text.focus", Title: "Go to the text and back", Keys: []string{"tab", "shift+tab"}, Group: groupText, Hidden: true, Run: l.swap},
		ui.Command{ID: "text.zoom", Title: "Text on the whole screen and back", Keys: []string{"z", "+"}, Group: groupText, Run: l.zoom},
		ui.Command{ID: "text.next", Title: "Next match", Keys: []string{"n"}, Group: groupText, Hidden: true, Run: always(func() { l.detail.Next(1) })},
		ui.Command{ID: "text.previous", Title: "Previous match", Keys: []string{"N"}, Group: groupText, Hidden: true, Run: always(func() { l.detail.Next(-1) })},
	)
}
