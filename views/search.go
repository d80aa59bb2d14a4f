package views

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/search"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// searchResults is how many drawers one question finds: a few screens of them.
const searchResults = 50

// searching is the search: where did we talk about …? And can I believe that
// nothing is missing?
type searching struct {
	list       // its filter is the line in which one asks
	r          *reading
	collection string
	question   search.Question

	answer *search.Answer
	err    error
	gen    int
	ctx    context.Context
	cancel context.CancelFunc
	asking bool
}

// answerMsg is what was found.
type answerMsg struct {
	to     *searching
	gen    int
	answer search.Answer
	err    error
}

func newSearching(a *App, r *reading, collection string, q search.Question) *searching {
	s := &searching{r: r, collection: collection, question: q, list: newList(a, "drawer", "drawers",
		ui.Column{Title: "TEXT", Priority: 10, Flex: true, Min: 22, Sort: ui.SortNone},
		ui.Column{Title: "SCORE", Priority: 8, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "WING/ROOM", Priority: 6, Min: 10, Max: 24, Cut: text.CutMiddle, Sort: ui.SortNone},
		ui.Column{Title: "DISTANCE", Priority: 4, Align: text.Right, Sort: ui.SortNumber, Wide: true},
		ui.Column{Title: "BM25", Priority: 4, Align: text.Right, Sort: ui.SortNumber, Wide: true},
		ui.Column{Title: "SOURCE", Priority: 3, Min: 12, Max: 40, Cut: text.CutStart, Wide: true, Sort: ui.SortNone},
		ui.Column{Title: "ID", Priority: 1, Min: 12, Max: 60, Cut: text.CutMiddle, Wide: true, Sort: ui.SortNone},
	)}
	s.question.Results = searchResults
	s.filter = ui.NewInput("search: ", "words, then enter")
	s.about = s.tellHit
	s.warn, s.age = s.lacks, s.how
	s.table.Empty = "Press / and type what to look for."
	keys := s.listKeys(true)
	for i := range keys {
		if keys[i].ID == "list.filter" {
			keys[i].Title, keys[i].Short, keys[i].Run = "Search for something, or search in the text", "search", s.slash
		}
	}
	s.registry = a.register(append([]ui.Command{
		{ID: "search.read", Title: "Read the drawer", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.read},
		{ID: "search.like", Title: "More like this drawer, by its stored vector", Short: "more like this", Keys: []string{"m"}, Group: groupScreen, Disabled: s.none, Run: s.more},
		{ID: "search.engine", Title: "Ask the next engine: exact scan, stored index, graph, keyword", Short: "engine", Keys: []string{"v"}, Group: groupScreen, Disabled: s.unasked, Run: s.nextEngine},
		{ID: "search.source", Title: "Open the source file in your editor", Keys: []string{"e"}, Group: groupScreen, Disabled: s.noSource, Run: s.edit},
		{ID: "search.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, a.qualityCommand(func() (*reading, string) { return s.r, s.collection }, nil)), keys)
	if q.Words == "" && q.Like == "" {
		s.filter.Focus()
	}
	return s
}

// searchCommands are the way to the search from a screen about part of a
// palace; where may answer with a reason why there is none.
func (a *App) searchCommands(where func() (*reading, string, selection), why func() string) []ui.Command {
	return []ui.Command{{ID: "search.open", Title: "Search: where did we talk about it?", Short: "search", Keys: []string{"a"}, Group: groupScreen, Disabled: why, Run: func() tea.Cmd {
		r, collection, sel := where()
		return a.push(newSearching(a, r, collection, search.Question{Filter: backend.Filter{Where: sel.where}}))
	}}}
}

// likeCommand finds more like a drawer.
func (a *App) likeCommand(which func() (*reading, string, string), why func() string) ui.Command {
	return ui.Command{ID: "drawer.like", Title: "More like this drawer, by its stored vector", Short: "more like this", Keys: []string{"m"}, Group: groupScreen, Disabled: why, Run: func() tea.Cmd {
		r, collection, id := which()
		return a.push(newSearching(a, r, collection, search.Question{Like: id}))
	}}
}

func (s *searching) crumb() string {
	if s.question.Like != "" {
		return "more like this"
	}
	return "search"
}

func (s *searching) palace() *reading { return s.r }
func (s *searching) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *searching) start() tea.Cmd   { return s.reload() }
func (s *searching) waits() bool      { return s.asking }

func (s *searching) close() {
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *searching) none() string {
	if s.hit() == nil {
		return "there is no drawer here"
	}
	return ""
}

func (s *searching) unasked() string {
	if s.question.Words == "" && s.question.Like == "" {
		return "nothing has been asked yet"
	}
	return ""
}

// draw puts the line in which one asks at the place of the status, without a
// count: what is there answers an older question.
func (s *searching) draw(f ui.Frame) ui.Parts {
	p := s.list.draw(f)
	if s.filter.Focused() {
		p.Status = " " + s.filter.View(s.app.th, max(f.W-1, 0))
	}
	return p
}

// reload asks again. The older question is called off.
func (s *searching) reload() tea.Cmd {
	if s.unasked() != "" {
		return nil
	}
	s.close()
	s.ctx, s.cancel = context.WithCancel(s.app.work.ctx)
	s.gen++
	s.asking = true
	if s.answer == nil {
		s.table.Empty = "Searching."
	}
	gen, at, q, core := s.gen, s.r.place(s.collection), s.question, s.app.opts.Core
	return tea.Batch(s.app.work.under(s.ctx, func(ctx context.Context) tea.Msg {
		m := answerMsg{to: s, gen: gen}
		m.answer, m.err = core.Search(ctx, at, q)
		return m
	}), s.app.loading())
}

func (s *searching) update(msg tea.Msg) tea.Cmd {
	m, ok := msg.(answerMsg)
	if !ok || m.to != s || m.gen != s.gen || errors.Is(m.err, context.Canceled) {
		return nil
	}
	s.asking, s.err = false, m.err
	if m.err != nil {
		s.table.Empty = "The search failed: " + sentence(m.err.Error()) + " r tries again."
		s.tell()
		return nil
	}
	s.answer = &m.answer
	s.table.Empty = fmt.Sprintf("Nothing found for %q.", s.question.Words)
	if s.question.Like != "" {
		s.table.Empty = "There is no other drawer to be like this one."
	}
	rows := make([]ui.Row, len(m.answer.Hits))
	for i, h := range m.answer.Hits {
		rows[i] = s.row(h)
	}
	s.table.SetRows(rows)
	s.table.Home()
	return s.changed()
}

func (s *searching) row(h search.Hit) ui.Row {
	d := toDrawer(h.Record)
	place := d.wing
	if d.room != "" {
		place += "/" + d.room
	}
	fit := func(v *float64, digits int) ui.Cell {
		if v == nil {
			return ui.NoNumber(s.app.th.Glyphs.NoValue)
		}
		return ui.Number(fmt.Sprintf("%.*f", digits, *v), *v)
	}
	preview := d.preview
	if h.Document != nil {
		preview = excerpt(h.Text, s.answer.Terms)
	}
	return ui.Row{ID: h.ID, Cells: []ui.Cell{
		{Text: preview}, fit(&h.Score, 3), {Text: place, Role: theme.Accent}, fit(h.Distance, 4), fit(h.BM25, 3),
		{Text: tilde(d.source, s.app.opts.Home), Role: theme.Faint}, {Text: d.id, Role: theme.Faint},
	}}
}

// hit is the one under the cursor.
func (s *searching) hit() *search.Hit {
	if s.answer == nil {
		return nil
	}
	id := s.table.ID()
	for i := range s.answer.Hits {
		if s.answer.Hits[i].ID == id {
			return &s.answer.Hits[i]
		}
	}
	return nil
}

// typed: enter asks, esc leaves the question that was.
func (s *searching) typed(ev ui.InputEvent) tea.Cmd {
	if !s.filter.Focused() {
		return s.list.typed(ev)
	}
	switch ev {
	case ui.InputSubmit:
		words := strings.TrimSpace(s.filter.Value())
		s.filter.Blur()
		if words == "" {
			return nil
		}
		s.question.Words, s.question.Like = words, ""
		return s.reload()
	case ui.InputCancel:
		s.filter.Blur()
	}
	return nil
}

// slash opens the line in which one asks, with the last question in it.
func (s *searching) slash() tea.Cmd {
	if s.reading {
		return s.list.slash()
	}
	s.filter.SetValue(s.question.Words)
	s.filter.Focus()
	return nil
}

func (s *searching) more() tea.Cmd {
	return s.app.push(newSearching(s.app, s.r, s.collection, search.Question{Like: s.hit().ID, Filter: s.question.Filter}))
}

// nextEngine asks the same of another engine.
func (s *searching) nextEngine() tea.Cmd {
	order := []string{search.Exact, search.Stored, search.Graph, search.Keyword}
	now := s.question.Engine
	if now == "" && s.answer != nil {
		now = s.answer.Engine
	}
	next := order[0]
	for i, e := range order {
		if e == now {
			next = order[(i+1)%len(order)]
		}
	}
	s.question.Engine = next
	return tea.Batch(s.app.say(theme.Note, "Asking the "+search.Words(next)+"."), s.reload())
}

// lacks warns that the answer is less than what was asked for, or old.
func (s *searching) lacks() ui.Line {
	switch {
	case s.err != nil && s.answer != nil:
		return ui.In(theme.Warning, "This is an older answer: "+s.err.Error())
	case s.answer != nil && len(s.answer.Lacks) > 0:
		return ui.In(theme.Warning, sentence(strings.Join(s.answer.Lacks, "; ")))
	}
	return nil
}

// how is which engine answered and what it took.
func (s *searching) how() ui.Line {
	switch {
	case s.asking:
		return ui.In(theme.Faint, "searching")
	case s.answer == nil:
		return s.app.freshness()
	case len(s.answer.Lacks) > 0:
		return ui.In(theme.Faint, search.Words(s.answer.Engine)) // the warning needs the room
	}
	return ui.In(theme.Faint, s.answer.Brief)
}

func (s *searching) source() string {
	if h := s.hit(); h != nil {
		src, _ := h.Metadata["source_file"].(string)
		return src
	}
	return ""
}

func (s *searching) noSource() string {
	switch {
	case s.none() != "":
		return s.none()
	case s.source() == "":
		return "the drawer does not say which file it came from"
	}
	return ""
}

func (s *searching) edit() tea.Cmd { return s.app.openEditor(s.source()) }

func (s *searching) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	return nil
}

func (s *searching) copies() []copyable {
	h := s.hit()
	if h == nil {
		return nil
	}
	out := []copyable{{"i", "id", h.ID}}
	if h.Document != nil {
		out = append(out, copyable{"t", "text", *h.Document})
	}
	if src := s.source(); src != "" {
		out = append(out, copyable{"s", "path of the source", src})
	}
	return append(out, copyable{"w", "how it was found", s.answer.Reason}, copyable{"p", "path of the palace", s.r.path()})
}
