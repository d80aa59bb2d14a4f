package views

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// overview is one palace: what is in it, and how is it? Two tables share the
// list's place, the collections and the wings of the one under the cursor.
type overview struct {
	list  // its table is the collections
	r     *reading
	wings *ui.Table
	// inWings says that the keys go to the wings.
	inWings bool
	// rooms are the rooms of each wing, by collection; only a count of them is
	// shown here.
	rooms map[string]*roomCount
	// writes are the last writes, by collection.
	writes map[string]*lastWrites
	// parked are the writes that wait for the palace.
	parked parked
}

func newOverview(a *App, r *reading) *overview {
	s := &overview{r: r, rooms: map[string]*roomCount{}, writes: map[string]*lastWrites{}, list: newList(a, "collection", "collections",
		ui.Column{Title: "COLLECTION", Priority: 10, Flex: true, Min: 20, Cut: text.CutEnd},
		ui.Column{Title: "DRAWERS", Priority: 7, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "INDEXED", Priority: 4, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "QUEUED", Priority: 3, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "MISSING", Priority: 6, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "STATE", Priority: 9},
	)}
	s.wings = ui.NewTable(a.th,
		ui.Column{Title: "WING", Priority: 10, Flex: true, Min: 12},
		ui.Column{Title: "ROOMS", Priority: 5, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "DRAWERS", Priority: 8, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "SHARE", Priority: 3, Sort: ui.SortNumber},
	)
	s.wings.Noun = "wings"
	s.about = s.tellCollection
	s.moved = s.fillWings
	s.registry = a.register(append([]ui.Command{
		{ID: "overview.open", Title: "Open: drawers of the collection, rooms of the wing", Short: "open", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.open},
		{ID: "overview.drawers", Title: "All drawers of what is under the cursor", Short: "drawers", Keys: []string{"d"}, Group: groupScreen, Disabled: s.none, Run: s.openDrawers},
		{ID: "overview.findings", Title: "Findings: what is wrong, how we know, what now", Short: "findings", Keys: []string{"f"}, Group: groupScreen, Run: func() tea.Cmd { return a.push(newFindings(a, s.r)) }},
		a.repairCommand(func() *reading { return s.r }),
		a.vitalsCommand(func() *reading { return s.r }, nil),
		a.backupsCommand(func() *reading { return s.r }),
		{ID: "overview.holders", Title: "Holders: who has it, who wants it", Short: "holders", Keys: []string{"p"}, Group: groupScreen, Run: func() tea.Cmd { return a.openHolders(r) }},
		{ID: "overview.tasks", Title: "Tasks: what has been done, what is still going", Keys: []string{"t"}, Group: groupScreen, Run: func() tea.Cmd { return a.push(newTasks(a)) }},
		{ID: "overview.left", Title: "Back to the palaces", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
		a.qualityCommand(func() (*reading, string) { return s.r, s.current().Name }, s.none),
	}, append(s.changeCommands(), a.closeCommands(func() *reading { return s.r })...)...), a.searchCommands(func() (*reading, string, selection) { return s.r, s.current().Name, selection{} }, s.none), s.overviewKeys())
	return s
}

// overviewKeys are those of a list, with tab going round collections, wings and
// text.
func (s *overview) overviewKeys() []ui.Command {
	var out []ui.Command
	wings := map[string]func() tea.Cmd{}
	for _, c := range s.wings.Commands(s.wingMoved) {
		wings[c.ID] = c.Run
	}
	for _, c := range s.listKeys(false, "list.reverse", "list.wide") {
		list := c.Run
		if wing := wings[c.ID]; wing != nil {
			c.Run = func() tea.Cmd {
				if s.inWings && !s.reading {
					return wing()
				}
				return list()
			}
		}
		if c.ID == "text.focus" {
			c.Title, c.Short, c.Run = "Collections, wings, text: the next", "next pane", s.next
		}
		out = append(out, c)
	}
	return out
}

func (s *overview) next() tea.Cmd {
	switch {
	case s.reading:
		s.full, s.reading, s.inWings = false, false, false
	case !s.inWings && s.wings.Total() > 0:
		s.inWings = true
	default:
		s.inWings = false
		return s.read()
	}
	s.tell()
	return nil
}

func (s *overview) crumb() string    { return s.app.path(s.r) }
func (s *overview) palace() *reading { return s.r }
func (s *overview) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *overview) start() tea.Cmd   { return tea.Batch(s.app.house.ask(s.r), s.readParked()) }

// palaceBadge is how a palace is and who has it.
func (a *App) palaceBadge(r *reading) ui.Line {
	c := a.stateCell(r)
	state := ui.Span{Text: c.Text, Role: c.Role}
	if r.report == nil || r.report.Lock.State != "held" || a.class() == ui.Small {
		return ui.Line{state}
	}
	return ui.Line{{Text: lockCell(r.report.Lock).Text, Role: theme.Held}, {Text: " " + a.th.Glyphs.Separator + " ", Role: theme.Faint}, state}
}

// reload counts and reads anew what the report does not have.
func (s *overview) reload() tea.Cmd {
	clear(s.rooms)
	clear(s.writes)
	return tea.Batch(s.fillWings(), s.readParked())
}

// current is the collection under the cursor.
func (s *overview) current() *health.Collection {
	if s.r.report == nil {
		return nil
	}
	for i := range s.r.report.Collections {
		if s.r.report.Collections[i].Name == s.table.ID() {
			return &s.r.report.Collections[i]
		}
	}
	return nil
}

func (s *overview) none() string {
	if s.current() == nil {
		return "there is no collection here"
	}
	return ""
}

func (s *overview) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	s.fillCollections()
	cmd := s.fillWings()
	s.tell()
	return cmd
}

func (s *overview) fillCollections() {
	s.table.Empty = s.emptyWords()
	if s.r.report == nil {
		return
	}
	var rows []ui.Row
	for _, c := range s.app.mainFirst(s.r.report) {
		sev := grade(c.Verdict)
		missing := number(c.Vectors.Missing)
		if value(c.Vectors.Missing) > 0 {
			missing.Role = theme.Error
		}
		rows = append(rows, ui.Row{ID: c.Name, Cells: []ui.Cell{
			{Text: c.Name}, number(c.Rows), number(c.Vectors.Indexed), number(c.Vectors.Queued), missing,
			{Text: sev.Word(), Role: sev.Role()},
		}})
	}
	s.table.SetRows(rows)
}

// mainFirst are the collections of a report, the one MemPalace files into first.
func (a *App) mainFirst(r *health.Report) []health.Collection {
	first := mainCollection(r, a.house.main)
	list := slices.Clone(r.Collections)
	slices.SortStableFunc(list, func(x, y health.Collection) int {
		switch {
		case first != nil && x.Name == first.Name && y.Name != first.Name:
			return -1
		case first != nil && y.Name == first.Name && x.Name != first.Name:
			return 1
		}
		return 0
	})
	return list
}

// emptyWords say why there are no collections.
func (s *overview) emptyWords() string {
	r := s.r.report
	switch {
	case r == nil:
		return s.app.silence(s.r)
	case r.Error != nil && s.app.class() != ui.Small:
		return "Its collections cannot be listed." // the pane says why
	case r.Error != nil:
		return sentence(r.Error.Message)
	}
	switch r.Palace.State {
	case health.Empty:
		return "Nothing has been filed here yet: a directory without a database. MemPalace makes the palace with its first mine."
	case health.Uninitialised:
		return "The database is there and has no collections: initialised, but nothing has been filed yet."
	}
	return "No collections."
}

// wingKey is the row of a wing. A wing without a name and one with an empty name
// are two.
func wingKey(name *string) string {
	if name == nil {
		return "none"
	}
	return "=" + *name
}

// wingName is how a wing is shown.
func wingName(name *string) ui.Cell {
	switch {
	case name == nil:
		return ui.Cell{Text: "(none recorded)", Role: theme.Faint}
	case *name == "":
		return ui.Cell{Text: `""`, Role: theme.Faint}
	}
	return ui.Cell{Text: *name}
}

// fillWings shows the wings of the collection under the cursor, and loads what
// else is told of it.
func (s *overview) fillWings() tea.Cmd {
	c := s.current()
	if c == nil {
		s.wings.Empty = " "
		s.wings.SetRows(nil)
		s.inWings = false
		return nil
	}
	s.wings.Empty = "No drawers yet."
	count := s.rooms[c.Name]
	var rows []ui.Row
	for _, w := range c.Wings {
		rooms := ui.NoNumber(s.app.th.Glyphs.Ellipsis)
		if count != nil && count.by != nil {
			rooms = ui.NoNumber(s.app.th.Glyphs.NoValue)
			if n := count.by[wingKey(w.Name)]; n > 0 {
				rooms = ui.Number(comma(n), float64(n))
			}
		} else if count != nil && count.err != nil {
			rooms = ui.NoNumber(unread)
		}
		share := ui.NoNumber("")
		if c.Rows != nil {
			share = ui.ShareCell(s.app.th, w.Rows, *c.Rows, theme.Accent)
		}
		rows = append(rows, ui.Row{ID: wingKey(w.Name), Cells: []ui.Cell{wingName(w.Name), rooms, ui.Number(comma(w.Rows), float64(w.Rows)), share}})
	}
	s.wings.SetRows(rows)
	return tea.Batch(s.countRooms(c), s.readWrites(c))
}

func (s *overview) wingMoved() tea.Cmd {
	s.tell()
	return nil
}

// wing is the one under the cursor of the wings.
func (s *overview) wing() *health.Wing {
	c := s.current()
	if c == nil {
		return nil
	}
	for i := range c.Wings {
		if wingKey(c.Wings[i].Name) == s.wings.ID() {
			return &c.Wings[i]
		}
	}
	return nil
}

func (s *overview) open() tea.Cmd {
	c := s.current()
	if w := s.wing(); s.inWings && w != nil {
		return s.app.push(newRooms(s.app, s.r, c, w))
	}
	return s.openDrawers()
}

func (s *overview) openDrawers() tea.Cmd {
	c := s.current()
	sel := selection{}
	if w := s.wing(); s.inWings && w != nil {
		sel = ofWing(c, w)
	}
	return s.app.push(newDrawers(s.app, s.r, c.Name, sel))
}
