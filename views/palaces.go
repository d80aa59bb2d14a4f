package views

import (
	"fmt"
	"math"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// palaces is the first screen: is all well, and where not?
type palaces struct {
	list
}

func newPalaces(a *App) *palaces {
	s := &palaces{list: newList(a, "palace", "palaces",
		ui.Column{Title: "PALACE", Priority: 10, Flex: true, Min: 12, Cut: text.CutStart},
		ui.Column{Title: "DRAWERS", Priority: 7, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "SEARCHABLE", Priority: 6, Sort: ui.SortNumber},
		ui.Column{Title: "DISK", Priority: 5, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "LOCK", Priority: 4},
		ui.Column{Title: "STATE", Priority: 9, Sort: ui.SortNumber},
		ui.Column{Title: "ENGINE", Priority: 2, Wide: true},
		ui.Column{Title: "FOUND BY", Priority: 1, Wide: true},
	)}
	s.about = s.tellPalace
	s.registry = a.register(append([]ui.Command{
		{ID: "palace.open", Title: "Open the palace", Short: "open", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.open},
		{ID: "palace.drawers", Title: "Drawers of the palace", Short: "drawers", Keys: []string{"d"}, Group: groupScreen, Disabled: s.noDrawers, Run: s.openDrawers},
		{ID: "palace.findings", Title: "Findings: what is wrong, how we know, what now", Short: "findings", Keys: []string{"f"}, Group: groupScreen, Disabled: s.none, Run: s.openHealth},
		a.repairCommand(s.current),
		a.vitalsCommand(s.current, s.none),
		{ID: "palace.holders", Title: "Holders: who has which palace", Short: "holders", Keys: []string{"p"}, Group: groupScreen, Run: s.openHolders},
		{ID: "palace.tasks", Title: "Tasks: what has been done, what is still going", Keys: []string{"t"}, Group: groupScreen, Run: func() tea.Cmd { return a.push(newTasks(a)) }},
		a.backupsCommand(s.current),
		{ID: "palace.other", Title: "Open a palace at another path", Keys: []string{"o"}, Group: groupScreen, Run: always(a.askPath)},
	}, a.closeCommands(s.current)...), a.searchCommands(func() (*reading, string, selection) {
		return s.current(), mainCollection(s.current().report, a.house.main).Name, selection{}
	}, s.noDrawers), s.listKeys(false))
	s.fill()
	return s
}

func (s *palaces) crumb() string { return "castellan" }

// badge adds the palaces up.
func (s *palaces) badge() ui.Line {
	h := s.app.house
	if h.trouble != nil {
		return ui.In(theme.Error, "not listed")
	}
	if !h.discovered {
		return ui.In(theme.Faint, s.app.th.Glyphs.Ellipsis)
	}
	held, need, waiting := int64(0), int64(0), int64(0)
	for _, r := range h.palaces {
		switch {
		case r.report == nil:
			waiting++
			continue
		case r.report.Lock.State == "held":
			held++
		}
		if r.report.Verdict == health.VerdictError || r.report.Verdict == health.VerdictDanger {
			need++
		}
	}
	parts := []ui.Span{{Text: plural(int64(len(h.palaces)), "palace", "palaces")}}
	add := func(n int64, one, many string, role theme.Role) {
		if n > 0 {
			parts = append(parts, ui.Span{Text: strings.TrimSpace(fmt.Sprintf("%d ", n) + map[bool]string{true: one, false: many}[n == 1]), Role: role})
		}
	}
	add(waiting, "being read", "being read", theme.Faint)
	add(held, "held", "held", theme.Held)
	add(need, "needs you", "need you", theme.Error)
	if s.app.class() == ui.Small {
		return parts[len(parts)-1:] // what matters most
	}
	sep := ui.Span{Text: " " + s.app.th.Glyphs.Separator + " ", Role: theme.Faint}
	var line ui.Line
	for i, p := range parts {
		if i > 0 {
			line = append(line, sep)
		}
		line = append(line, p)
	}
	return line
}

// current is the palace under the cursor.
func (s *palaces) current() *reading { return s.app.house.find(s.table.ID()) }

func (s *palaces) none() string {
	if s.current() == nil {
		return "there is no palace here yet"
	}
	return ""
}

func (s *palaces) noDrawers() string { return noDrawers(s.app, s.current()) }

func (s *palaces) sync() tea.Cmd {
	s.fill()
	return nil
}

func (s *palaces) fill() {
	h := s.app.house
	switch {
	case h.trouble != nil:
		s.table.Empty = "The palaces could not be listed: " + h.trouble.Error() + ". r tries again."
	case !h.discovered:
		s.table.Empty = "Looking for palaces."
	default:
		s.table.Empty = "No palace yet. MemPalace would keep one in ~/.mempalace/palace. Press o to open another path, or run castellan demo."
	}
	rows := make([]ui.Row, 0, len(h.palaces))
	for _, r := range h.palaces {
		rows = append(rows, s.row(r))
	}
	s.table.SetRows(rows)
	s.tell()
}

func (s *palaces) row(r *reading) ui.Row {
	a := s.app
	th := a.th
	row := ui.Row{ID: r.path()}
	name := ui.Cell{Text: a.path(r)}
	dots := ui.NoNumber(th.Glyphs.Ellipsis)
	engine, how := ui.Cell{}, ui.Cell{Text: strings.Join(r.found.Detail, ", "), Role: theme.Faint}
	if r.report == nil {
		row.Cells = []ui.Cell{name, dots, dots, dots, {Text: th.Glyphs.Ellipsis, Role: theme.Faint}, a.stateCell(r), engine, how}
		return row
	}
	engine.Text = r.report.Palace.Backend
	drawers, found := ui.NoNumber(th.Glyphs.NoValue), ui.NoNumber(th.Glyphs.NoValue)
	if c := mainCollection(r.report, a.house.main); c != nil {
		drawers = number(c.Rows)
		found = searchableCell(th, c)
	}
	disk := ui.NoNumber(th.Glyphs.NoValue)
	if b := r.report.Palace.Bytes; b != nil {
		disk = ui.Number(size(b), float64(b.Allocated))
	}
	row.Cells = []ui.Cell{name, drawers, found, disk, lockCell(r.report.Lock), a.stateCell(r), engine, how}
	return row
}

// searchableCell is the share of a collection that a search can reach.
func searchableCell(th theme.Theme, c *health.Collection) ui.Cell {
	if c.Rows == nil || c.Vectors.Searchable == nil {
		return ui.NoNumber(unread)
	}
	role := theme.OK
	if c.Vectors.Missing != nil && *c.Vectors.Missing > 0 {
		role = theme.Error
	}
	return ui.ShareCell(th, *c.Vectors.Searchable, *c.Rows, role)
}

// lockCell is the palace lock in two words.
func lockCell(l health.Lock) ui.Cell {
	switch l.State {
	case "held":
		if l.Holder != nil && l.Holder.PID != nil {
			return ui.Cell{Text: fmt.Sprintf("held by %d", *l.Holder.PID), Role: theme.Held}
		}
		return ui.Cell{Text: "held", Role: theme.Held}
	case "free", "no_directory":
		return ui.Cell{Text: "free"}
	}
	return ui.Cell{Text: "unknown", Role: theme.Warning}
}

// stateCell is a palace in one word, worst last when sorted. In a small window it
// is all there is beside the name, so there a held palace says so.
func (a *App) stateCell(r *reading) ui.Cell {
	word, sev := a.state(r)
	if r.report == nil {
		c := ui.Cell{Text: word, Role: theme.Faint, Num: math.NaN()}
		if r.late(a.opts.Now()) >= slowPalace {
			c.Role = theme.Warning
		}
		return c
	}
	if a.class() == ui.Small && sev < theme.Fail && r.report.Lock.State == "held" {
		return ui.Cell{Text: "held", Role: theme.Held, Num: float64(sev)}
	}
	return ui.Cell{Text: word, Role: sev.Role(), Num: float64(sev)}
}

// state is the word for how a palace is.
func (a *App) state(r *reading) (string, theme.Severity) {
	switch {
	case r.report == nil && r.late(a.opts.Now()) >= slowPalace:
		return "no answer", theme.Warn
	case r.report == nil:
		return a.th.Glyphs.Ellipsis, theme.Note
	}
	sev := grade(r.report.Verdict)
	switch s := r.report.Palace.State; s {
	case health.Missing:
		return string(s), max(sev, theme.Warn)
	case health.Empty:
		return string(s), sev
	case health.Uninitialised:
		return "empty", sev
	case health.Unreadable:
		return "unreadable", max(sev, theme.Fail)
	}
	return sev.Word(), sev
}

// class is how much room there is.
func (a *App) class() ui.Class { return ui.Layout(a.w, a.h, ui.Wants{}).Class }

// path is how a palace is shown.
func (a *App) path(r *reading) string { return tilde(r.path(), a.opts.Home) }

// mainCollection is the one MemPalace files into.
func mainCollection(r *health.Report, name string) *health.Collection {
	for _, want := range []string{name, "mempalace_drawers"} {
		for i := range r.Collections {
			if r.Collections[i].Name == want {
				return &r.Collections[i]
			}
		}
	}
	if len(r.Collections) > 0 {
		return &r.Collections[0]
	}
	return nil
}

func (s *palaces) open() tea.Cmd        { return s.app.push(newOverview(s.app, s.current())) }
func (s *palaces) openDrawers() tea.Cmd { return s.app.openDrawers(s.current()) }
func (s *palaces) openHealth() tea.Cmd  { return s.app.push(newFindings(s.app, s.current())) }
func (s *palaces) openHolders() tea.Cmd {
	return s.app.openHolders(s.current())
}
