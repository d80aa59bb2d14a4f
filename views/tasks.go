package views

import (
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// tasks is what has been done and what is still going: the runs of this program,
// and those that logs are kept of.
type tasks struct {
	list
	gen   int
	asked bool
	known []task // of the last answer, the newest first
	err   error
}

// task is a run of the history.
type task struct {
	action.Record
	// mate is what is known of the process of a run without an end.
	mate mate
}

func newTasks(a *App) *tasks {
	s := &tasks{list: newList(a, "task", "tasks",
		ui.Column{Title: "TASK", Priority: 10, Flex: true, Min: 12},
		ui.Column{Title: "PALACE", Priority: 3, Min: 10, Max: 24, Cut: text.CutStart, Wide: true},
		ui.Column{Title: "STATE", Priority: 9},
		ui.Column{Title: "PROGRESS", Priority: 6, Max: 22},
		ui.Column{Title: "STARTED", Priority: 5, Align: text.Right, Sort: ui.SortNumber},
	)}
	s.about = s.tellTask
	s.table.Empty = noTasks
	s.registry = a.register([]ui.Command{
		{ID: "task.open", Title: "Open the task: its plan, its log, its result", Short: "open", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.open},
		{ID: "task.cancel", Title: "Cancel: ask the task to stop", Short: "cancel", Keys: []string{"x"}, Group: groupScreen, Disabled: s.notCancellable, Run: s.cancel},
		{ID: "tasks.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, s.listKeys(false))
	s.fill()
	return s
}

const noTasks = "No tasks yet. So far everything was looking, and looking changes nothing. What was said on the way is in the messages of this session: press : and type messages."

func (s *tasks) crumb() string { return "tasks" }
func (s *tasks) waits() bool   { return s.asked && s.known == nil }

func (s *tasks) badge() ui.Line {
	if n := len(s.app.runs.active()); n > 0 {
		return ui.In(theme.Accent, comma(int64(n))+" running")
	}
	return ui.In(theme.Faint, "nothing running")
}

func (s *tasks) start() tea.Cmd { return s.reload() }

func (s *tasks) update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case historyMsg:
		if m.to != s || m.gen != s.gen {
			return nil
		}
		s.asked, s.err = false, m.err
		s.known = m.list
	case runMsg:
	default:
		return nil
	}
	s.fill()
	return nil
}

func (s *tasks) sync() tea.Cmd {
	s.fill()
	return nil
}

// all are the tasks, the newest first: what this program runs as it is now, the
// rest as it was last read.
func (s *tasks) all() []*told {
	var out []*told
	own := map[action.ID]bool{}
	for i := len(s.app.runs.list) - 1; i >= 0; i-- {
		t := s.app.runs.list[i]
		own[t.id] = true
		out = append(out, t)
	}
	for _, r := range s.known {
		if !own[r.ID] {
			out = append(out, newTold(r.Record, 1))
		}
	}
	return out
}

func (s *tasks) find(id string) *told {
	for _, t := range s.all() {
		if string(t.id) == id {
			return t
		}
	}
	return nil
}

func (s *tasks) fill() {
	a := s.app
	switch {
	case a.opts.Core.Runner() == nil:
		s.table.Empty = "No tasks: this program only looks."
	case s.err != nil && len(s.known) == 0:
		s.table.Empty = "The logs of tasks could not be read: " + s.err.Error() + ". r tries again."
	case s.known == nil:
		s.table.Empty = "Reading the logs of tasks."
	default:
		s.table.Empty = noTasks
	}
	var rows []ui.Row
	now := a.opts.Now()
	for _, t := range s.all() {
		title := homely(t.title, a.opts.Home)
		if title == "" {
			title = "(its log has lost its beginning)"
		}
		rows = append(rows, ui.Row{ID: string(t.id), Cells: []ui.Cell{
			{Text: title}, {Text: filepath.Base(t.palace), Role: theme.Faint},
			{Text: a.stateWord(t), Role: stateRole(t.state)}, {Text: progressWord(t), Role: theme.Faint},
			ui.Number(ago(t.started, now), -now.Sub(t.started).Seconds()),
		}})
	}
	s.table.SetRows(rows)
	s.tell()
}

// stateWord is the state in a word; of a run without an end, whether it goes on.
func (a *App) stateWord(t *told) string {
	if t.state != action.StateUnfinished {
		return string(t.state)
	}
	switch a.mates[t.id] {
	case mateThere:
		return "elsewhere"
	case mateGone:
		return "cut off"
	}
	return "unfinished"
}

// progressWord is how far a run is, or how long it took.
func progressWord(t *told) string {
	switch {
	case !t.over():
		return t.share()
	case t.ended.IsZero():
		return ""
	}
	return "took " + ui.Duration(t.ended.Sub(t.started))
}

func (s *tasks) none() string {
	if s.table.ID() == "" {
		return "there is no task here"
	}
	return ""
}

func (s *tasks) notCancellable() string {
	t := s.find(s.table.ID())
	switch {
	case t == nil:
		return "there is no task here"
	case t.state == action.StateUnfinished && s.app.mates[t.id] == mateThere:
		return "it goes on in another process; end it there"
	case t.over():
		return "it is over"
	case t.state == action.StateCancelling:
		return "it is being cancelled"
	}
	return ""
}

func (s *tasks) cancel() tea.Cmd {
	s.app.guideOf(s.find(s.table.ID())).askCancel()
	return nil
}

// open shows a task: one of this program as it is, another from its log.
func (s *tasks) open() tea.Cmd {
	t := s.find(s.table.ID())
	g := s.app.guideOf(t)
	if s.app.runs.find(t.id) != nil {
		return s.app.push(g)
	}
	return tea.Batch(s.app.push(g), g.readLog())
}

// tellTask is the pane.
func (s *tasks) tellTask() []ui.Field {
	t := s.find(s.table.ID())
	if t == nil {
		return nil
	}
	if t.over() {
		return s.app.resultFields(t)
	}
	f := []ui.Field{{Text: ui.In(theme.Title, t.title)}, {Text: t.doing(s.app.opts.Now())}, {Text: t.steps(s.app.th)}, ui.Blank()}
	lines := t.log.Lines()
	return homelyFields(append(f, lineFields("Last said", lastTexts(lines, 5))...), s.app.opts.Home)
}

func lastTexts(lines []ui.LogLine, n int) []string {
	var out []string
	for _, l := range lines[max(len(lines)-n, 0):] {
		out = append(out, l.Text)
	}
	return out
}

func (s *tasks) copies() []copyable {
	t := s.find(s.table.ID())
	if t == nil {
		return nil
	}
	return []copyable{{"i", "id of the task", string(t.id)}, {"p", "palace", t.palace}, {"t", "this as text", fieldsText(s.app.resultFields(t))}}
}
