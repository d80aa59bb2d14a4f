package views

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/dustin/go-humanize"

	"castellan/locks"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// holders shows who has which palace: who has it, who wants it, may I take it?
type holders struct {
	list
	rows []holderRow
	only *reading // the palace it was opened for; nil for all
}

// holderRow is one line: a palace's lock, or a process that has it open.
type holderRow struct {
	id     string
	r      *reading
	view   locks.PalaceView
	opener *locks.Opener // nil for the lock's own line
}

func newHolders(a *App, r *reading) *holders {
	s := &holders{only: r, list: newList(a, "entry", "entries",
		ui.Column{Title: "PALACE", Priority: 10, Min: 12, Max: 36, Cut: text.CutStart},
		ui.Column{Title: "PROCESS", Priority: 8, Flex: true, Min: 14},
		ui.Column{Title: "SINCE", Priority: 4, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "CPU", Priority: 3, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "STATE", Priority: 9},
	)}
	s.about = s.tellHolder
	s.registry = a.register(append([]ui.Command{
		{ID: "holder.read", Title: "Everything known of this line", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Run: s.read},
		{ID: "holder.tasks", Title: "Tasks: what has been done, what is still going", Keys: []string{"t"}, Group: groupScreen, Run: func() tea.Cmd { return a.push(newTasks(a)) }},
		{ID: "holder.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, a.closeCommands(s.under)...), s.listKeys(false))
	s.fill()
	return s
}

// openHolders opens the holders with the cursor on a palace.
func (a *App) openHolders(r *reading) tea.Cmd {
	s := newHolders(a, r)
	cmd := a.push(s)
	if r != nil {
		s.table.Select(r.path())
	}
	return cmd
}

func (s *holders) crumb() string  { return "holders" }
func (s *holders) start() tea.Cmd { return s.app.house.look() }
func (s *holders) waits() bool    { return s.app.house.survey == nil && s.app.house.surveyErr == nil }

func (s *holders) badge() ui.Line {
	if s.app.house.survey == nil {
		return ui.In(theme.Faint, s.app.th.Glyphs.Ellipsis)
	}
	held := int64(0)
	for _, row := range s.rows {
		if row.opener == nil && row.view.Lock.State == locks.Held {
			held++
		}
	}
	if held == 0 {
		return ui.In(theme.OK, "nobody holds any")
	}
	return ui.In(theme.Held, fmt.Sprintf("%d held", held))
}

func (s *holders) sync() tea.Cmd {
	first := len(s.rows) == 0
	s.fill()
	if first && s.only != nil {
		s.table.Select(s.only.path())
	}
	s.tell()
	return nil
}

func (s *holders) fill() {
	h := s.app.house
	switch {
	case h.surveyErr != nil:
		s.table.Empty = "The locks could not be looked at: " + h.surveyErr.Error() + ". r tries again."
	case h.survey == nil:
		s.table.Empty = "Looking at the locks and at who has palaces open."
	default:
		s.table.Empty = "No palaces, so nobody holds any."
	}
	if h.survey == nil {
		return
	}
	s.rows = nil
	var rows []ui.Row
	for _, r := range h.palaces {
		view := h.survey.Palace(r.path())
		row := holderRow{id: r.path(), r: r, view: view}
		s.rows = append(s.rows, row)
		rows = append(rows, ui.Row{ID: row.id, Cells: s.lockCells(row)})
		for i := range view.Openers {
			o := &view.Openers[i]
			if o.Writer {
				continue // it is the line above
			}
			line := holderRow{id: fmt.Sprintf("%s\x00%d", r.path(), o.PID), r: r, view: view, opener: o}
			s.rows = append(s.rows, line)
			rows = append(rows, ui.Row{ID: line.id, Cells: s.openerCells(line)})
		}
	}
	s.table.SetRows(rows)
}

func (s *holders) lockCells(row holderRow) []ui.Cell {
	dash := ui.NoNumber(s.app.th.Glyphs.NoValue)
	l := row.view.Lock
	cells := []ui.Cell{{Text: s.app.path(row.r)}, {Text: s.app.th.Glyphs.NoValue, Role: theme.Faint}, dash, dash, {}}
	switch l.State {
	case locks.Free, locks.NoDirectory:
		cells[4] = ui.Cell{Text: "free"}
		return cells
	case locks.StateUnknown:
		cells[4] = ui.Cell{Text: "unknown", Role: theme.Warning}
		return cells
	}
	h := l.Holder
	cells[4] = ui.Cell{Text: activity(h), Role: theme.Held}
	if h == nil || h.PID == 0 {
		cells[1] = ui.Cell{Text: "somebody out of sight", Role: theme.Warning}
		return cells
	}
	cells[1] = ui.Cell{Text: fmt.Sprintf("%d %s", h.PID, command(h.Process))}
	since := h.Since
	if since.IsZero() {
		since = h.Started
	}
	cells[2] = s.sinceCell(since)
	if h.CPUPercent != nil {
		cells[3] = ui.Number(fmt.Sprintf("%.0f%%", *h.CPUPercent), *h.CPUPercent)
	}
	return cells
}

func (s *holders) sinceCell(t time.Time) ui.Cell {
	if t.IsZero() {
		return ui.NoNumber(s.app.th.Glyphs.NoValue)
	}
	age := s.app.opts.Now().Sub(t)
	return ui.Number(span(age), age.Seconds())
}

func (s *holders) openerCells(row holderRow) []ui.Cell {
	o := row.opener
	word := ui.Cell{Text: "reading", Role: theme.Faint}
	for _, f := range o.Files {
		if f.Writable {
			word = ui.Cell{Text: "open", Role: theme.Text}
		}
	}
	if o.Note != "" {
		word = ui.Cell{Text: "lost", Role: theme.Error}
	}
	return []ui.Cell{
		{Text: s.app.path(row.r), Role: theme.Faint},
		{Text: fmt.Sprintf("%d %s", o.PID, command(o.Process))},
		s.sinceCell(o.Started), ui.NoNumber(s.app.th.Glyphs.NoValue), word,
	}
}

// command is what a process runs, or its name where that cannot be read.
func command(p locks.Process) string {
	if p.Command != "" {
		return p.Command
	}
	return p.Name
}

// idleAfter is from when on a holder that does nothing is called idle.
const idleAfter = 10 * time.Minute

// activity is what a holder does, in a word.
func activity(h *locks.Holder) string {
	switch {
	case h == nil:
		return "held"
	case h.State == "D" || h.State == "T" || h.State == "Z":
		return "stuck"
	case h.IdleSeconds != nil && *h.IdleSeconds >= idleAfter.Seconds():
		return "idle"
	case h.IdleSeconds != nil && *h.IdleSeconds == 0:
		return "working"
	}
	return "held"
}

func (s *holders) current() *holderRow {
	for i := range s.rows {
		if s.rows[i].id == s.table.ID() {
			return &s.rows[i]
		}
	}
	return nil
}

// under is the palace of the line under the cursor.
func (s *holders) under() *reading {
	if row := s.current(); row != nil {
		return row.r
	}
	return nil
}

// resize also draws the timeline anew, whose cells follow the width.
func (s *holders) resize(f ui.Frame) {
	w := s.frame.Detail.W
	s.list.resize(f)
	if w != f.Detail.W {
		s.tell()
	}
}

func (s *holders) palace() *reading { return nil }

// tellHolder is the pane: who, since when, for whom, and what that means.
func (s *holders) tellHolder() []ui.Field {
	row := s.current()
	switch {
	case row == nil:
		return nil
	case row.opener != nil:
		return s.openerFields(row)
	}
	l := row.view.Lock
	meaning := ui.Plain(s.meaning(l))
	if does := activity(l.Holder); l.State == locks.Held && (does == "idle" || does == "stuck") {
		meaning = append(ui.Line{badge(s.app.th, theme.Warn), {Text: " "}}, meaning...)
	}
	fields := []ui.Field{{Text: ui.In(theme.Title, s.app.path(row.r))}, {Text: meaning}}
	fields = append(fields, warningFields(s.app.th, holderWarnings(row.view))...)
	for _, w := range l.Waiters {
		fields = append(fields, ui.Field{Label: "waits for it", Text: ui.Plain(fmt.Sprintf("%d %s", w.PID, command(w)))})
	}
	if l.Holder != nil && l.Holder.PID != 0 {
		if len(l.Waiters) == 0 {
			fields = append(fields, ui.Blank())
		}
		fields = append(fields, s.processFields(l.Holder.Process)...)
		if !l.Holder.Since.IsZero() {
			fields = append(fields, ui.Field{Label: "has it since", Text: ui.Plain(clockTime(l.Holder.Since, s.app.opts.Now()))})
		}
		if l.Holder.IdleSeconds != nil && *l.Holder.IdleSeconds >= 1 {
			fields = append(fields, ui.Field{Label: "idle for", Text: ui.Plain(span(time.Duration(*l.Holder.IdleSeconds * float64(time.Second))))})
		}
		if l.Holder.Identity == locks.Recorded {
			fields = append(fields, ui.Para("Only the lock file names this process; the system does not show it from here."))
		}
	}
	if l.Holder == nil && l.LastHolder != nil && l.LastHolder.PID != 0 {
		word := "has exited"
		if l.LastHolder.Alive {
			word = "still runs, and has let go"
		}
		fields = append(fields, ui.Field{Label: "had it last", Text: ui.Plain(fmt.Sprintf("%d %s, which %s", l.LastHolder.PID, l.LastHolder.Text, word))})
	}
	for _, o := range row.view.Others {
		if o.State == locks.Held {
			fields = append(fields, ui.Para("It is also locked under another spelling of its path: "+o.Path+"."))
		}
	}
	if l.Path != "" && l.State != locks.NoDirectory {
		fields = append(fields, ui.Field{Label: "lock file", Text: ui.Plain(tilde(l.Path, s.app.opts.Home))})
	}
	holder := 0
	if l.Holder != nil {
		holder = l.Holder.PID
	}
	fields = append(fields, timelineFields(s.app.th, &row.r.seen, holder, s.frame.Detail.W-laneLabel, s.app.opts.Now())...)
	return append(fields, s.surroundings(row)...)
}

// meaning is what a lock's state means for a person.
func (s *holders) meaning(l locks.PalaceLock) string {
	switch l.State {
	case locks.Free:
		return "Nobody holds it: a mine or a repair can start at once."
	case locks.NoDirectory:
		return "Nobody holds it: MemPalace has never taken a lock here."
	case locks.StateUnknown:
		return sentence("Whether anybody holds it cannot be told from here: " + l.Why)
	}
	switch activity(l.Holder) {
	case "idle":
		return "Held, and its holder does nothing. An MCP server keeps the lock from its first write until it exits; other writers are refused until then."
	case "stuck":
		return "Held by a process that cannot run at the moment. Other writers are refused until it ends."
	}
	if l.Unlinked {
		return "Held through a lock file that somebody removed: the next writer will not see this one."
	}
	return "Held: other writers are refused until it lets go. Reading is not affected."
}

// surroundings are what the survey says beside the palace's own lock.
func (s *holders) surroundings(row *holderRow) []ui.Field {
	survey := s.app.house.survey
	var out []ui.Field
	if n := len(row.view.Openers); n > 0 {
		out = append(out, ui.Blank(), ui.Para(plural(int64(n), "process has", "processes have")+" files of this palace open."))
	}
	src := survey.Sources
	if src.Total > 0 {
		words := plural(int64(src.Total), "per-file lock", "per-file locks") + ", " + comma(int64(len(src.Held))) + " held"
		if !src.Known {
			words += " as far as can be seen"
		}
		out = append(out, ui.Field{Label: "all palaces", Text: ui.In(theme.Faint, words)})
	}
	for _, slot := range survey.HookSlots {
		out = append(out, ui.Field{Label: "hook", Text: ui.In(theme.Faint, strings.TrimSpace(fmt.Sprintf("%d %s, %s", slot.PID, slot.Command, slot.State)))})
	}
	if survey.Hidden > 0 {
		out = append(out, ui.Field{Text: ui.In(theme.Faint, plural(int64(survey.Hidden), "process", "processes")+" of other people could not be looked at.")})
	}
	for _, gap := range survey.Gaps {
		out = append(out, ui.Field{Text: ui.In(theme.Faint, sentence(gap.Error()))})
	}
	return out
}

func (s *holders) openerFields(row *holderRow) []ui.Field {
	o := row.opener
	fields := []ui.Field{{Text: ui.In(theme.Title, fmt.Sprintf("%d %s", o.PID, command(o.Process)))}}
	if o.Note != "" {
		fields = append(fields, ui.Field{Text: ui.In(theme.Error, sentence("It "+o.Note))})
	} else {
		fields = append(fields, ui.Para("Has files of "+s.app.path(row.r)+" open and does not hold its lock. Reading beside a writer is fine."))
	}
	fields = append(fields, ui.Blank())
	fields = append(fields, s.processFields(o.Process)...)
	if o.Orphan {
		fields = append(fields, ui.Para("Whoever started it has exited; nobody is left to stop it."))
	}
	for _, f := range o.Files {
		how := "read"
		if f.Writable {
			how = "read and written"
		}
		if f.Deleted {
			how = "deleted while open"
		} else if f.Moved {
			how = "moved away"
		}
		fields = append(fields, ui.Field{Label: "file", Text: ui.Line{{Text: tilde(f.Path, s.app.opts.Home)}, {Text: "  " + how, Role: theme.Faint}}})
	}
	return fields
}

// processFields tell of a process: what, since when, for whom.
func (s *holders) processFields(p locks.Process) []ui.Field {
	fields := []ui.Field{{Label: "process", Text: ui.Plain(fmt.Sprintf("%d %s", p.PID, command(p)))}}
	if p.Role != "" && p.Role != locks.RoleOther {
		fields = append(fields, ui.Field{Label: "is", Text: ui.Plain(string(p.Role))})
	}
	if !p.Started.IsZero() {
		fields = append(fields, ui.Field{Label: "started", Text: ui.Plain(clockTime(p.Started, s.app.opts.Now()))})
	}
	if len(p.Parents) > 0 {
		var chain []string
		for _, a := range p.Parents {
			chain = append(chain, fmt.Sprintf("%s (%d)", a.Name, a.PID))
		}
		fields = append(fields, ui.Field{Label: "started by", Text: ui.Plain(strings.Join(chain, " < "))})
	}
	if p.RSS > 0 {
		fields = append(fields, ui.Field{Label: "memory", Text: ui.Plain(humanize.Bytes(uint64(p.RSS)))})
	}
	return fields
}

// laneLabel is what a pane's margins and labels take, in cells.
const laneLabel = 16

// clockTime is a moment and how long ago it was.
func clockTime(t, now time.Time) string {
	layout := "15:04:05"
	if now.Sub(t) >= 20*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return t.Format(layout) + ", " + ago(t, now)
}

func (s *holders) copies() []copyable {
	row := s.current()
	if row == nil {
		return nil
	}
	out := []copyable{{"p", "path of the palace", row.r.path()}}
	var p *locks.Process
	if row.opener != nil {
		p = &row.opener.Process
	} else if h := row.view.Lock.Holder; h != nil && h.PID != 0 {
		p = &h.Process
	}
	if p != nil {
		out = append(out, copyable{"i", "process id", fmt.Sprint(p.PID)}, copyable{"c", "command", command(*p)})
	}
	if l := row.view.Lock.Path; l != "" {
		out = append(out, copyable{"l", "lock file", l})
	}
	return append(out, copyable{"t", "this as text", fieldsText(s.tellHolder())})
}

var _ tea.Model = (*App)(nil)
