package views

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"castellan/palace/action"
	"castellan/palace/change"
)

// guide leads through a job line by line: the plan, the question, what is said on
// the way, the result.
func (p *plain) guide(j job) error {
	p.say("")
	var m plannedMsg
	done := question(p, func(ctx context.Context) (plannedMsg, error) {
		act, err := j.make(ctx)
		if err != nil {
			return plannedMsg{}, err
		}
		plan, err := act.Plan(ctx)
		return plannedMsg{act: act, plan: plan}, err
	}, func(got plannedMsg, err error) { m, m.err = got, err })
	if !done {
		p.say("No answer yet. Try again.")
		return errAsk
	}
	p.tell(p.app.planFields(m.plan, m.err))
	if m.err != nil || m.plan.Refusal != nil || m.act == nil {
		return errAsk
	}
	yes, err := p.agree(j, m.plan)
	if err != nil {
		return err
	}
	if !yes {
		p.say("Nothing was done.")
		return errAsk
	}
	run, err := p.app.opts.Core.Runner().Start(p.app.work.ctx, m.act, m.plan)
	if err != nil {
		p.tell(refusalFields("Not now", err))
		return errAsk
	}
	return p.follow(run)
}

// agree asks as hard as the plan's risk calls for.
func (p *plain) agree(j job, plan action.Plan) (bool, error) {
	switch plan.Risk {
	case action.RiskReversible:
		answer, err := p.ask(j.verb + "? y for yes, anything else for no:")
		return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"), err
	case action.RiskDestructive:
		answer, err := p.ask(fmt.Sprintf("Type %s to %s, anything else goes back:", plan.TypedName, strings.ToLower(j.verb)))
		return answer == plan.TypedName, err
	}
	return true, nil
}

// progressEvery is how often mere progress is said.
const progressEvery = 5 * time.Second

// follow says what a run says until it is over. x asks it to stop.
func (p *plain) follow(run *action.Run) error {
	a := p.app
	s := run.Snapshot()
	t := newTold(action.Record{ID: s.ID, Title: s.Plan.Title, Palace: s.Subject.Palace, Plan: s.Plan, State: action.StatePlanned, Started: s.Started}, toldLines)
	a.runs.list = append(a.runs.list, t)
	p.say("Started. x and enter asks it to stop.")
	events := make(chan []action.Event)
	go func() {
		defer close(events)
		for sub := run.Subscribe(); ; {
			batch, err := sub.Next(a.work.ctx)
			if err != nil {
				return
			}
			select {
			case events <- batch:
			case <-a.work.ctx.Done():
				return
			}
		}
	}()
	lines, ended, said := p.lines, error(nil), a.opts.Now()
	for open := true; open; {
		var batch []action.Event
		select {
		case batch, open = <-events:
		case line, more := <-lines:
			switch {
			case !more:
				lines, ended = nil, errQuit // nobody is there to say more
			case strings.TrimSpace(line) == "x":
				run.Cancel()
			default:
				p.say("%s x and enter asks it to stop.", sentence(words(t.doing(a.opts.Now()))))
			}
		}
		for _, e := range batch {
			t.take(e)
			said = p.event(t, e, said)
		}
	}
	next := a.finished(t)
	p.say("")
	p.tell(a.resultFields(t)[1:])
	p.load(next)
	return ended
}

// event says one event, and when progress was said last.
func (p *plain) event(t *told, e action.Event, said time.Time) time.Time {
	switch d := e.Detail.(type) {
	case action.Phase:
		p.say("Step %d of %d: %s.", d.N, d.Of, d.Name)
	case action.Log:
		p.say("%s: %s", logSeverity(d.Level).Word(), d.Text)
	case action.Finding:
		p.say("Found: %s", findingText(d.Value))
	case action.Changed, action.Waiting:
		p.say("%s", sentence(words(t.doing(p.app.opts.Now()))))
	case action.Progress:
		now := p.app.opts.Now()
		if now.Sub(said) < progressEvery {
			return said
		}
		p.say("%s", sentence(strings.TrimSpace(t.share()+" "+d.Unit)))
		return now
	}
	return said
}

// tasks reads the tasks out.
func (p *plain) tasks() error {
	core := p.app.opts.Core
	if core.Runner() == nil {
		p.say("No tasks: this program only looks.")
		return errAsk
	}
	for {
		var list []task
		var failed error
		if !question(p, func(ctx context.Context) ([]task, error) { return tasksOf(ctx, core, core.Runner()) },
			func(got []task, err error) { list, failed = got, err }) {
			p.say("No answer yet. r reads again.")
		}
		p.say("")
		if failed != nil {
			p.say("The logs could not all be read: %s", sentence(failed.Error()))
		}
		p.say("%s, newest first.", plural(int64(len(list)), "task", "tasks"))
		var choices []choice
		for _, r := range list {
			p.app.mates[r.ID] = r.mate
			t := newTold(r.Record, 1)
			choices = append(choices, choice{fmt.Sprintf("%s: %s, started %s", homely(t.title, p.app.opts.Home), p.app.stateWord(t), ago(t.started, p.app.opts.Now())),
				func() error { return p.task(r) }})
		}
		if err := p.menu(choices, extra{"r", "read again", func(string) error { return nil }}); err != nil {
			return err
		}
	}
}

// task reads one task out, with all it said.
func (p *plain) task(r task) error {
	runner := p.app.opts.Core.Runner()
	question(p, func(ctx context.Context) (action.Transcript, error) { return runner.Transcript(ctx, r.ID) },
		func(x action.Transcript, err error) {
			p.say("")
			if err != nil {
				p.say("Its log could not be read: %s", sentence(err.Error()))
				return
			}
			p.tell(p.app.resultFields(toldOf(x)))
		})
	return errAsk
}

// closeExtras are the letters by which a palace is closed, as far as that makes
// sense now.
func (p *plain) closeExtras(r *reading) []extra {
	a := p.app
	if a.noClose(r) != "" {
		return nil
	}
	with := func(how Closing) func(string) error {
		return func(string) error { return p.guide(a.closing(r, how)) }
	}
	out := []extra{{"c", "ask its holder to let go", with(Closing{})}, {"C", "pause automatic saves, then ask", with(Closing{PauseHooks: true})}}
	if a.noKill(r) == "" {
		out = append(out, extra{"K", "end its holder by force", with(Closing{Kill: true})})
	}
	return out
}

// changeExtras are the letters that change a palace as a whole.
func (p *plain) changeExtras(r *reading) []extra {
	if p.app.noChange(r) != "" {
		return nil
	}
	var out []extra
	if p.app.noRepair(r) == "" {
		out = append(out, extra{"R", "repair it", func(string) error { return p.guide(p.app.repairing(r, Mending{})) }})
	}
	return append(out, extra{"u", "undo the last change", func(string) error { return p.guide(p.app.undoing(r)) }},
		extra{"w", "make the writes that wait", func(string) error { return p.guide(p.app.draining(r)) }})
}

// deleteExtras are the letters that delete a drawer of a list, and the wing that
// the list is of.
func (p *plain) deleteExtras(r *reading, collection string, sel selection, ids []string) []extra {
	a := p.app
	if a.noChange(r) != "" {
		return nil
	}
	var out []extra
	if len(ids) > 0 {
		out = append(out, extra{"d", "delete: d NUMBER", func(rest string) error {
			n, err := strconv.Atoi(rest)
			if err != nil || n < 1 || n > len(ids) {
				p.say("Write the number of a drawer behind the letter: d 1")
				return errAsk
			}
			return p.guide(a.deleting(r, collection, change.Selection{IDs: []string{ids[n-1]}}))
		}})
	}
	if sel.wing != nil {
		out = append(out, extra{"D", "delete the whole wing", func(string) error {
			return p.guide(a.deleting(r, collection, change.Selection{Wing: sel.wing}))
		}})
	}
	return out
}

// resumeExtras is the letter that puts automatic saves back.
func (p *plain) resumeExtras() []extra {
	if p.app.noAct() != "" {
		return nil
	}
	return []extra{{"s", "resume MemPalace's automatic saves", func(string) error { return p.guide(p.app.resuming()) }}}
}
