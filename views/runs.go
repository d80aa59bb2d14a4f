package views

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/theme"
	"castellan/ui"
)

// runs brings what the runs of this program say into Update, whatever screen is
// up. Each run has one load that waits for its next events; work owns it, and
// waits for it at the end.
type runs struct {
	list []*told // in the order of their start
	subs map[action.ID]*action.Subscription
	live map[action.ID]*action.Run
	// unclosed are the palaces whose holder was asked to let go, and has not.
	unclosed map[string]bool
	// asking is the open question whether to stop runs and quit.
	asking *ui.Confirm
	// stopping says that the program ends as soon as the runs have.
	stopping bool
}

func newRuns() *runs {
	return &runs{subs: map[action.ID]*action.Subscription{}, live: map[action.ID]*action.Run{}, unclosed: map[string]bool{}}
}

// Messages of the runs.
type (
	startedMsg struct {
		by  *guide
		gen int
		run *action.Run
		err error
	}
	runMsg struct {
		id     action.ID
		events []action.Event
		end    bool // there is no more to come
	}
	// quitMsg ends the program that has waited long enough for its runs.
	quitMsg struct{}
)

// active are the runs that go on.
func (r *runs) active() []*told {
	var out []*told
	for _, t := range r.list {
		if !t.over() {
			out = append(out, t)
		}
	}
	return out
}

// find is a run of this program, nil if it is none.
func (r *runs) find(id action.ID) *told {
	for _, t := range r.list {
		if t.id == id {
			return t
		}
	}
	return nil
}

// cancel asks a run to stop.
func (r *runs) cancel(t *told) {
	if run := r.live[t.id]; run != nil {
		run.Cancel()
	}
}

// adopt listens to a run that was just started.
func (a *App) adopt(run *action.Run) (*told, tea.Cmd) {
	s := run.Snapshot()
	t := newTold(action.Record{ID: s.ID, Title: s.Plan.Title, Palace: s.Subject.Palace, Plan: s.Plan, State: action.StatePlanned, Started: s.Started}, toldLines)
	a.runs.list = append(a.runs.list, t)
	a.runs.subs[s.ID], a.runs.live[s.ID] = run.Subscribe(), run
	return t, tea.Batch(a.listen(s.ID), a.timer(a.busy.Begin(string(s.ID))))
}

// listen waits for the next events of a run.
func (a *App) listen(id action.ID) tea.Cmd {
	sub := a.runs.subs[id]
	return a.timer(a.work.do(func(ctx context.Context) tea.Msg {
		events, err := sub.Next(ctx)
		if ctx.Err() != nil && len(events) == 0 {
			return nil // the program ends
		}
		return runMsg{id, events, err != nil}
	}))
}

// heard takes over what a run said.
func (a *App) heard(m runMsg) tea.Cmd {
	t := a.runs.find(m.id)
	if t == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, e := range m.events {
		t.take(e)
		if _, over := e.Detail.(action.Finished); over {
			cmds = append(cmds, a.finished(t))
		}
	}
	if m.end {
		delete(a.runs.subs, m.id)
		delete(a.runs.live, m.id)
	} else {
		cmds = append(cmds, a.listen(m.id))
	}
	for _, s := range a.stack {
		cmds = append(cmds, s.update(m))
	}
	return tea.Batch(cmds...)
}

// finished is what follows when a run is over: it is told where it is not seen,
// and what it changed is read again.
func (a *App) finished(t *told) tea.Cmd {
	a.busy.End(string(t.id))
	cmds := []tea.Cmd{a.house.lookAgain()}
	if o, ok := t.result.Detail.(*closing.Outcome); ok {
		a.runs.unclosed[t.palace] = len(o.Remaining) > 0
	}
	if r := a.house.find(t.palace); r != nil {
		cmds = append(cmds, a.house.askAgain(r))
	}
	if g, ok := a.top().(*guide); !ok || g.told != t {
		sev, how := t.verdict()
		cmds = append(cmds, a.say(sev, homely(how, a.opts.Home)))
	}
	if a.runs.stopping && len(a.runs.active()) == 0 {
		cmds = append(cmds, a.leaveNow())
	}
	return tea.Batch(cmds...)
}

// verdict is how a run ended, for a line.
func (t *told) verdict() (theme.Severity, string) {
	switch {
	case t.state == action.StateDone:
		return theme.Good, t.title + ": " + t.result.Summary
	case t.state == action.StateCancelled:
		return theme.Note, t.title + ": cancelled"
	case t.state == action.StateUnfinished:
		return theme.Warn, t.title + ": its log has no end"
	}
	return theme.Fail, t.title + ": " + t.whyNot()
}

// quit ends the program. While something goes on it asks first; pressed again it
// stops what goes on and quits; and once more it does not wait for that.
func (a *App) quit() tea.Cmd {
	active := a.runs.active()
	switch {
	case len(active) == 0 || a.runs.stopping:
		return a.leaveNow()
	case a.runs.asking != nil && a.overlay.Top() == ui.Dialog(a.runs.asking):
		a.overlay.Close()
		return a.stopAndQuit()
	}
	c := &ui.Confirm{Level: ui.YesNo, Question: "Stop " + plural(int64(len(active)), "task", "tasks") + " and quit", Verb: "Stop and quit", Then: a.stopAndQuit}
	for _, t := range active {
		c.Consequences = append(c.Consequences, ui.Field{Text: ui.Line{{Text: homely(t.title, a.opts.Home) + ": "}, {Text: words(t.doing(a.opts.Now()))}}})
		if p := t.phase(); p.N > 0 && !p.CanStop {
			c.Consequences = append(c.Consequences, ui.Para("It cannot be left in the middle of "+p.Name+", and ends after that."))
		}
	}
	c.Consequences = append(c.Consequences, ui.Blank(), ui.Para("The program quits when it has ended. ctrl+c once more does the same as yes."))
	a.runs.asking = c
	a.overlay.Open(c)
	return nil
}

// stopPatience is how long the program waits for runs that were asked to stop.
// Whoever started it waits once more for what they hold.
const stopPatience = 10 * time.Second

func (a *App) stopAndQuit() tea.Cmd {
	active := a.runs.active()
	if len(active) == 0 {
		return a.leaveNow()
	}
	a.runs.stopping = true
	for _, t := range active {
		a.runs.cancel(t)
	}
	return tea.Batch(a.after(stopPatience, quitMsg{}),
		a.say(theme.Warn, "Stopping "+plural(int64(len(active)), "task", "tasks")+", then quitting. ctrl+c does not wait."))
}

func (a *App) leaveNow() tea.Cmd {
	a.leaving = true
	return tea.Quit
}

// runningBadge stands in the title while something goes on that the screen does
// not show.
func (a *App) runningBadge(s screen) ui.Line {
	n := 0
	if _, all := s.(*tasks); all {
		return nil // it says so itself
	}
	for _, t := range a.runs.active() {
		if g, ok := s.(*guide); !ok || g.told != t {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return ui.In(theme.Accent, fmt.Sprintf("%s running", plural(int64(n), "task", "tasks")))
}
