package views

import (
	"context"
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
)

// mate is what is known of the process whose run has no end in its log.
type mate uint8

const (
	mateUnknown mate = iota
	mateThere        // it goes on there
	mateGone         // nobody is left to end it
)

// Messages of the tasks.
type (
	historyMsg struct {
		to   *tasks
		gen  int
		list []task
		err  error
	}
	transcriptMsg struct {
		to   *guide
		gen  int
		what action.Transcript
		err  error
	}
)

// reload reads what is known of all runs.
func (s *tasks) reload() tea.Cmd {
	core := s.app.opts.Core
	runner := core.Runner()
	if runner == nil {
		return nil
	}
	s.gen++
	s.asked = true
	gen := s.gen
	return s.app.work.do(func(ctx context.Context) tea.Msg {
		list, err := tasksOf(ctx, core, runner)
		return historyMsg{s, gen, list, err}
	})
}

func tasksOf(ctx context.Context, core Core, runner *action.Runner) ([]task, error) {
	records, err := runner.History(ctx)
	list := make([]task, 0, len(records))
	for _, r := range records {
		list = append(list, task{r, mateOf(core, r)})
	}
	return list, err
}

// mateOf looks for the process of a run without an end. A process of that number
// that is younger than the run is another one.
func mateOf(core Core, r action.Record) mate {
	if r.State != action.StateUnfinished || r.PID == 0 {
		return mateUnknown
	}
	p, there := core.Process(r.PID)
	switch {
	case !there || r.PID == os.Getpid():
		return mateGone
	case p.Started.IsZero():
		return mateUnknown
	case p.Started.After(r.Started):
		return mateGone
	}
	return mateThere
}

// unfinished says what it means that a log has no end.
func (a *App) unfinished(t *told) string {
	switch a.mates[t.id] {
	case mateThere:
		return "It goes on in another castellan, and can be cancelled there."
	case mateGone:
		return "Its log has no end and its process is gone: it was killed, or the machine went down. What it had done by then is in the log below; look at the palace's findings before doing it again."
	}
	return "Its log has no end. Whether its process still runs cannot be told from here."
}

// readLog reads what a run of the history said.
func (g *guide) readLog() tea.Cmd {
	g.gen++
	gen, id, runner := g.gen, g.told.id, g.app.opts.Core.Runner()
	return g.app.work.do(func(ctx context.Context) tea.Msg {
		t, err := runner.Transcript(ctx, id)
		return transcriptMsg{g, gen, t, err}
	})
}

// transcribed takes a log over.
func (g *guide) transcribed(m transcriptMsg) {
	if m.gen != g.gen {
		return
	}
	if m.err != nil {
		g.told.short = sentence(m.err.Error())
		g.tell()
		return
	}
	g.told = toldOf(m.what)
	g.plan = g.told.plan
	g.enter(over)
}

// toldOf is a run as its log tells it. A log without an end leaves it unfinished,
// whatever it did last.
func toldOf(x action.Transcript) *told {
	t := newTold(x.Record, toldLines)
	for _, e := range x.Events {
		t.take(e)
	}
	t.state = x.State
	switch {
	case x.Skipped > 0:
		t.short = fmt.Sprintf("the first %s bytes of it are not shown", comma(x.Skipped))
	case x.Damaged:
		t.short = "its beginning cannot be read"
	case x.Unread > 0:
		t.short = plural(int64(x.Unread), "line of it makes", "lines of it make") + " no sense"
	}
	return t
}
