package views

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/search"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// quality is how well each way to search by meaning does on a collection's own
// vectors. It measures only when told to: that reads every vector.
type quality struct {
	list
	r          *reading
	collection string

	result *search.Quality
	err    error
	gen    int
	cancel context.CancelFunc
	busy   bool
	done   []string // parts that are finished
}

type (
	measuredMsg struct {
		to     *quality
		gen    int
		result search.Quality
		err    error
	}
	// partMsg tells that a part of a measurement is finished; next waits for
	// the part after it.
	partMsg struct {
		to   *quality
		gen  int
		part string
		next tea.Cmd
	}
)

func newQuality(a *App, r *reading, collection string) *quality {
	s := &quality{r: r, collection: collection, list: newList(a, "engine", "engines",
		ui.Column{Title: "ENGINE", Priority: 10, Min: 12, Flex: true},
		ui.Column{Title: "FINDS", Priority: 9, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "HALF WITHIN", Priority: 7, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "95% WITHIN", Priority: 5, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "TO BEGIN", Priority: 6, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "VECTORS", Priority: 4, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "STATE", Priority: 8},
	)}
	s.about = s.tellEngine
	s.table.Empty = "Not measured yet. enter measures: it reads every vector, asks each engine 100 questions and builds a graph of up to 2,000 vectors, which takes some seconds. Nothing is changed."
	s.registry = a.register([]ui.Command{
		{ID: "quality.measure", Title: "Measure the engines on the drawers of this collection", Short: "measure", Keys: []string{"enter"}, Group: groupScreen, Disabled: s.running, Run: s.measure},
		{ID: "quality.stop", Title: "Stop measuring", Short: "stop", Keys: []string{"x"}, Group: groupScreen, Disabled: s.notRunning, Run: s.stop},
		{ID: "quality.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, s.listKeys(false))
	return s
}

// qualityCommand opens the screen.
func (a *App) qualityCommand(which func() (*reading, string), why func() string) ui.Command {
	return ui.Command{ID: "quality.open", Title: "Index quality: how much each engine finds, and how quickly", Keys: []string{"i"}, Group: groupScreen, Disabled: why, Run: func() tea.Cmd {
		r, collection := which()
		return a.push(newQuality(a, r, collection))
	}}
}

func (s *quality) crumb() string    { return "index quality" }
func (s *quality) palace() *reading { return s.r }
func (s *quality) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *quality) waits() bool      { return s.busy }

func (s *quality) close() {
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *quality) running() string {
	if s.busy {
		return "it is being measured already; x stops"
	}
	return ""
}

func (s *quality) notRunning() string {
	if !s.busy {
		return "nothing is being measured"
	}
	return ""
}

func (s *quality) stop() tea.Cmd {
	s.close()
	return nil
}

func (s *quality) measure() tea.Cmd {
	ctx, cancel := context.WithCancel(s.app.work.ctx)
	s.gen++
	s.cancel, s.busy, s.done, s.err = cancel, true, nil, nil
	s.progress()
	parts := make(chan string, 8) // more than there are
	gen, at, core := s.gen, s.r.place(s.collection), s.app.opts.Core
	var next tea.Cmd
	next = func() tea.Msg {
		part, ok := <-parts
		if !ok {
			return nil
		}
		return partMsg{s, gen, part, next}
	}
	run := s.app.work.under(ctx, func(ctx context.Context) tea.Msg {
		defer close(parts)
		defer cancel()
		m := measuredMsg{to: s, gen: gen}
		m.result, m.err = core.Measure(ctx, at, func(part string) {
			select {
			case parts <- part:
			default:
			}
		})
		return m
	})
	return tea.Batch(run, next, s.app.loading())
}

// progress says in place of the rows how far it is.
func (s *quality) progress() {
	if s.result != nil {
		return
	}
	words := "Measuring: reading the vectors."
	if n := len(s.done); n > 0 {
		after := map[string]string{"vectors": "asking the exact scan.", search.Exact: "asking the stored index.",
			search.Stored: "building a graph and asking it.", search.Graph: "done."}
		words = "Measuring: " + after[s.done[n-1]]
	}
	s.table.Empty = words
}

func (s *quality) update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case partMsg:
		if m.to != s {
			return nil
		}
		if m.gen == s.gen && s.busy {
			s.done = append(s.done, m.part)
			s.progress()
		}
		return m.next
	case measuredMsg:
		if m.to != s || m.gen != s.gen {
			return nil
		}
		s.busy = false
		switch {
		case errors.Is(m.err, context.Canceled):
			s.table.Empty = "Stopped. enter measures."
		case m.err != nil:
			s.err = m.err
			s.table.Empty = "It could not be measured: " + sentence(m.err.Error()) + " enter tries again."
		default:
			s.result = &m.result
			s.fill()
		}
		s.tell()
	}
	return nil
}

func (s *quality) fill() {
	var rows []ui.Row
	for _, e := range s.result.Engines {
		row := ui.Row{ID: e.Name, Cells: []ui.Cell{{Text: search.Words(e.Name)}}}
		if e.Questions == 0 {
			for range 5 {
				row.Cells = append(row.Cells, ui.NoNumber(s.app.th.Glyphs.NoValue))
			}
		} else {
			row.Cells = append(row.Cells, ui.Number(percent(e.Recall), e.Recall), duration(e.Median), duration(e.Slow), duration(e.Build),
				ui.Number(comma(int64(e.Vectors)), float64(e.Vectors)))
		}
		state := ui.Cell{Text: "ok", Role: theme.OK}
		if e.Refused != "" {
			state = ui.Cell{Text: "refused", Role: theme.Warning}
		}
		rows = append(rows, ui.Row{ID: row.ID, Cells: append(row.Cells, state)})
	}
	s.table.SetRows(rows)
}

// percent rounds down: 100% is nothing less.
func percent(share float64) string {
	return fmt.Sprintf("%.1f%%", math.Floor(share*1000)/10)
}

func duration(d time.Duration) ui.Cell {
	s := fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	switch {
	case d >= time.Minute:
		s = span(d)
	case d >= time.Second:
		s = fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		s = fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return ui.Number(s, float64(d))
}

// tellEngine is the pane: what was measured, and how the stored index is made.
func (s *quality) tellEngine() []ui.Field {
	if s.result == nil {
		return nil
	}
	q := s.result
	fields := []ui.Field{ui.Para(fmt.Sprintf("%s of %s: %d floats, %s. %s questions near to stored vectors, each for the %d nearest. Distances by %s.",
		plural(int64(q.Loaded), "vector", "vectors"), q.Collection, q.Dimension, q.Space, comma(int64(questionsOf(q))), q.Nearest, q.Kernel))}
	if q.Unreached > 0 {
		fields = append(fields, ui.Field{Text: ui.In(theme.Warning, plural(int64(q.Unreached), "drawer has", "drawers have")+" no vector that can be read.")})
	}
	for _, e := range q.Engines {
		if e.Name == s.table.ID() && e.Refused != "" {
			fields = append(fields, ui.Blank(), ui.Field{Label: "refused", Text: ui.In(theme.Warning, sentence(e.Refused))})
		}
	}
	return append(append(fields, ui.Blank()), shapeFields(q.Index)...)
}

func questionsOf(q *search.Quality) int {
	n := 0
	for _, e := range q.Engines {
		n = max(n, e.Questions)
	}
	return n
}

// shapeFields tell how the stored index is made.
func shapeFields(x *search.IndexShape) []ui.Field {
	if x == nil {
		return []ui.Field{{Label: "index", Text: ui.In(theme.Faint, "no index files that can be read")}}
	}
	var levels []string
	for _, n := range x.Levels {
		levels = append(levels, comma(int64(n)))
	}
	fields := []ui.Field{
		{Label: "elements", Text: ui.Plain(comma(int64(x.Elements)))},
		{Label: "tombstones", Text: ui.Plain(comma(int64(x.Tombstones)))},
		{Label: "levels", Text: ui.Plain(strings.Join(levels, ", "))},
		{Label: "neighbours", Text: ui.Plain(fmt.Sprintf("%d to %d, %.1f on average, room for %d", x.MinDegree, x.MaxDegree, x.MeanDegree, x.MostDegree))},
	}
	if x.Unreachable > 0 {
		fields = append(fields, ui.Field{Label: "unreachable", Text: ui.In(theme.Warning, comma(int64(x.Unreachable))+" that no search can find")})
	}
	return fields
}
