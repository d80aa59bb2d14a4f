package views

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// drawers is the list of drawers of a collection, a wing or a room: what do I
// remember about …?
type drawers struct {
	list
	r          *reading
	collection string
	sel        selection

	// shown is what one sees, next what is being read to replace it: another
	// filter, or the palace changed. Old rows stay until new ones come.
	shown, next *pages
	newest      bool
	want        string // the filter typed; shown has it once it was read
	report      *health.Report

	gen      int // of next
	ctx      context.Context
	cancel   context.CancelFunc
	inflight map[int]bool // pages being read
	debounce int
	err      error

	record   *backend.Record // the last drawer that was read in full
	recordID string
	askedID  string
	getting  bool
	getErr   error
}

// debounceTime is how long typing must pause before the palace is asked.
const debounceTime = 120 * time.Millisecond

type (
	pageMsg struct {
		to   *drawers
		gen  int
		page int
		rows []drawer
		next string
		err  error
	}
	countMsg struct {
		to           *drawers
		gen          int
		count, total int64
		err          error
	}
	typedMsg struct {
		to *drawers
		n  int
	}
)

func newDrawers(a *App, r *reading, collection string, sel selection) *drawers {
	s := &drawers{r: r, collection: collection, sel: sel, list: newList(a, "drawer", "drawers",
		ui.Column{Title: "TEXT", Priority: 10, Flex: true, Min: 22, Sort: ui.SortNone},
		ui.Column{Title: "WING/ROOM", Priority: 7, Min: 10, Max: 24, Cut: text.CutMiddle, Sort: ui.SortNone},
		ui.Column{Title: "FILED", Priority: 5, Max: 10, Sort: ui.SortNone},
		ui.Column{Title: "SOURCE", Priority: 3, Min: 12, Max: 40, Cut: text.CutStart, Wide: true, Sort: ui.SortNone},
		ui.Column{Title: "ID", Priority: 1, Min: 12, Max: 60, Cut: text.CutMiddle, Wide: true, Sort: ui.SortNone},
	)}
	s.about = s.tellDrawer
	s.moved = s.inSight
	s.filtered = s.look
	s.list.order = s.order
	s.table.Empty = "Reading the drawers."
	s.newest = true
	s.registry = a.register([]ui.Command{
		{ID: "drawer.read", Title: "Read the drawer", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.read},
		{ID: "drawer.source", Title: "Open the source file in your editor", Short: "edit source", Keys: []string{"e"}, Group: groupScreen, Disabled: s.noSource, Run: s.edit},
		{ID: "drawers.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, s.listKeys(true, "list.sort", "list.reverse"), []ui.Command{
		{ID: "drawers.order", Title: "Newest or oldest first", Keys: []string{"S", "s"}, Group: "List", Run: s.turn},
	})
	return s
}

// openDrawers opens the drawers of the collection that MemPalace files into.
func (a *App) openDrawers(r *reading) tea.Cmd {
	c := mainCollection(r.report, a.house.main)
	return a.push(newDrawers(a, r, c.Name, selection{}))
}

// noDrawers says why a palace has no drawers to show.
func noDrawers(a *App, r *reading) string {
	switch {
	case r == nil:
		return "there is no palace here yet"
	case r.report == nil:
		return "the palace is still being read"
	case mainCollection(r.report, a.house.main) == nil:
		return "the palace has no collection"
	}
	return ""
}

func (s *drawers) crumb() string {
	if s.sel.name != "" {
		return s.sel.name
	}
	return s.collection
}

func (s *drawers) palace() *reading { return s.r }
func (s *drawers) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *drawers) start() tea.Cmd   { return s.reload() }
func (s *drawers) waits() bool {
	return s.next != nil && (s.shown == nil || s.want != "") || s.getting && s.record == nil
}

// close calls off what is being read.
func (s *drawers) close() {
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *drawers) none() string {
	if s.table.ID() == "" {
		return "there is no drawer here"
	}
	return ""
}

// filterOf is the question behind the list: its place, and the text typed.
func (s *drawers) filterOf() backend.Filter {
	f := backend.Filter{Where: s.sel.where}
	if s.want != "" {
		f.WhereDocument = contains(s.want)
	}
	return f
}

// reload reads the list anew, from the page in sight. The older question is
// called off.
func (s *drawers) reload() tea.Cmd {
	s.close()
	s.ctx, s.cancel = context.WithCancel(s.app.work.ctx)
	s.gen++
	s.inflight, s.err = map[int]bool{}, nil
	s.next = newPages(s.app.th, s.app.opts.Home)
	s.next.newest = s.newest
	s.report = s.r.report
	if n := s.counted(); n >= 0 {
		s.next.count, s.next.total = n, n
		return tea.Batch(s.fillNext(), s.app.loading())
	}
	cmds := []tea.Cmd{s.count()}
	if !s.next.newest {
		// Otherwise one has to know first where the end is.
		cmds = append(cmds, s.fetch(s.next, s.top()/pageSize))
	}
	return tea.Batch(append(cmds, s.app.loading())...)
}

// counted is the number of drawers if the report has it, -1 if they have to be
// counted.
func (s *drawers) counted() int64 {
	if s.want != "" || s.sel.where != nil || s.report == nil {
		return -1
	}
	for _, c := range s.report.Collections {
		if c.Name == s.collection && c.Rows != nil {
			return *c.Rows
		}
	}
	return -1
}

// top is the first row to read: the one in sight, unless another list begins.
func (s *drawers) top() int {
	if s.shown == nil || s.table.Filter() != s.want {
		return 0
	}
	first, _ := s.table.Visible()
	return first
}

// fillNext reads the pages of the next list that will be in sight.
func (s *drawers) fillNext() tea.Cmd {
	n := int(s.next.count)
	if n == 0 {
		return s.swapIn()
	}
	first := min(s.top(), n-1)
	end := min(first+max(s.frame.List.H, 1), n)
	var cmds []tea.Cmd
	for _, page := range s.next.missing(first, end) {
		cmds = append(cmds, s.fetch(s.next, page))
	}
	if len(cmds) == 0 {
		return s.swapIn()
	}
	return tea.Batch(cmds...)
}

// turn shows the list from its other end. The order is that of filing; the engine
// knows no other that is quick on hundreds of thousands.
func (s *drawers) turn() tea.Cmd {
	s.newest = !s.newest
	if s.shown == nil || s.next != nil {
		return s.reload()
	}
	s.shown.newest = s.newest
	s.table.SetProvider(s.shown)
	s.table.Home()
	return s.changed()
}

// count counts the drawers, without the filter too if there is one.
func (s *drawers) count() tea.Cmd {
	gen, at, f, all, core := s.gen, s.r.place(s.collection), s.filterOf(), backend.Filter{Where: s.sel.where}, s.app.opts.Core
	return s.app.work.under(s.ctx, func(ctx context.Context) tea.Msg {
		m := countMsg{to: s, gen: gen}
		m.count, m.err = core.Count(ctx, at, f)
		m.total = m.count
		if m.err == nil && f.WhereDocument != nil {
			m.total, m.err = core.Count(ctx, at, all)
		}
		return m
	})
}

// fetch reads a page.
func (s *drawers) fetch(p *pages, page int) tea.Cmd {
	if s.inflight[page] {
		return nil
	}
	s.inflight[page] = true
	gen, at, q, core := s.gen, s.r.place(s.collection), p.query(page, s.filterOf()), s.app.opts.Core
	return s.app.work.under(s.ctx, func(ctx context.Context) tea.Msg {
		m := pageMsg{to: s, gen: gen, page: page}
		for {
			got, err := core.Page(ctx, at, q)
			if err != nil {
				m.err = err
				return m
			}
			for _, r := range got.Records {
				m.rows = append(m.rows, toDrawer(r))
			}
			m.next = got.Next
			if len(m.rows) >= pageSize || got.Next == "" {
				return m
			}
			q.After, q.Offset, q.Limit = got.Next, 0, pageSize-len(m.rows)
		}
	})
}

// look is what typing in the filter does: the palace is asked once typing
// pauses.
func (s *drawers) look(want string) tea.Cmd {
	if want == s.want {
		return nil
	}
	s.want = want
	s.debounce++
	n := s.debounce
	if want == "" {
		return s.reload()
	}
	return s.app.timer(tea.Tick(debounceTime, func(time.Time) tea.Msg { return typedMsg{s, n} }))
}

func (s *drawers) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case typedMsg:
		if msg.to == s && msg.n == s.debounce {
			return s.reload()
		}
	case countMsg:
		if msg.to == s && msg.gen == s.gen {
			return s.gotCount(msg)
		}
	case pageMsg:
		if msg.to == s && msg.gen == s.gen {
			return s.paged(msg)
		}
	case recordMsg:
		if msg.to == s {
			return s.got(msg)
		}
	}
	return nil
}

// filling is the pages that are being filled.
func (s *drawers) filling() *pages {
	if s.next != nil {
		return s.next
	}
	return s.shown
}

func (s *drawers) gotCount(m countMsg) tea.Cmd {
	if m.err != nil {
		s.fail(m.err)
		return nil
	}
	p := s.filling()
	p.count, p.total = m.count, m.total
	if s.next != nil {
		return s.fillNext()
	}
	s.table.SetProvider(p)
	return s.inSight()
}

func (s *drawers) paged(m pageMsg) tea.Cmd {
	delete(s.inflight, m.page)
	if m.err != nil {
		s.fail(m.err)
		return nil
	}
	p := s.filling()
	p.put(m.page, m.rows, m.next)
	if s.next == nil {
		s.table.SetProvider(p)
		return s.inSight()
	}
	if len(s.inflight) > 0 && p.count >= 0 {
		return nil // the other half of the screen
	}
	return s.swapIn()
}

// swapIn shows what has been read.
func (s *drawers) swapIn() tea.Cmd {
	other := s.table.Filter() != s.want
	s.shown, s.next = s.next, nil
	s.askedID = ""
	s.table.SetFilter(s.want)
	s.table.Empty = "No drawers here."
	s.table.SetProvider(s.shown)
	if other {
		s.table.Home()
	}
	s.tell()
	return s.inSight()
}

// fail says in the list why there is nothing, or over it why it is old.
func (s *drawers) fail(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.err = err
	if s.shown == nil {
		s.table.Empty = "The drawers could not be read: " + sentence(err.Error()) + " r tries again."
	}
	s.tell()
}

// sync reads again when the figures of the palace changed.
func (s *drawers) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	if s.report == nil {
		s.report = s.r.report
	}
	if sameFigures(s.report, s.r.report) {
		return s.inSight()
	}
	return s.reload()
}

// inSight reads the pages that the rows on the screen lie on, and the drawer
// under the cursor.
func (s *drawers) inSight() tea.Cmd {
	if s.shown == nil {
		return nil
	}
	var cmds []tea.Cmd
	if s.next == nil {
		first, end := s.table.Visible()
		for _, page := range s.shown.missing(first, end) {
			cmds = append(cmds, s.fetch(s.shown, page))
		}
	}
	return tea.Batch(append(cmds, s.get())...)
}

// contains is the condition that a text holds what was typed. Chroma compares
// letter by letter; most people do not type capitals, so the two usual ways to
// write a word are looked for as well.
func contains(s string) backend.WhereDocument {
	exact := backend.TextMatch{Op: backend.Contains, Text: s}
	title := capital(s)
	if title == s {
		return exact
	}
	return backend.OrText{exact, backend.TextMatch{Op: backend.Contains, Text: title}}
}

func (s *drawers) status(w int) string {
	if s.err != nil && s.shown != nil && s.input() == nil {
		return ui.StatusLine(s.app.th, ui.In(theme.Warning, "These are older figures: "+s.err.Error()), nil, w)
	}
	return s.list.status(w)
}

// order says which end of the list comes first.
func (s *drawers) order() string {
	if s.newest {
		return "newest first"
	}
	return "oldest first"
}
