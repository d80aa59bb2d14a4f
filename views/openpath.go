package views

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
)

// askPath asks for the path of a palace that is not in the list.
func (a *App) askPath() {
	in := ui.NewInput("> ", "/path/to/a/palace")
	in.Focus()
	a.overlay.Open(&pathDialog{input: in, then: a.add})
}

// add makes a palace known and opens it.
func (a *App) add(path string) tea.Cmd {
	return a.work.do(func(ctx context.Context) tea.Msg {
		f, err := a.opts.Core.Add(ctx, path)
		return addedMsg{path, f, err}
	})
}

func (a *App) added(m addedMsg) tea.Cmd {
	if m.err != nil {
		return a.say(theme.Fail, sentence(m.err.Error()))
	}
	a.starting = m.found.Ref.Path
	return tea.Batch(a.house.discoverAgain(), a.loading()) // answered opens it
}

// pathDialog is one line to type a path into.
type pathDialog struct {
	input *ui.Input
	then  func(string) tea.Cmd
	th    theme.Theme
	w     int
}

func (d *pathDialog) Title() string { return "Open the palace at" }

func (d *pathDialog) Hints() [][2]string { return [][2]string{{"enter", "open"}, {"esc", "back"}} }

func (d *pathDialog) Resize(th theme.Theme, w, _ int) { d.th, d.w = th, w }

func (d *pathDialog) Body() []string { return []string{d.input.View(d.th, d.w)} }

func (d *pathDialog) Key(msg tea.KeyMsg) ui.Action {
	switch d.input.Key(msg) {
	case ui.InputCancel:
		return ui.Action{Close: true}
	case ui.InputSubmit:
		path := strings.TrimSpace(d.input.Value())
		if path == "" {
			return ui.Action{}
		}
		return ui.Action{Close: true, Accepted: true, Cmd: d.then(path)}
	}
	return ui.Action{}
}
