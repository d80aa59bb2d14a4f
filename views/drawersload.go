package views

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
)

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
	if n := s.rows(); n >= 0 && s.want == "" {
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

// rows is the number of drawers without the filter if the report has it, -1 if they
// have to be counted.
func (s *drawers) rows() int64 {
	if s.sel.where != nil || s.report == nil {
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

// count counts the drawers, without the filter too if there is one.
func (s *drawers) count() tea.Cmd {
	gen, at, f, core, known := s.gen, s.r.place(s.collection), s.filterOf(), s.app.opts.Core, s.rows()
	return s.app.work.under(s.ctx, func(ctx context.Context) tea.Msg {
		m := countMsg{to: s, gen: gen}
		m.count, m.err = core.Count(ctx, at, f)
		if m.total = known; m.total < 0 && m.err == nil {
			m.total, m.err = core.Count(ctx, at, backend.Filter{Where: f.Where})
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
	return s.app.after(debounceTime, typedMsg{s, n})
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
