package views

import (
	"context"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"

	"castellan/palace/repair"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// backups is the copies beside a palace: what can I go back to?
type backups struct {
	list
	r   *reading
	gen int
	// asked says that an answer is under way, verifying that it reads every copy.
	asked, verifying bool
	known            []repair.Backup // of the last answer
	answered         bool            // there was one
	err              error
}

type backupsMsg struct {
	to   *backups
	gen  int
	list []repair.Backup
	err  error
}

func newBackups(a *App, r *reading) *backups {
	s := &backups{r: r, list: newList(a, "copy", "copies",
		ui.Column{Title: "TAKEN", Priority: 9, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "SIZE", Priority: 7, Align: text.Right, Sort: ui.SortNumber},
		ui.Column{Title: "VERIFIED", Priority: 8, Max: 14},
		ui.Column{Title: "WHY", Priority: 10, Flex: true, Min: 10},
		ui.Column{Title: "NAME", Priority: 2, Max: 50, Cut: text.CutStart, Wide: true},
	)}
	s.about = s.tellBackup
	s.registry = a.register([]ui.Command{
		{ID: "backup.read", Title: "All about the copy", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.read},
		{ID: "backup.restore", Title: "Restore the copy under the cursor: the plan comes first", Short: "restore", Keys: []string{"R"}, Group: groupActs, Dangerous: true, Disabled: s.noRestore, Run: s.restore},
		{ID: "backup.verify", Title: "Verify: read every copy, and ask SQLite about its database", Short: "verify", Keys: []string{"v"}, Group: groupScreen,
			Disabled: func() string {
				if s.verifying {
					return "it is being done"
				}
				return s.none()
			}, Run: func() tea.Cmd { return s.load(true) }},
		{ID: "backup.take", Title: "Take a copy of the palace now, and repair nothing", Short: "copy now", Keys: []string{"B"}, Group: groupActs, Dangerous: true,
			Disabled: func() string { return a.noChange(s.r) }, Run: func() tea.Cmd { return a.openGuide(a.repairing(s.r, Mending{BackupOnly: true})) }},
		{ID: "backup.undo", Title: "Undo the last change: put back what it removed or replaced", Keys: []string{"u"}, Group: groupActs,
			Disabled: func() string { return a.noChange(s.r) }, Run: func() tea.Cmd { return a.openGuide(a.undoing(s.r)) }},
		{ID: "backups.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
	}, s.listKeys(false))
	s.fill()
	return s
}

// backupsCommand opens the copies of the palace that of gives; it may be nil.
func (a *App) backupsCommand(of func() *reading) ui.Command {
	return ui.Command{ID: "palace.backups", Title: "Copies of the palace that repairs took: list them, restore one", Keys: []string{"b"}, Group: groupScreen,
		Disabled: func() string { return a.noBackups(of()) }, Run: func() tea.Cmd { return a.push(newBackups(a, of())) }}
}

// noBackups says why there can be no copies of a palace.
func (a *App) noBackups(r *reading) string {
	if r == nil {
		return "there is no palace here yet"
	}
	if !filepath.IsAbs(r.path()) {
		return "it is behind a server, whose copies are not beside it"
	}
	return ""
}

func (s *backups) crumb() string    { return "copies" }
func (s *backups) palace() *reading { return s.r }
func (s *backups) badge() ui.Line   { return s.app.palaceBadge(s.r) }
func (s *backups) waits() bool      { return s.asked && (s.verifying || !s.answered) }
func (s *backups) start() tea.Cmd   { return s.load(false) }
func (s *backups) reload() tea.Cmd  { return s.load(false) }
func (s *backups) close()           { s.gen++ }

// load lists the copies; to verify them takes as long as reading them.
func (s *backups) load(verify bool) tea.Cmd {
	s.gen++
	s.asked, s.verifying = true, verify
	s.fill()
	gen, core, found := s.gen, s.app.opts.Core, s.r.found
	return tea.Batch(s.app.work.do(func(ctx context.Context) tea.Msg {
		list, err := core.Backups(ctx, found, verify)
		return backupsMsg{s, gen, list, err}
	}), s.app.loading())
}

func (s *backups) update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case backupsMsg:
		if m.to != s || m.gen != s.gen {
			return nil
		}
		s.asked, s.verifying, s.err = false, false, m.err
		if m.err == nil {
			s.known, s.answered = m.list, true
		}
		s.fill()
	case runMsg:
		if m.end {
			return s.load(false) // it may have taken a copy
		}
	}
	return nil
}

func (s *backups) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	s.fill()
	return nil
}

func (s *backups) fill() {
	switch {
	case s.err != nil:
		s.table.Empty = "The copies could not be listed: " + s.err.Error() + ". r tries again."
	case !s.answered:
		s.table.Empty = "Looking for copies."
	default:
		s.table.Empty = "No copies of this palace yet. Every repair takes one first; B takes one now."
	}
	now := s.app.opts.Now()
	var rows []ui.Row
	for _, b := range s.known {
		taken := ui.NoNumber(unread)
		if !b.TakenAt.IsZero() {
			taken = ui.Number(ago(b.TakenAt, now), -now.Sub(b.TakenAt).Seconds())
		}
		word, sev := verifiedWord(b)
		rows = append(rows, ui.Row{ID: b.Path, Cells: []ui.Cell{
			taken, ui.Number(humanize.Bytes(uint64(max(b.Bytes, 0))), float64(b.Bytes)), {Text: word, Role: sev.Role()},
			{Text: b.Reason}, {Text: filepath.Base(b.Path), Role: theme.Faint},
		}})
	}
	s.table.SetRows(rows)
	s.tell()
}

// verifiedWord says what is known of a copy's soundness.
func verifiedWord(b repair.Backup) (string, theme.Severity) {
	switch {
	case b.Verified == nil:
		return "when taken", theme.Note
	case *b.Verified:
		return "now", theme.Good
	case b.TakenAt.IsZero():
		return "cut short", theme.Warn
	}
	return "damaged", theme.Fail
}

func (s *backups) current() *repair.Backup {
	for i := range s.known {
		if s.known[i].Path == s.table.ID() {
			return &s.known[i]
		}
	}
	return nil
}

func (s *backups) none() string {
	if s.current() == nil {
		return "there is no copy here"
	}
	return ""
}

func (s *backups) noRestore() string {
	if why := s.app.noChange(s.r); why != "" {
		return why
	}
	return noRestore(s.current())
}

// noRestore says why a copy cannot be restored.
func noRestore(b *repair.Backup) string {
	switch {
	case b == nil:
		return "there is no copy here"
	case b.Verified != nil && !*b.Verified:
		return "it is not whole: " + b.Reason
	}
	return ""
}

func (s *backups) restore() tea.Cmd { return s.app.openGuide(s.app.restoring(s.r, s.current().Path)) }

// tellBackup is the pane: the copy under the cursor.
func (s *backups) tellBackup() []ui.Field {
	b := s.current()
	if b == nil {
		return nil
	}
	f := s.app.backupFields(*b)
	if s.noRestore() == "" {
		f = append(f, ui.Field{Label: "restore", Text: ui.Line{{Text: "R", Role: theme.Key}, {Text: " makes the palace what this copy says. What is there now is copied first, so u takes it back."}}})
	}
	return f
}

// backupFields are a copy in full.
func (a *App) backupFields(b repair.Backup) []ui.Field {
	word, sev := verifiedWord(b)
	how := "It was, when it was taken; v reads it again."
	switch word {
	case "now":
		how = "Every file is what was copied, and SQLite finds the database sound."
	case "cut short":
		how = "The copying was cut short: it is no whole copy."
	case "damaged":
		how = "It is not what was copied any more."
	}
	f := []ui.Field{{Text: ui.In(theme.Title, filepath.Base(b.Path))}, {Text: ui.Plain(sentence(b.Reason))}, ui.Blank()}
	if !b.TakenAt.IsZero() {
		f = append(f, ui.Field{Label: "taken", Text: ui.Plain(clockTime(b.TakenAt.In(a.opts.Now().Location()), a.opts.Now()))})
	}
	f = append(f, ui.Field{Label: "takes", Text: ui.Plain(humanize.Bytes(uint64(max(b.Bytes, 0))) + " of disk")},
		ui.Field{Label: "verified", Text: ui.Line{badge(a.th, sev), {Text: " " + how}}},
		ui.Field{Label: "of", Text: ui.Plain(tilde(b.Palace, a.opts.Home))},
		ui.Field{Label: "path", Text: ui.Plain(tilde(b.Path, a.opts.Home))})
	return f
}

func (s *backups) copies() []copyable {
	if b := s.current(); b != nil {
		return []copyable{{"p", "path", b.Path}, {"t", "this as text", fieldsText(s.app.backupFields(*b))}}
	}
	return nil
}
