package views

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
)

// View draws the screen on top and the dialogs over it.
func (a *App) View() string {
	if a.leaving {
		return ""
	}
	s := a.top()
	f := a.frame(s)
	if f.Class == ui.Unsized || f.Class == ui.TooSmall {
		return ui.Compose(a.th, f, ui.Parts{})
	}
	p := s.draw(f)
	p.Title = ui.TitleLine(a.th, a.crumbs(), a.badges(s), f.W)
	p.Toast = a.toasts.View(a.th, f.W)
	p.Help = s.keys().Footer(a.th, f.W)
	if f.Status.Empty() && s.input() != nil {
		p.Help = p.Status // the one line there is
	}
	return a.overlay.View(ui.Compose(a.th, f, p))
}

// crumbs are the screens that lead here. Where a screen of one palace was opened
// from that of all, the palace's name stands between.
func (a *App) crumbs() []string {
	if len(a.stack) == 1 {
		return []string{a.stack[0].crumb()}
	}
	top := a.top()
	if r := top.palace(); r != nil && a.class() == ui.Small {
		// There is room for one element only: which palace, and what of it.
		name := filepath.Base(r.path())
		if _, ok := top.(*overview); !ok {
			name += " " + a.th.Glyphs.Crumb + " " + top.crumb()
		}
		return []string{name}
	}
	crumbs := []string{"palaces"}
	var in *reading
	for _, s := range a.stack[1:] {
		if r := s.palace(); r != nil && r != in {
			in = r
			if _, ok := s.(*overview); !ok {
				crumbs = append(crumbs, a.path(r))
			}
		}
		crumbs = append(crumbs, s.crumb())
	}
	return crumbs
}

// badges are at the right of the title: what is always worth knowing.
func (a *App) badges(s screen) ui.Line {
	line := s.badge()
	if a.opts.ReadOnly {
		line = a.join(ui.In(theme.Warning, "READ-ONLY"), line)
	}
	return a.join(a.runningBadge(s), line)
}

// join puts two badges beside each other.
func (a *App) join(left, right ui.Line) ui.Line {
	if len(left) == 0 || len(right) == 0 {
		return append(left, right...)
	}
	return append(append(left, ui.Span{Text: " " + a.th.Glyphs.Separator + " "}), right...)
}

// readingID is what the spinner runs under.
const readingID = "reading"

// loading keeps the spinner going exactly while something that has no figures
// yet is being read: a refresh of what is there shows nothing.
func (a *App) loading() tea.Cmd {
	if a.waits() {
		return a.timer(a.busy.Begin(readingID))
	}
	a.busy.End(readingID)
	return nil
}

func (a *App) waits() bool {
	if !a.house.discovered && a.house.trouble == nil {
		return true
	}
	for _, r := range a.house.palaces {
		if a.concerns(r) && (r.report == nil || !r.fullAsked.IsZero() || r.late(a.opts.Now()) >= slowPalace) {
			return true
		}
	}
	if s, ok := a.top().(interface{ waits() bool }); ok {
		return s.waits()
	}
	return false
}

// concerns tells whether the screen on top is about a palace.
func (a *App) concerns(r *reading) bool {
	p := a.top().palace()
	return p == nil || p == r
}

// freshness is how old the figures on the screen are. While all is well it
// stands still: what changes every second cannot be read by a screen reader, and
// makes the terminal draw for nothing.
func (a *App) freshness() ui.Line {
	var facts []string
	role := theme.Faint
	if spin := a.busy.View(a.th, readingID); spin != "" {
		// The spinner comes painted; a Line paints by itself.
		facts = append(facts, a.spinnerGlyph())
	}
	now := a.opts.Now()
	late, oldest, doing := 0, now, "reading"
	for _, r := range a.house.palaces {
		if a.concerns(r) && !r.fullAsked.IsZero() {
			doing = "checking " + filepath.Base(r.path())
		}
		if a.concerns(r) && r.late(now) >= slowPalace {
			late++
			if !r.at.IsZero() && r.at.Before(oldest) {
				oldest = r.at
			}
		}
	}
	switch {
	case late > 0 && oldest.Before(now):
		role = theme.Warning
		facts = append(facts, "no answer, figures of "+oldest.Format("15:04:05"))
	case late > 0:
		role = theme.Warning
		facts = append(facts, "no answer yet")
	case len(facts) > 0:
		facts = append(facts, doing)
	default:
		facts = append(facts, "live")
	}
	return ui.In(role, strings.Join(facts, " "))
}

// spinnerGlyph is the spinner without its colour.
func (a *App) spinnerGlyph() string {
	plain := theme.Theme{Glyphs: a.th.Glyphs}
	return a.busy.View(plain, readingID)
}

// say shows a message over the help line.
func (a *App) say(s theme.Severity, msg string) tea.Cmd { return a.timer(a.toasts.Show(s, msg)) }
