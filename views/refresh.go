package views

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// refreshPace is how often the palaces are looked at. An unchanged palace costs
// a few stats.
const refreshPace = 2 * time.Second

// discoverEvery is in how many refreshes palaces are looked for once.
const discoverEvery = 5

// refreshMsg is one beat.
type refreshMsg struct{}

// resumedMsg says that the terminal is ours again after a child had it.
type resumedMsg struct{ err error }

func (a *App) beat() tea.Cmd {
	return a.after(refreshPace, refreshMsg{})
}

// refresh asks for whatever may have changed. Each palace is a question of its
// own; one that has not been answered yet is not asked again.
func (a *App) refresh() tea.Cmd {
	if a.paused {
		return nil
	}
	var cmds []tea.Cmd
	if a.beats%discoverEvery == 0 || !a.house.discovered {
		cmds = append(cmds, a.house.discover())
	}
	a.beats++
	cmds = append(cmds, a.house.askDue()) // those that had no room before come first
	for _, r := range a.house.palaces {
		cmds = append(cmds, a.house.ask(r))
	}
	if a.wantsSurvey() || a.beats%discoverEvery == 0 && a.house.contended() {
		cmds = append(cmds, a.house.look())
	}
	if a.beats%discoverEvery == 0 { // other programs have tasks and waiting writes too
		switch s := a.top().(type) {
		case *tasks:
			cmds = append(cmds, s.reload())
		case *overview:
			cmds = append(cmds, s.readParked())
		}
	}
	return tea.Batch(cmds...)
}

// refreshAll asks for everything anew, also for what has not answered yet.
func (a *App) refreshAll() tea.Cmd {
	cmds := []tea.Cmd{a.house.discover(), a.house.look()}
	for _, r := range a.house.palaces {
		cmds = append(cmds, a.house.askAgain(r))
	}
	return tea.Batch(append(cmds, a.top().reload())...)
}

// refreshOne asks for what the screen shows.
func (a *App) refreshOne() tea.Cmd {
	r := a.top().palace()
	if r == nil {
		return a.refreshAll()
	}
	cmds := []tea.Cmd{a.house.askAgain(r), a.top().reload()}
	if a.wantsSurvey() {
		cmds = append(cmds, a.house.look())
	}
	return tea.Batch(cmds...)
}

// wantsSurvey tells whether any screen shows who uses the palaces. Looking
// through all processes is not free.
func (a *App) wantsSurvey() bool {
	for _, s := range a.stack {
		if _, ok := s.(*holders); ok {
			return true
		}
	}
	return false
}
