package views

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// vitals is the health of a palace by its parts: one row a collection, and one
// for what is about none of them.
type vitals struct {
	list
	r *reading
}

// palacePart is the row of what is about no collection; it sorts behind them and
// no collection can have the name.
const palacePart = "\x00palace"

func newVitals(a *App, r *reading) *vitals {
	s := &vitals{r: r, list: newList(a, "part", "parts",
		ui.Column{Title: "COLLECTION", Priority: 10, Min: 12, Max: 18, Cut: text.CutMiddle},
		ui.Column{Title: "WORST FINDING", Priority: 8, Flex: true, Min: 16},
		ui.Column{Title: "FOUND", Priority: 7, Sort: ui.SortNumber},
		ui.Column{Title: "INDEX FILLED", Priority: 5, Sort: ui.SortNumber},
		ui.Column{Title: "GREW", Priority: 4, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "STATE", Priority: 9, Sort: ui.SortNumber},
	)}
	s.about = s.tellPart
	s.age = func() ui.Line { return a.depth(s.r) }
	s.registry = a.register(append([]ui.Command{
		{ID: "vitals.open", Title: "Findings about the part under the cursor, with their evidence", Short: "findings", Keys: []string{"enter", "l", "right", "f"}, Group: groupScreen, Disabled: s.none, Run: s.open},
		a.repairCommand(func() *reading { return s.r }),
		{ID: "vitals.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, a.doctorCommands(func() *reading { return s.r })...), s.listKeys(false))
	s.fill()
	return s
}

// vitalsCommand opens the screen.
func (a *App) vitalsCommand(of func() *reading, why func() string) ui.Command {
	return ui.Command{ID: "vitals.screen", Title: "Health: each collection with its worst finding, how full its index is, how it grew", Keys: []string{"v"}, Group: groupScreen, Disabled: why,
		Run: func() tea.Cmd { return a.push(newVitals(a, of())) }}
}

func (s *vitals) crumb() string    { return "health" }
func (s *vitals) palace() *reading { return s.r }
func (s *vitals) badge() ui.Line   { return s.app.palaceBadge(s.r) }

func (s *vitals) none() string {
	if s.table.ID() == "" {
		return "there is nothing here"
	}
	return ""
}

func (s *vitals) open() tea.Cmd {
	f := newFindings(s.app, s.r)
	f.part = s.table.ID()
	return s.app.push(f)
}

func (s *vitals) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	s.fill()
	return nil
}

// partOf is the part of a palace that a finding is about.
func partOf(r *health.Report, f health.Finding) string {
	for i := range r.Collections {
		if r.Collections[i].Name == f.Subject {
			return f.Subject
		}
	}
	return palacePart
}

// about are the findings about one part, the worst first.
func (r *reading) about(part string) []health.Finding {
	var out []health.Finding
	for _, f := range r.findings() {
		if partOf(r.report, f) == part {
			out = append(out, f)
		}
	}
	return out
}

// part is the collection under the cursor; nil: the palace itself.
func (s *vitals) part() *health.Collection {
	if s.r.report == nil {
		return nil
	}
	for i := range s.r.report.Collections {
		if c := &s.r.report.Collections[i]; c.Name == s.table.ID() {
			return c
		}
	}
	return nil
}

func (s *vitals) fill() {
	r := s.r.report
	if r == nil {
		s.table.Empty = s.app.silence(s.r)
		return
	}
	var rows []ui.Row
	for _, c := range s.app.mainFirst(r) {
		rows = append(rows, s.row(&c))
	}
	whole := s.r.about(palacePart)
	sev := theme.Good
	if len(whole) > 0 {
		sev = severity(whole[0].Severity)
	}
	none := ui.NoNumber("")
	rows = append(rows, ui.Row{ID: palacePart, Cells: []ui.Cell{{Text: "(the palace)", Role: theme.Faint}, worstCell(whole),
		none, none, grewCell(s.app.th, r.Growth, ""), {Text: sev.Word(), Role: sev.Role(), Num: float64(sev)}}})
	s.table.SetRows(rows)
	s.tell()
}

func (s *vitals) row(c *health.Collection) ui.Row {
	th := s.app.th
	filled := ui.NoNumber(th.Glyphs.NoValue)
	if x := c.Index; x != nil && x.Elements != nil && x.Capacity != nil {
		filled = ui.ShareCell(th, *x.Elements, *x.Capacity, theme.Text) // full is no fault: it grows by itself
	}
	sev := grade(c.Verdict)
	return ui.Row{ID: c.Name, Cells: []ui.Cell{{Text: c.Name}, worstCell(s.r.about(c.Name)), searchableCell(th, c), filled,
		grewCell(th, s.r.report.Growth, c.Name), {Text: sev.Word(), Role: sev.Role(), Num: float64(sev)}}}
}

// worstCell names the worst of findings.
func worstCell(list []health.Finding) ui.Cell {
	if len(list) == 0 {
		return ui.Cell{Text: "nothing", Role: theme.Faint}
	}
	return ui.Cell{Text: string(list[0].Code), Role: severity(list[0].Severity).Role()}
}

// grewCell is by how many drawers a collection grew since the last thorough look,
// and for no collection by how many bytes the palace did.
func grewCell(th theme.Theme, g *health.Growth, collection string) ui.Cell {
	if g == nil {
		return ui.NoNumber(th.Glyphs.NoValue)
	}
	if collection == "" {
		return ui.Number(signedBytes(g.Bytes.Now-g.Bytes.Before), 0)
	}
	for _, c := range g.Collections {
		if c.Name == collection {
			n := c.Rows.Now - c.Rows.Before
			return ui.Number(signed(n), float64(n))
		}
	}
	return ui.NoNumber("new")
}

func signed(n int64) string {
	if n > 0 {
		return "+" + comma(n)
	}
	return comma(n)
}

// tellPart is the pane: figures and findings of the part under the cursor.
func (s *vitals) tellPart() []ui.Field {
	if s.r.report == nil || s.table.ID() == "" {
		return nil
	}
	return s.app.partFields(s.r, s.table.ID(), s.part())
}

func (a *App) partFields(r *reading, part string, c *health.Collection) []ui.Field {
	name := a.path(r)
	if c != nil {
		name = c.Name
	}
	f := []ui.Field{{Text: ui.In(theme.Title, name)}}
	list := r.about(part)
	for _, x := range list {
		if x.Severity != health.Info {
			f = append(f, ui.Field{Text: a.findingLine(x)})
		}
	}
	if n := int64(len(list)) - int64(len(f)-1); n > 0 {
		f = append(f, ui.Field{Text: ui.In(theme.Faint, plural(n, "remark", "remarks")+" beside.")})
	} else if len(list) == 0 {
		f = append(f, ui.Field{Text: ui.Line{{Text: a.th.Mark(theme.Good) + " ", Role: theme.OK}, {Text: "Nothing to report."}}})
	}
	f = append(f, a.repairFields(r)...)
	f = append(f, ui.Blank())
	if c != nil {
		if v := c.Vectors; c.Rows != nil && v.Searchable != nil {
			f = append(f, ui.Field{Label: "found", Text: ui.Plain(fmt.Sprintf("%s of %s by meaning; %s in the index, %s in the queue", comma(*v.Searchable), plural(*c.Rows, "drawer", "drawers"), figure(v.Indexed), figure(v.Queued)))})
		}
		if x := c.Index; x != nil && x.Elements != nil {
			f = append(f, ui.Field{Label: "index", Text: ui.Plain(fmt.Sprintf("%s of %s places; it grows by itself", comma(*x.Elements), figure(x.Capacity)))})
		}
	} else {
		f = append(f, ui.Field{Label: "disk", Text: ui.Plain(size(r.report.Palace.Bytes))})
	}
	if r.report.Palace.State != health.OK {
		return f // nothing of it is remembered
	}
	return append(f, ui.Field{Label: "grew", Text: ui.Plain(grewWords(r.report.Growth, c))})
}

// grewWords tell how a part has grown since Castellan last looked thoroughly.
func grewWords(g *health.Growth, c *health.Collection) string {
	if g == nil {
		return "not known: a full check (d) remembers the figures for the next look"
	}
	since, _, _ := strings.Cut(g.Since, "T")
	if c == nil {
		return signedBytes(g.Bytes.Now-g.Bytes.Before) + " since " + since
	}
	for _, x := range g.Collections {
		if x.Name == c.Name {
			s := signed(x.Rows.Now-x.Rows.Before) + " drawers, " + signed(x.Elements.Now-x.Elements.Before) + " in the index"
			if n := x.Capacity.Now - x.Capacity.Before; n != 0 {
				s += ", room for " + signed(n)
			}
			return s + ", since " + since
		}
	}
	return "it was not there on " + since
}

func (s *vitals) copies() []copyable {
	if s.table.ID() == "" || s.r.report == nil {
		return nil
	}
	return append([]copyable{{"t", "this as text", fieldsText(s.tellPart())}}, s.app.reportCopies(s.r)...)
}
