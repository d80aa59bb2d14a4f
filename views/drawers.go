package views

import (
	"context"
	"errors"

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
	s.warn = s.stale
	s.table.Empty = "Reading the drawers."
	s.newest = true
	s.registry = a.register([]ui.Command{
		{ID: "drawer.read", Title: "Read the drawer", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.read},
		{ID: "drawer.source", Title: "Open the source file in your editor", Short: "edit source", Keys: []string{"e"}, Group: groupScreen, Disabled: s.noSource, Run: s.edit},
		s.deleteCommand(),
		{ID: "drawers.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
		a.likeCommand(func() (*reading, string, string) { return s.r, s.collection, s.table.ID() }, s.none),
	}, a.searchCommands(func() (*reading, string, selection) { return s.r, s.collection, s.sel }, nil), s.listKeys(true, "list.sort", "list.reverse"), []ui.Command{
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

// stale says why the rows are old, if they are.
func (s *drawers) stale() ui.Line {
	if s.err == nil || s.shown == nil {
		return nil
	}
	why := s.err.Error()
	var gone *backend.CollectionNotFoundError
	if errors.As(s.err, &gone) {
		why = "the collection is not in the palace any more"
	}
	return ui.In(theme.Warning, "These are older rows: "+why)
}

// order says which end of the list comes first.
func (s *drawers) order() string {
	if s.newest {
		return "newest first"
	}
	return "oldest first"
}
