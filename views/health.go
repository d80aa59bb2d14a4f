package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// findings is the health of one palace: what is wrong, how do you know, what
// now?
type findings struct {
	list
	r     *reading
	shown []shownFinding
	// part, if set, is the part of the palace that they are about.
	part string
}

// shownFinding is a finding, and whether only the full check has it.
type shownFinding struct {
	id string
	health.Finding
	deep bool
}

func newFindings(a *App, r *reading) *findings {
	s := &findings{r: r, list: newList(a, "finding", "findings",
		ui.Column{Title: "SEVERITY", Priority: 9, Sort: ui.SortNumber},
		ui.Column{Title: "FINDING", Priority: 10, Flex: true, Min: 22, Sort: ui.SortText},
		ui.Column{Title: "CODE", Priority: 3, Max: 26, Wide: true},
		ui.Column{Title: "ABOUT", Priority: 5, Min: 10, Max: 28, Cut: text.CutMiddle},
	)}
	s.about = s.tellFinding
	s.age = s.depth
	s.registry = a.register(append([]ui.Command{
		{ID: "finding.read", Title: "Cause, evidence and remedy of the finding", Short: "read", Keys: []string{"enter", "l", "right"}, Group: groupScreen, Disabled: s.none, Run: s.read},
		{ID: "finding.repair", Title: "Repair what the finding under the cursor is about: the plan comes first", Short: "repair", Keys: []string{"R"}, Group: groupActs, Dangerous: true, Disabled: s.noCure, Run: s.repair},
		{ID: "health.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: a.retreat},
		a.backupsCommand(func() *reading { return s.r }),
	}, a.doctorCommands(func() *reading { return s.r })...), s.listKeys(false))
	return s
}

func (s *findings) crumb() string {
	switch s.part {
	case "":
		return "findings"
	case palacePart:
		return "about the palace"
	}
	return "about " + s.part
}

func (s *findings) palace() *reading { return s.r }
func (s *findings) badge() ui.Line   { return s.app.palaceBadge(s.r) }

func (s *findings) none() string {
	if s.table.ID() == "" {
		return "there is no finding"
	}
	return ""
}

// current is the finding under the cursor.
func (s *findings) current() *shownFinding {
	for i := range s.shown {
		if s.shown[i].id == s.table.ID() {
			return &s.shown[i]
		}
	}
	return nil
}

func (s *findings) noCure() string {
	f := s.current()
	if f == nil {
		return s.none()
	}
	_, why := s.app.cure(s.r, f.Finding)
	return why
}

func (s *findings) repair() tea.Cmd {
	how, _ := s.app.cure(s.r, s.current().Finding)
	return s.app.openGuide(s.app.repairing(s.r, how))
}

func (s *findings) sync() tea.Cmd {
	if r := s.app.house.find(s.r.path()); r != nil {
		s.r = r
	}
	s.fill()
	s.tell()
	return nil
}

// fill lists what the quick look sees now, and what only the full check has
// seen.
func (s *findings) fill() {
	s.table.Empty = s.emptyWords()
	if s.r.report == nil {
		return
	}
	s.shown = merge(s.r.report, s.r.full)
	if s.part != "" {
		s.shown = slices.DeleteFunc(s.shown, func(f shownFinding) bool { return partOf(s.r.report, f.Finding) != s.part })
	}
	rows := make([]ui.Row, len(s.shown))
	for i, f := range s.shown {
		sev := severity(f.Severity)
		word := s.app.th.Mark(sev) + " " + sev.Word()
		rows[i] = ui.Row{ID: f.id, Cells: []ui.Cell{
			{Text: word, Role: sev.Role(), Num: float64(sev)},
			{Text: sentence(f.Cause)},
			{Text: string(f.Code), Role: theme.Faint},
			{Text: tilde(f.Subject, s.app.opts.Home), Role: theme.Faint},
		}}
	}
	s.table.SetRows(rows)
}

// merge puts the findings of a full check behind those of the newer, quick look
// that does not have them, the worst first.
func merge(quick, full *health.Report) []shownFinding {
	var out []shownFinding
	seen := map[string]int{}
	id := func(f health.Finding) string {
		// One subject can have one code twice; a number keeps rows apart.
		key := string(f.Code) + "\x00" + f.Subject
		seen[key]++
		return fmt.Sprintf("%s\x00%d", key, seen[key])
	}
	for _, f := range quick.Findings {
		out = append(out, shownFinding{id(f), f, false})
	}
	if full != nil {
		had := seen
		seen = map[string]int{}
		for _, f := range full.Findings {
			key := id(f)
			if had[string(f.Code)+"\x00"+f.Subject] == 0 && !live(f.Code) {
				out = append(out, shownFinding{key, f, true})
			}
		}
	}
	slices.SortStableFunc(out, func(x, y shownFinding) int {
		return int(severity(y.Severity)) - int(severity(x.Severity))
	})
	return out
}

// live findings are about processes, which come and go: of those only the newer
// look is right.
func live(c health.Code) bool {
	return slices.Contains([]health.Code{
		health.LockHeld, health.LockLastHolderDead, health.HolderIdle, health.HolderStuck, health.HolderOrphan,
		health.SeveralWriters, health.DatabaseMovedWhileOpen, health.PalaceMovedWhileOpen, health.LockKeyDiffers,
	}, c)
}

func (s *findings) emptyWords() string {
	switch {
	case s.r.report == nil:
		return s.app.silence(s.r)
	case s.r.full == nil:
		return "Nothing to report after a quick look. Press d to check everything."
	}
	return "Nothing to report, and everything was checked."
}

// tellFinding is the pane: the finding under the cursor, or why there is none.
func (s *findings) tellFinding() []ui.Field {
	if f := s.current(); f != nil {
		from := ""
		if f.deep {
			from = "from the full check " + ago(s.r.fullAt, s.app.opts.Now())
		}
		return s.app.findingFields(f.Finding, from, s.app.cureFields(s.r, f.Finding)...)
	}
	if s.r.report != nil && s.r.report.Error != nil {
		return trouble(s.app.th, s.r.report.Error)
	}
	return nil
}

// depth tells how thoroughly was looked, and how long the full check takes.
func (s *findings) depth() ui.Line { return s.app.depth(s.r) }

func (a *App) depth(r *reading) ui.Line {
	now := a.opts.Now()
	switch {
	case !r.fullAsked.IsZero():
		return ui.In(theme.Accent, a.spinnerGlyph()+" "+checking(r, now))
	case r.full != nil && r.full.Error != nil:
		return ui.In(theme.Warning, "the full check failed: "+r.full.Error.Message)
	case r.full != nil:
		return ui.In(theme.Faint, "everything checked "+ago(r.fullAt, now)+growthWords(r.full.Growth))
	case r.report == nil || r.late(now) >= slowPalace:
		return a.freshness()
	}
	return ui.In(theme.Faint, "quick look, live")
}

func (s *findings) copies() []copyable {
	var out []copyable
	if f := s.current(); f != nil {
		out = append(out, copyable{"c", "code", string(f.Code)}, copyable{"t", "finding as text", fieldsText(s.app.findingFields(f.Finding, ""))})
		if b, err := json.MarshalIndent(f.Finding, "", "  "); err == nil {
			out = append(out, copyable{"j", "finding as JSON", string(b)})
		}
	}
	return append(append(out, copyable{"p", "path", s.r.path()}), s.app.reportCopies(s.r)...)
}

// doctorCommands begin and stop the full check of a palace.
func (a *App) doctorCommands(of func() *reading) []ui.Command {
	running := func() string {
		if !of().fullAsked.IsZero() {
			return "it is running"
		}
		return ""
	}
	idle := func() string {
		if of().fullAsked.IsZero() {
			return "none is running"
		}
		return ""
	}
	return []ui.Command{
		{ID: "health.doctor", Title: "Check everything: the doctor reads the whole palace", Short: "full check", Keys: []string{"d"}, Group: groupScreen, Disabled: running, Run: func() tea.Cmd {
			return tea.Batch(a.house.askDoctor(of()), a.loading())
		}},
		{ID: "health.stop", Title: "Stop the full check", Short: "stop check", Keys: []string{"x"}, Group: groupScreen, Disabled: idle, Run: func() tea.Cmd {
			a.house.stopDoctor(of())
			return tea.Batch(a.say(theme.Note, "The full check was stopped."), a.loading())
		}},
	}
}

// checking tells how far the full check is.
func checking(r *reading, now time.Time) string {
	s := "checking everything, " + span(now.Sub(r.fullAsked))
	if r.fullDone == nil {
		return s
	}
	if p := r.fullDone.Load(); p != nil {
		s = fmt.Sprintf("checking %.0f %%", 100*p.Share())
		if p.Doing != "" {
			s += ", " + p.Doing
		}
		s += ", " + span(now.Sub(r.fullAsked))
	}
	return s
}

// growthWords tells how the palace has grown since the full check before.
func growthWords(g *health.Growth) string {
	if g == nil || g.Bytes.Before == g.Bytes.Now {
		return ""
	}
	since, _, _ := strings.Cut(g.Since, "T")
	return "; " + signedBytes(g.Bytes.Now-g.Bytes.Before) + " since " + since
}

func signedBytes(n int64) string {
	switch {
	case n < 0:
		return "-" + humanize.Bytes(uint64(-n))
	case n == 0:
		return "0 B"
	}
	return "+" + humanize.Bytes(uint64(n))
}
