package views

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// rooms are the rooms of one wing.
type rooms struct {
	list
	r          *reading
	collection string
	wing       selection
	// what is shown, and the figures of the palace it was read for
	facets []backend.Facet
	names  map[string]*string
	rows   int64
	asked  bool
	gen    int
	err    error
	report *health.Report
}

type wingRoomsMsg struct {
	to     *rooms
	gen    int
	report *health.Report
	facets []backend.Facet
	err    error
}

func newRooms(a *App, r *reading, c *health.Collection, w *health.Wing) *rooms {
	s := &rooms{r: r, collection: c.Name, wing: ofWing(c, w), list: newList(a, "room", "rooms",
		ui.Column{Title: "ROOM", Priority: 10, Flex: true, Min: 12},
		ui.Column{Title: "DRAWERS", Priority: 8, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "SHARE", Priority: 3, Sort: ui.SortNumber},
	)}
	s.registry = a.register(append([]ui.Command{
		{ID: "room.open", Title: "Drawers of the room", Short: "open", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.open},
		{ID: "wing.drawers", Title: "All drawers of the wing", Short: "all drawers", Keys: []string{"d"}, Group: groupScreen, Run: s.openAll},
		{ID: "rooms.left", Title: "Back to the palace", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, s.deleteCommands()...), s.listKeys(false))
	return s
}

func (s *rooms) crumb() string    { return s.wing.name }
func (s *rooms) palace() *reading { return s.r }
func (s *rooms) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *rooms) start() tea.Cmd   { return s.reload() }
func (s *rooms) waits() bool      { return s.asked && s.report == nil }

func (s *rooms) none() string {
	if s.table.ID() == "" {
		return "there is no room here"
	}
	return ""
}

// reload counts the rooms.
func (s *rooms) reload() tea.Cmd {
	s.gen++
	s.asked = true
	gen, at, where, core, report := s.gen, s.r.place(s.collection), s.wing.where, s.app.opts.Core, s.r.report
	if s.facets == nil {
		s.table.Empty = "Counting the rooms."
	}
	return s.app.work.do(func(ctx context.Context) tea.Msg {
		f, err := core.Facets(ctx, at, backend.Filter{Where: where}, "room")
		return wingRoomsMsg{s, gen, report, f, err}
	})
}

// sync counts again when the figures of the palace changed.
func (s *rooms) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	if s.report == nil || s.asked || sameFigures(s.report, s.r.report) {
		return nil
	}
	return s.reload()
}

func (s *rooms) update(msg tea.Msg) tea.Cmd {
	m, ok := msg.(wingRoomsMsg)
	if !ok || m.to != s || m.gen != s.gen {
		return nil
	}
	s.asked, s.err, s.report = false, m.err, m.report
	if m.err != nil {
		s.table.Empty = "The rooms could not be counted: " + m.err.Error() + " r tries again."
		return nil
	}
	s.table.Empty = "This wing has no drawers any more."
	s.facets = m.facets
	s.names = map[string]*string{}
	s.rows = 0
	for _, f := range m.facets {
		s.rows += f.Rows
	}
	var rows []ui.Row
	for _, f := range m.facets {
		var name *string
		if f.Values[0] != nil {
			t := backend.Text(f.Values[0])
			name = &t
		}
		key := wingKey(name)
		if _, twice := s.names[key]; twice {
			continue // another type that reads the same
		}
		s.names[key] = name
		rows = append(rows, ui.Row{ID: key, Cells: []ui.Cell{wingName(name), ui.Number(comma(f.Rows), float64(f.Rows)), ui.ShareCell(s.app.th, f.Rows, s.rows, theme.Accent)}})
	}
	s.table.SetRows(rows)
	return s.changed()
}

func (s *rooms) open() tea.Cmd {
	key := s.table.ID()
	name := s.names[key]
	var others []string
	for _, n := range s.names {
		if n != nil {
			others = append(others, *n)
		}
	}
	return s.app.push(newDrawers(s.app, s.r, s.collection, selection{
		where: backend.AllOf(s.wing.where, among("room", name, others)),
		name:  wingName(name).Text,
	}))
}

func (s *rooms) openAll() tea.Cmd {
	return s.app.push(newDrawers(s.app, s.r, s.collection, selection{where: s.wing.where, name: "all drawers", rows: s.wing.rows}))
}

func (s *rooms) copies() []copyable {
	out := []copyable{{"p", "path", s.r.path()}, {"w", "wing", s.wing.name}}
	if n := s.names[s.table.ID()]; n != nil {
		out = append(out, copyable{"o", "room", *n})
	}
	return append(out, s.app.reportCopies(s.r)...)
}
