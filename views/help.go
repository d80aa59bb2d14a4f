package views

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui"
)

// openHelp shows every key of this screen, from the same records that the keys
// come from.
func (a *App) openHelp() {
	fields := []ui.Field{ui.Para(purpose(a.top())), ui.Blank()}
	fields = append(fields, a.top().keys().Help()...)
	fields = append(fields, ui.Blank(), ui.Para(strings.TrimSpace("castellan "+a.opts.Version)+". Looking changes nothing: no byte of a palace, no lock. What changes something shows its plan first, and asks."))
	a.overlay.Open(ui.NewFieldReader("Help: "+a.top().crumb(), fields))
}

// purpose is the question that a screen answers.
func purpose(s screen) string {
	switch s.(type) {
	case *palaces:
		return "All palaces: is all well, and where not?"
	case *overview:
		return "One palace: what is in it, and how is it?"
	case *rooms:
		return "The rooms of a wing: where is what filed?"
	case *drawers:
		return "Drawers: what do I remember about it? The filter looks into the texts as you type; lower-case letters also find words that begin with a capital."
	case *holders:
		return "Holders: who has it, who wants it, may I take it?"
	case *guide:
		return "One task: what exactly will happen, is it happening, did it work?"
	case *findings:
		return "Findings: what is wrong, how do we know, what now?"
	}
	return "Tasks: what has been done, what is still going?"
}

func (a *App) openPalette() { a.overlay.Open(ui.NewPalette(a.top().keys())) }

// openMessages shows what was said over the help line.
func (a *App) openMessages() {
	lines := a.log.String()
	if lines == "" {
		lines = "No messages yet."
	}
	r := ui.NewReader("Messages of this session", lines)
	r.Copy = func() tea.Cmd { return a.clip.Copy("the messages", lines) }
	a.overlay.Open(r)
}
