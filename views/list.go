package views

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
)

// list is what most screens are: a table, a filter, and a pane that tells more
// of the row under the cursor. A screen embeds it and says what the rows mean.
type list struct {
	app *App
	// one and many are what the rows are.
	one, many string
	table     *ui.Table
	filter    *ui.Input
	detail    *ui.Pager
	search    *ui.Input
	// full shows the pane instead of the list, reading gives it the keys.
	full, reading bool
	registry      *ui.Registry
	frame         ui.Frame

	// about is what the pane says of the row under the cursor.
	about func() []ui.Field
	// moved, if set, loads what the row under the cursor needs.
	moved func() tea.Cmd
	// order, if set, says how the rows are ordered.
	order func() string
	// warn, if set and not empty, stands in the status line in place of the count;
	// age in place of how old the figures are.
	warn, age func() ui.Line
	// filtered, if set, takes a new filter instead of the table.
	filtered func(string) tea.Cmd
}

func newList(a *App, one, many string, cols ...ui.Column) list {
	t := ui.NewTable(a.th, cols...)
	t.Noun = many
	return list{
		app: a, one: one, many: many, table: t, detail: ui.NewPager(a.th),
		filter: ui.NewInput("/", "type what to look for"),
		search: ui.NewInput("/", "search in the text"),
	}
}

// crumb and badge are the screen's; these serve those screens that have
// nothing to say.
func (l *list) palace() *reading       { return nil }
func (l *list) copies() []copyable     { return nil }
func (l *list) start() tea.Cmd         { return nil }
func (l *list) reload() tea.Cmd        { return nil }
func (l *list) update(tea.Msg) tea.Cmd { return nil }
func (l *list) sync() tea.Cmd          { return nil }
func (l *list) close()                 {}
func (l *list) keys() *ui.Registry     { return l.registry }

func (l *list) wants(c ui.Class) ui.Wants {
	switch {
	case l.full:
		return ui.Wants{Detail: ui.Full}
	case c == ui.Small || l.about == nil:
		return ui.Wants{}
	}
	return ui.Wants{Detail: ui.Open}
}

func (l *list) resize(f ui.Frame) {
	l.frame = f
	if f.Detail.Empty() {
		l.reading = false
	}
	l.table.SetFocus(!l.reading)
	l.table.SetSize(f.List.W, f.List.H)
	l.detail.SetSize(f.Detail.W-margin(f)-1, f.Detail.H)
}

// tell writes the pane anew.
func (l *list) tell() {
	if l.about != nil {
		l.detail.SetFields(l.about())
	}
}

// changed is what follows when the cursor may be on another row.
func (l *list) changed() tea.Cmd {
	l.detail.Search("")
	l.detail.Home()
	l.tell()
	if l.moved != nil {
		return l.moved()
	}
	return nil
}

func (l *list) draw(f ui.Frame) ui.Parts {
	p := ui.Parts{Status: l.status(f.W)}
	if !f.List.Empty() {
		p.List = l.table.View()
	}
	if !f.Detail.Empty() {
		p.Detail = indent(l.detail.View(), margin(f))
	}
	return p
}

// margin is the blank space left of a pane. The rule beside the list brings its
// own.
func margin(f ui.Frame) int {
	if f.Detail.X > 0 {
		return 0
	}
	return 1
}

// indent puts n blanks before the lines of a pane.
func indent(s string, n int) string {
	if s == "" || n == 0 {
		return s
	}
	blank := strings.Repeat(" ", n)
	return blank + strings.ReplaceAll(s, "\n", "\n"+blank)
}

// status is the line over the help line: the filter, where one is, how old it is.
func (l *list) status(w int) string {
	th := l.app.th
	if in := l.input(); in != nil {
		count := ""
		if in == l.filter {
			count = l.table.Count()
		}
		room := w - 2 - len(count)
		if room < 20 {
			return " " + in.View(th, max(w-1, 0))
		}
		return " " + in.View(th, room) + th.Paint(theme.Faint, count) + " "
	}
	left, right := l.left(), l.app.freshness()
	if l.age != nil {
		right = l.age()
	}
	return ui.StatusLine(th, left, right, w)
}

// left is the left side of the status line: a warning, where one reads, or how many
// rows there are.
func (l *list) left() ui.Line {
	if l.warn != nil {
		if w := l.warn(); len(w) > 0 {
			return w
		}
	}
	var left ui.Line
	if l.reading {
		where := l.detail.Position()
		if where == "" {
			where = "all of it"
		}
		left = ui.In(theme.Faint, "text, "+where)
	} else {
		if f := l.table.Filter(); f != "" {
			left = append(left, ui.Span{Text: "/" + f + "  ", Role: theme.Accent})
		}
		left = append(left, ui.Span{Text: l.summary(), Role: theme.Faint})
	}
	return left
}

// summary is the count, the marks and the order.
func (l *list) summary() string {
	if l.table.Total() == 0 {
		return "" // the list itself says why
	}
	l.table.Noun = l.many
	if l.table.Total() == 1 {
		l.table.Noun = l.one
	}
	s := l.table.Summary()
	if l.order != nil && l.table.Total() > 1 {
		s = dot(l.app.th, s, l.order())
	}
	return s
}

func (l *list) input() *ui.Input {
	switch {
	case l.filter.Focused():
		return l.filter
	case l.search.Focused():
		return l.search
	}
	return nil
}

func (l *list) typed(ev ui.InputEvent) tea.Cmd {
	if l.search.Focused() {
		switch ev {
		case ui.InputSubmit:
			l.search.Blur()
		case ui.InputCancel:
			l.search.Blur()
			l.detail.Search("")
		case ui.InputChange:
			l.detail.Search(l.search.Value())
		}
		return nil
	}
	switch ev {
	case ui.InputSubmit:
		l.filter.Blur()
	case ui.InputCancel:
		l.filter.Blur()
		return l.setFilter("")
	case ui.InputChange:
		return l.setFilter(l.filter.Value())
	}
	return nil
}

func (l *list) setFilter(s string) tea.Cmd {
	if l.filtered != nil {
		return l.filtered(s)
	}
	l.table.SetFilter(s)
	return l.changed()
}

// slash opens the filter, or the search if the text has the keys.
func (l *list) slash() tea.Cmd {
	if l.reading {
		l.search.SetValue("")
		l.search.Focus()
		return nil
	}
	l.filter.SetValue(l.table.Filter())
	l.filter.Focus()
	return nil
}

func (l *list) retreat() (tea.Cmd, bool) {
	switch {
	case l.detail.Query() != "":
		l.detail.Search("")
	case l.full || l.reading:
		l.full, l.reading = false, false
	case l.table.Filter() != "":
		return l.setFilter(""), true
	case l.table.ClearMarks():
	default:
		return nil, false
	}
	return nil, true
}

// read gives the pane the keys, and where there is none the screen.
func (l *list) read() tea.Cmd {
	if l.about == nil {
		return nil
	}
	if l.frame.Detail.Empty() {
		l.full = true
	}
	l.reading = true
	return nil
}

// zoom gives the pane the whole screen, or takes it back.
func (l *list) zoom() tea.Cmd {
	l.full = !l.full
	l.reading = l.full
	return nil
}

// swap hands the keys to the other pane.
func (l *list) swap() tea.Cmd {
	if l.reading {
		l.full, l.reading = false, false
		return nil
	}
	return l.read()
}
