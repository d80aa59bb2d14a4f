package views

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
)

// sameFigures tells whether two reports say the same of the collections.
func sameFigures(a, b *health.Report) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a.Collections, b.Collections)
}

func (s *overview) wants(c ui.Class) ui.Wants {
	w := s.list.wants(c)
	if c != ui.Small {
		w.Gauges = len(s.gauges())
	}
	return w
}

// resize gives the collections what they need, up to half of the list, and the
// wings what is left.
func (s *overview) resize(f ui.Frame) {
	s.list.resize(f)
	top, bottom := s.halves(f.List.H - len(s.stacked(f)))
	s.table.SetSize(f.List.W, top)
	s.wings.SetSize(f.List.W, bottom)
	s.table.SetFocus(!s.reading && !s.inWings)
	s.wings.SetFocus(!s.reading && s.inWings)
}

// halves divides the list. Between the two tables there is a blank line if it
// can be spared.
func (s *overview) halves(h int) (top, bottom int) {
	if s.wings.Total() == 0 {
		return h, 0
	}
	top = min(s.table.Total()+1, max(h/2, 2))
	bottom = h - top
	if h >= 10 {
		bottom--
	}
	return top, max(bottom, 0)
}

func (s *overview) draw(f ui.Frame) ui.Parts {
	p := s.list.draw(f)
	if !f.List.Empty() {
		lines := s.stacked(f)
		h := f.List.H - len(lines)
		_, bottom := s.halves(h)
		lines = append(lines, fill(s.table.View(), h-bottom)...)
		if bottom > 0 {
			lines = append(lines, s.wings.View())
		}
		p.List = strings.Join(lines, "\n")
	}
	p.Gauges = ui.Strip(s.app.th, s.gauges(), f.W)
	return p
}

// stacked are the gauges of a small window, one below the other over the lists, as
// long as these keep most of the height.
func (s *overview) stacked(f ui.Frame) []string {
	if f.Class != ui.Small {
		return nil
	}
	// The lock is not in the title here, so it comes before disk and index.
	gauges := s.gauges()
	slices.SortStableFunc(gauges, func(x, y ui.Gauge) int { return inSmall(x) - inSmall(y) })
	var rows []string
	for _, row := range ui.Stack(s.app.th, gauges, f.W-2) {
		rows = append(rows, " "+row)
	}
	return rows[:min(len(rows), max((f.List.H-4)/2, 0))]
}

// inSmall ranks a gauge for a small window.
func inSmall(g ui.Gauge) int {
	switch g.Label {
	case "drawers", "searchable":
		return 0
	case "lock":
		return 1
	}
	return 2
}

// fill makes n lines of a text.
func fill(s string, n int) []string {
	lines := strings.Split(s, "\n")
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

// gauges are the figures of the palace, the most important first.
func (s *overview) gauges() []ui.Gauge {
	r := s.r.report
	if r == nil {
		dots := s.app.th.Glyphs.Ellipsis
		return []ui.Gauge{{Label: "drawers", Value: dots}, {Label: "searchable", Value: dots}, {Label: "disk", Value: dots}}
	}
	var out []ui.Gauge
	if c := mainCollection(r, s.app.house.main); c != nil {
		found := ui.Gauge{Label: "searchable", Value: figure(c.Vectors.Searchable), Role: theme.OK}
		if c.Rows != nil && c.Vectors.Searchable != nil {
			found.Done, found.Total = *c.Vectors.Searchable, *c.Rows
		}
		if value(c.Vectors.Missing) > 0 {
			found.Role = theme.Error
		}
		out = append(out, ui.Gauge{Label: "drawers", Value: figure(c.Rows)}, found)
		if x := c.Index; x != nil && x.Capacity != nil && value(x.Elements) > 0 {
			// Full is no fault: the index grows by itself.
			out = append(out, ui.Gauge{Label: "index", Value: fmt.Sprintf("%s of %s places", comma(*x.Elements), comma(*x.Capacity)), Role: theme.Text})
		}
	}
	if r.Palace.Bytes != nil {
		out = append(out, ui.Gauge{Label: "disk", Value: size(r.Palace.Bytes)})
	}
	if r.Lock.State != "" {
		c := lockCell(r.Lock)
		out = append(out, ui.Gauge{Label: "lock", Value: c.Text, Role: c.Role})
	}
	return out
}

func (s *overview) retreat() (tea.Cmd, bool) {
	if cmd, ok := s.list.retreat(); ok {
		return cmd, ok
	}
	if s.inWings {
		s.inWings = false
		s.tell()
		return nil, true
	}
	return nil, false
}

// tellCollection is the pane: the collection under the cursor, its index, its
// last writes.
func (s *overview) tellCollection() []ui.Field {
	th := s.app.th
	c := s.current()
	if c == nil {
		return append(s.app.palaceFields(s.r), s.app.repairFields(s.r)...)
	}
	fields := []ui.Field{{Text: ui.Line{{Text: c.Name, Role: theme.Title}, {Text: "  "}, badge(th, grade(c.Verdict))}}}
	fields = append(fields, s.parkedFields()...)
	fields = append(fields, s.app.repairFields(s.r)...)
	told := false
	for _, f := range s.r.report.Findings {
		if f.Subject == c.Name && f.Severity != health.Info {
			fields = append(fields, ui.Field{Text: s.app.findingLine(f)})
			told = told || f.Code == health.VectorsMissing
		}
	}
	if !told {
		fields = append(fields, ui.Field{Text: ui.Plain(s.reach(c))})
	}
	fields = append(fields, s.writeFields(c)...)
	fields = append(fields, ui.Blank())
	fields = append(fields, collectionFacts(th, c)...)
	return append(fields, ui.Blank(), ui.Field{Text: s.app.lockLine(s.r.report.Lock)})
}

// reach says how much of a collection a search finds.
func (s *overview) reach(c *health.Collection) string {
	switch v := c.Vectors; {
	case c.Rows == nil:
		return "The drawers could not be counted."
	case *c.Rows == 0:
		return "No drawers yet."
	case v.Missing == nil || v.Searchable == nil:
		return plural(*c.Rows, "drawer", "drawers") + "; how many a search finds could not be read."
	case *v.Missing == 0 && *c.Rows == 1:
		return "The one drawer can be found by meaning."
	case *v.Missing == 0:
		return "All " + comma(*c.Rows) + " drawers can be found by meaning."
	default:
		return fmt.Sprintf("%s of %s cannot be found by meaning. The text is all there.", comma(*v.Missing), plural(*c.Rows, "drawer", "drawers"))
	}
}

// writeFields tell of the last writes, as far as the queue still has them.
func (s *overview) writeFields(c *health.Collection) []ui.Field {
	k := s.writes[c.Name]
	fields := []ui.Field{ui.Blank(), {Text: ui.In(theme.Header, "Last writes")}}
	switch {
	case k == nil || k.report == nil:
		return append(fields, ui.Field{Text: ui.In(theme.Faint, s.app.th.Glyphs.Ellipsis)})
	case k.err != nil:
		return append(fields, ui.Field{Text: ui.In(theme.Warning, "They could not be read: "+k.err.Error())})
	case len(k.list) == 0:
		return append(fields, ui.Field{Text: ui.In(theme.Faint, "None in the queue: Chroma removes writes from it once the index has them.")})
	}
	for _, g := range groupWrites(k.list) {
		fields = append(fields, s.writeField(g))
	}
	return fields
}

// writeGroup is several writes of one kind and origin, one after the other: a mine
// files a document in many drawers.
type writeGroup struct {
	Write
	n      int
	places []string
}

func groupWrites(list []Write) []writeGroup {
	var out []writeGroup
	for _, w := range list {
		place := w.ID // an update does not say again where it belongs
		if w.Wing != "" {
			place = w.Wing
			if w.Room != "" {
				place += "/" + w.Room
			}
		}
		if n := len(out); n > 0 && out[n-1].Kind == w.Kind && out[n-1].Source == w.Source && out[n-1].By == w.By {
			g := &out[n-1]
			g.n++
			if !slices.Contains(g.places, place) {
				g.places = append(g.places, place)
			}
			continue
		}
		out = append(out, writeGroup{w, 1, []string{place}})
	}
	return out
}

// shownPlaces is how many wings and rooms of a group are named.
const shownPlaces = 2

// writeField is a group of writes: when, what, from where, by whom, where to.
func (s *overview) writeField(g writeGroup) ui.Field {
	when := ago(g.At, s.app.opts.Now())
	if when == "" {
		when = "no time"
	}
	what := g.Kind
	if g.n > 1 {
		what += " of " + comma(int64(g.n))
	}
	line := ui.Line{{Text: what}}
	if g.Source != "" {
		line = append(line, ui.Span{Text: " from "}, ui.Span{Text: filepath.Base(g.Source), Role: theme.Accent})
	}
	if g.By != "" {
		line = append(line, ui.Span{Text: " by " + g.By})
	}
	places := strings.Join(g.places[:min(len(g.places), shownPlaces)], ", ")
	if more := len(g.places) - shownPlaces; more > 0 {
		places += fmt.Sprintf(" and %d more", more)
	}
	return ui.Field{Label: when, Text: append(line, ui.Span{Text: "  " + places, Role: theme.Faint})}
}

// collectionFacts are the figures behind the verdict, for who wants them.
func collectionFacts(th theme.Theme, c *health.Collection) []ui.Field {
	fact := func(label, text string) ui.Field { return ui.Field{Label: label, Text: ui.Plain(text)} }
	var out []ui.Field
	if c.Space != nil || c.Dimension != nil {
		d := ""
		if c.Dimension != nil {
			d = fmt.Sprintf("%d dimensions", *c.Dimension)
		}
		out = append(out, fact("vectors", dot(th, d, value(c.Space), value(c.Embedder))))
	}
	v := c.Vectors
	out = append(out, fact("found in", dot(th, "index "+figure(v.Indexed), "queue "+figure(v.Queued), "in the index and no longer filed "+figure(v.Stale))))
	if x := c.Index; x != nil {
		out = append(out, fact("index", dot(th, indexWord(x.State), sizeInFull(x.Bytes))))
		if x.Elements != nil {
			out = append(out, fact("places", dot(th, figure(x.Elements)+" taken", figure(x.Deleted)+" of them deleted", "room for "+figure(x.Capacity))))
		}
		if x.M != nil {
			out = append(out, fact("graph", dot(th, fmt.Sprintf("M %d", *x.M), fmt.Sprintf("levels up to %s", figure(x.MaxLevel)))))
		}
		if x.SyncThreshold != nil {
			out = append(out, fact("flushed", "every "+plural(*x.SyncThreshold, "write", "writes")))
		}
		if x.Segment != nil {
			out = append(out, fact("segment", *x.Segment))
		}
	}
	if c.ID != nil {
		out = append(out, fact("id", *c.ID))
	}
	return out
}

// indexWord is the state of an index with its meaning.
func indexWord(s health.IndexState) string {
	switch s {
	case health.IndexNone:
		return "none needed yet"
	case health.IndexUnflushed:
		return "not written yet, the queue has all vectors: normal"
	case health.IndexOK:
		return "ok"
	case health.IndexDamaged:
		return "damaged"
	case health.IndexLost:
		return "lost"
	}
	return "dangerous to open"
}

func (s *overview) copies() []copyable {
	out := []copyable{{"p", "path", s.r.path()}}
	if c := s.current(); c != nil {
		out = append(out, copyable{"n", "name of the collection", c.Name})
		if c.ID != nil {
			out = append(out, copyable{"i", "id of the collection", *c.ID})
		}
		if w := s.wing(); s.inWings && w != nil && w.Name != nil {
			out = append(out, copyable{"w", "wing", *w.Name})
		}
	}
	return append(out, s.app.reportCopies(s.r)...)
}
