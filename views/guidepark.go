package views

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
)

// askPark keeps the action for later, asking as hard as for doing it now.
func (g *guide) askPark() tea.Cmd {
	act, park := g.act, g.job.park
	consequences := append([]ui.Field{ui.Para("It is kept as one waiting write or more, and made when the palace is free: by w in its overview, or before the next write. It changes then what it would change now, and nothing that comes in between."), ui.Blank()}, agreement(g.plan)...)
	return g.ask(&ui.Confirm{Consequences: consequences, Verb: "Keep for later", Then: func() tea.Cmd {
		return g.app.work.do(func(ctx context.Context) tea.Msg {
			n, err := park(ctx, act)
			return parkedNowMsg{n, err}
		})
	}})
}

// parkedNowMsg says what became of an action that was to be kept for later.
type parkedNowMsg struct {
	n   int
	err error
}

func (a *App) parkedNow(m parkedNowMsg) tea.Cmd {
	if m.err != nil {
		return a.say(theme.Fail, "Not kept: "+m.err.Error())
	}
	cmds := []tea.Cmd{a.say(theme.Good, "Kept: "+plural(int64(m.n), "write waits", "writes wait")+" for the palace; w in its overview makes them.")}
	for _, s := range a.stack {
		if o, ok := s.(*overview); ok {
			cmds = append(cmds, o.readParked())
		}
	}
	return tea.Batch(cmds...)
}
