package views

import (
	"context"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/ui"
)

// closeCommands are those that make a holder let go of the palace that of gives;
// it may be nil.
func (a *App) closeCommands(of func() *reading) []ui.Command {
	why := func() string { return a.noClose(of()) }
	return []ui.Command{
		{ID: "close.ask", Title: "Ask whoever has the palace to let go", Short: "close", Keys: []string{"c"}, Group: groupActs, Disabled: why,
			Run: func() tea.Cmd { return a.openClose(of(), Closing{}) }},
		{ID: "close.pause", Title: "Pause MemPalace's automatic saves, then ask it to let go", Keys: []string{"C"}, Group: groupActs, Dangerous: true, Disabled: why,
			Run: func() tea.Cmd { return a.openClose(of(), Closing{PauseHooks: true}) }},
		{ID: "close.kill", Title: "End by force whoever was asked and has not let go", Keys: []string{"K"}, Group: groupActs, Dangerous: true,
			Disabled: func() string { return a.noKill(of()) }, Run: func() tea.Cmd { return a.openClose(of(), Closing{Kill: true}) }},
		{ID: "close.resume", Title: "Resume MemPalace's automatic saves as they were before a pause", Group: groupActs, Disabled: a.noAct, Run: a.openResume},
	}
}

// groupActs is the help's heading of what changes something.
const groupActs = "Doing something"

// noAct says why nothing can be done; "" if it can.
func (a *App) noAct() string {
	switch {
	case a.opts.ReadOnly:
		return "not in read-only mode"
	case a.opts.Core.Runner() == nil:
		return "this program only looks"
	}
	return ""
}

// noActOn is noAct for one palace.
func (a *App) noActOn(r *reading) string {
	switch {
	case a.noAct() != "":
		return a.noAct()
	case r == nil:
		return "there is no palace here"
	case !filepath.IsAbs(r.path()):
		return "it is behind a server, which keeps its writers apart by itself"
	}
	return ""
}

func (a *App) noClose(r *reading) string {
	if why := a.noActOn(r); why != "" {
		return why
	}
	// The processes are looked at less often than the lock.
	if s := a.house.survey; s != nil {
		view := s.Palace(r.path())
		if view.Lock.State == locks.Held || len(writers(view)) > 0 {
			return ""
		}
	}
	switch {
	case r.report == nil:
		return "the palace is still being read"
	case r.report.Lock.State == "held":
		return ""
	}
	return "nobody holds it"
}

// noKill: force comes only after asking.
func (a *App) noKill(r *reading) string {
	if why := a.noClose(r); why != "" {
		return why
	}
	if !a.runs.unclosed[r.path()] {
		return "ask first (c): force comes only after that was in vain"
	}
	return ""
}

// openClose leads through closing a palace.
func (a *App) openClose(r *reading, how Closing) tea.Cmd { return a.openGuide(a.closing(r, how)) }

func (a *App) closing(r *reading, how Closing) job {
	found := r.found
	j := job{title: "close", verb: "Close", about: r, make: func(ctx context.Context) (action.Action, error) {
		return a.opts.Core.Closing(ctx, found, how)
	}}
	if how.Kill {
		j.title, j.verb = "end by force", "Kill"
		return j
	}
	j.offers = []offer{{
		command: ui.Command{ID: "guide.kill", Title: "End by force whoever has not let go", Short: "kill", Keys: []string{"K"}, Dangerous: true, Run: func() tea.Cmd {
			return tea.Batch(a.pop(), a.openClose(r, Closing{Kill: true}))
		}},
		when: func(t *told) bool { return a.runs.unclosed[t.palace] },
	}}
	if !how.PauseHooks {
		j.offers = append(j.offers, offer{
			command: ui.Command{ID: "guide.pause", Title: "Pause MemPalace's automatic saves, and close once more", Short: "pause saves", Keys: []string{"C"}, Dangerous: true, Run: func() tea.Cmd {
				return tea.Batch(a.pop(), a.openClose(r, Closing{PauseHooks: true}))
			}},
			when: cameBack,
		})
	}
	return j
}

// openResume leads through putting MemPalace's automatic saves back.
func (a *App) openResume() tea.Cmd { return a.openGuide(a.resuming()) }

func (a *App) resuming() job {
	return job{title: "resume automatic saves", verb: "Resume", make: a.opts.Core.Resuming}
}

// writers are those who have files of a palace open for writing.
func writers(v locks.PalaceView) []locks.Opener {
	var out []locks.Opener
	for _, o := range v.Openers {
		if o.Writer {
			out = append(out, o)
			continue
		}
		for _, f := range o.Files {
			if f.Writable {
				out = append(out, o)
				break
			}
		}
	}
	return out
}
