package views

import (
	"fmt"
	"strings"

	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui"
)

// tell writes the text anew.
func (g *guide) tell() {
	switch {
	case g.stage == looking:
		g.pager.SetFields([]ui.Field{{Text: ui.In(theme.Faint, "Looking what there is to do. Nothing is changed by that.")}})
	case g.stage == over && !g.reading:
		g.pager.SetFields(g.app.resultFields(g.told))
	default:
		g.pager.SetFields(g.app.planFields(g.plan, g.err))
	}
}

func (g *guide) resize(f ui.Frame) {
	g.frame = f
	g.pager.SetSize(f.List.W-2, f.List.H)
	if g.told != nil {
		g.told.log.SetSize(f.List.H - len(g.head(f.List.W)))
	}
}

func (g *guide) draw(f ui.Frame) ui.Parts {
	p := ui.Parts{Status: g.status(f.W)}
	switch {
	case f.List.Empty():
	case g.stage == going && !g.reading:
		rows := append(g.head(f.List.W), strings.Split(g.told.log.View(g.app.th, max(f.List.W-2, 0)), "\n")...)
		p.List = indent(strings.Join(rows, "\n"), 1)
	default:
		p.List = indent(g.pager.View(), 1)
	}
	return p
}

// head is what stands over the log of a run: what it is, what it does, how far it
// is. In a small window the blank lines go.
func (g *guide) head(w int) []string {
	th, now := g.app.th, g.app.opts.Now()
	w = max(w-2, 0)
	rows := []string{ui.In(theme.Title, homely(g.told.title, g.app.opts.Home)).Fit(th, w)}
	small := g.frame.Class == ui.Small
	if !small {
		rows = append(rows, "")
	}
	rows = append(rows, g.told.doing(now).Fit(th, w))
	if g.told.phase().N > 0 {
		rows = append(rows, g.progress(w))
		rows = append(rows, g.told.steps(th).Fit(th, w))
	}
	if !small {
		rows = append(rows, ui.Rule(th, w))
	}
	return rows
}

// status says where one is.
func (g *guide) status(w int) string {
	var left ui.Line
	switch g.stage {
	case planned:
		left = ui.In(theme.Faint, "Nothing has been done yet.")
	case starting:
		left = ui.In(theme.Faint, "Being started.")
	case going:
		left = ui.In(theme.Faint, "Leaving this screen does not end it.")
	case over:
		if g.told.state.Over() {
			left = ui.In(theme.Faint, "It is over.")
		}
	}
	if pos := g.pager.Position(); pos != "" && (g.stage != going || g.reading) {
		left = ui.In(theme.Faint, pos)
	}
	return ui.StatusLine(g.app.th, left, g.app.freshness(), w)
}

// progress is how far the phase is; only its age while it has not said.
func (g *guide) progress(w int) string {
	th, t, now := g.app.th, g.told, g.app.opts.Now()
	if p := t.phase(); t.count == (action.Progress{}) {
		line := ui.Line{{Text: fmt.Sprintf("%d/%d %s", p.N, p.Of, p.Name), Role: theme.Title}, {Text: "  " + ui.Duration(now.Sub(t.began)), Role: theme.Faint}}
		return line.Fit(th, w)
	}
	// The line brings its own margin.
	return strings.TrimPrefix(t.progress.View(th, g.app.busy.View(th, string(t.id)), w+1, now), " ")
}
