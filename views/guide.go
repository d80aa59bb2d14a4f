package views

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
	"castellan/palace/change"
	"castellan/theme"
	"castellan/ui"
)

// job is something to be done with a guide: what will happen, is it happening, did
// it work?
type job struct {
	// title is the element of the breadcrumb, verb the word on the button.
	title, verb string
	// about is the palace it is done to; nil if it is none that is listed.
	about *reading
	// make gives the action; it may read, and gets the program's context.
	make func(context.Context) (action.Action, error)
	// park keeps the action for later, where somebody holds the palace, and gives
	// how many writes wait then; nil: it cannot be kept.
	park func(context.Context, action.Action) (int, error)
	// offers are what may be done next, once it is over.
	offers []offer
}

// offer is a further step: a command of the guide that is there when it makes
// sense.
type offer struct {
	command ui.Command
	when    func(*told) bool
}

// guide leads through one action: its plan, the question, the run, the result.
type guide struct {
	app *App
	job job
	r   *reading

	stage   stageOf
	gen     int // of the look
	act     action.Action
	plan    action.Plan
	err     error // why there is no plan, or why it could not be started
	told    *told
	reading bool // the plan is shown while there is a run

	pager    *ui.Pager
	registry *ui.Registry
	frame    ui.Frame
}

// stageOf is how far a guide is.
type stageOf uint8

const (
	looking  stageOf = iota // the plan is being made
	planned                 // there is a plan, or a reason why there is none
	starting                // agreed to
	going                   // there is a run
	over                    // there was
)

type plannedMsg struct {
	to   *guide
	gen  int
	act  action.Action
	plan action.Plan
	err  error
}

// openGuide leads through a job.
func (a *App) openGuide(j job) tea.Cmd { return a.push(newGuide(a, j)) }

func newGuide(a *App, j job) *guide {
	g := &guide{app: a, job: j, r: j.about, pager: ui.NewPager(a.th)}
	g.enter(looking)
	return g
}

// guideOf shows a run that was started before, by this program or another.
func (a *App) guideOf(t *told) *guide {
	g := &guide{app: a, job: job{title: "task"}, r: a.house.find(t.palace), told: t, plan: t.plan, pager: ui.NewPager(a.th)}
	if t.over() {
		g.enter(over)
	} else {
		g.enter(going)
	}
	return g
}

// enter goes to a stage; each has its own commands.
func (g *guide) enter(s stageOf) {
	g.stage = s
	g.registry = g.app.register(g.commands())
	g.pager.Home()
	g.tell()
}

func (g *guide) commands() []ui.Command {
	var out []ui.Command
	add := func(c ui.Command) {
		c.Group = groupScreen
		out = append(out, c)
	}
	switch g.stage {
	case looking, planned, starting:
		add(ui.Command{ID: "guide.start", Title: g.job.verb + ": start what the plan says", Short: strings.ToLower(g.job.verb), Keys: []string{"enter"}, Disabled: g.notReady, Run: g.confirm})
		if r := g.plan.Refusal; r != nil && r.Kind == change.LockHeld && g.r != nil {
			add(ui.Command{ID: "guide.close", Title: "Ask whoever has the palace to let go", Short: "close its holder", Keys: []string{"c"},
				Disabled: func() string { return g.app.noClose(g.r) }, Run: func() tea.Cmd { return g.app.openClose(g.r, Closing{}) }})
			if g.job.park != nil {
				add(ui.Command{ID: "guide.park", Title: "Keep it for later: it is made when the palace is free", Short: "keep for later", Keys: []string{"P"}, Dangerous: true, Run: g.askPark})
			}
		}
	case going:
		add(ui.Command{ID: "guide.cancel", Title: "Cancel: ask the task to stop", Short: "cancel", Keys: []string{"x"}, Disabled: g.notCancellable, Run: always(g.askCancel)})
	case over:
		add(ui.Command{ID: "guide.done", Title: "Back to where this was begun", Short: "back", Keys: []string{"enter"}, Run: g.leave})
		for _, o := range g.job.offers {
			if o.when == nil || o.when(g.told) {
				add(o.command)
			}
		}
	}
	if g.told != nil {
		add(ui.Command{ID: "guide.plan", Title: "The plan and back", Short: "plan", Keys: []string{"tab", "shift+tab"}, Run: g.swap})
	}
	scroll := func(id, title string, f func(), keys ...string) {
		out = append(out, ui.Command{ID: id, Title: title, Keys: keys, Group: groupText, Hidden: true, Run: always(f)})
	}
	scroll("text.down", "Down", func() { g.scroll(1) }, "down", "j")
	scroll("text.up", "Up", func() { g.scroll(-1) }, "up", "k")
	scroll("text.page-down", "A page down", func() { g.scroll(max(g.frame.List.H-1, 1)) }, "pgdown", "space", "ctrl+d")
	scroll("text.page-up", "A page up", func() { g.scroll(-max(g.frame.List.H-1, 1)) }, "pgup", "ctrl+u")
	scroll("text.top", "To the top", func() { g.scroll(-1 << 20) }, "home", "g")
	scroll("text.end", "To the end", func() { g.scroll(1 << 20) }, "end", "G")
	return append(out, ui.Command{ID: "guide.left", Title: "Back", Keys: []string{"h", "left"}, Group: groupScreen, Hidden: true, Run: g.leave})
}

// scroll moves the text, or while a run is shown its log.
func (g *guide) scroll(n int) {
	if g.stage == going && !g.reading {
		g.told.log.Scroll(n)
		return
	}
	g.pager.Scroll(n)
}

func (g *guide) swap() tea.Cmd {
	g.reading = !g.reading
	g.pager.Home()
	g.tell()
	return nil
}

func (g *guide) leave() tea.Cmd { return g.app.pop() }

// notReady says why there is nothing to start.
func (g *guide) notReady() string {
	switch {
	case g.stage == looking:
		return "it is still being looked at"
	case g.stage == starting:
		return "it is being started"
	case g.act == nil:
		return "there is no plan"
	case g.plan.Refusal != nil:
		return g.plan.Refusal.Reason
	}
	return ""
}

func (g *guide) notCancellable() string {
	switch {
	case g.told.state == action.StateCancelling:
		return "it is being cancelled"
	case g.app.runs.live[g.told.id] == nil:
		return "it goes on in another process; end it there"
	}
	return ""
}

// start makes the plan; reload makes it anew as long as nothing was started.
func (g *guide) start() tea.Cmd {
	if g.told != nil {
		return nil
	}
	g.enter(looking)
	g.gen++
	gen, build := g.gen, g.job.make
	return g.app.work.do(func(ctx context.Context) tea.Msg {
		act, err := build(ctx)
		if err != nil {
			return plannedMsg{to: g, gen: gen, err: err}
		}
		plan, err := act.Plan(ctx)
		return plannedMsg{g, gen, act, plan, err}
	})
}

func (g *guide) reload() tea.Cmd {
	if g.stage == planned {
		return g.start()
	}
	return nil
}

func (g *guide) waits() bool { return g.stage == looking || g.stage == starting }

// confirm asks as hard as the plan's risk calls for. What opens here follows a
// key that was meant for the plan, so the next one may be too: it has a moment's
// grace.
func (g *guide) confirm() tea.Cmd {
	return g.ask(&ui.Confirm{Consequences: agreement(g.plan), Verb: g.job.verb, Then: g.begin})
}

func (g *guide) ask(c *ui.Confirm) tea.Cmd {
	c.Question = homely(g.plan.Title, g.app.opts.Home)
	homelyFields(c.Consequences, g.app.opts.Home)
	switch g.plan.Risk {
	case action.RiskReversible:
		c.Level = ui.YesNo
	case action.RiskDestructive:
		c.Level, c.Name = ui.TypeName, g.plan.TypedName
	default:
		return c.Then()
	}
	g.app.overlay.OpenUnasked(c)
	return nil
}

// begin starts the run.
func (g *guide) begin() tea.Cmd {
	runner, act, plan, gen := g.app.opts.Core.Runner(), g.act, g.plan, g.gen
	g.enter(starting)
	// The run's own context: it ends with the program, and not with this load.
	program := g.app.work.ctx
	return g.app.work.do(func(context.Context) tea.Msg {
		run, err := runner.Start(program, act, plan)
		return startedMsg{g, gen, run, err}
	})
}

// begun listens to a run that was started, or tells why none was.
func (a *App) begun(m startedMsg) tea.Cmd {
	if m.err != nil {
		if m.gen == m.by.gen {
			m.by.err = m.err
			m.by.enter(planned)
		}
		return nil
	}
	t, cmd := a.adopt(m.run)
	m.by.told = t
	m.by.enter(going)
	return cmd
}

func (g *guide) askCancel() {
	t := g.told
	c := &ui.Confirm{Level: ui.YesNo, Question: "Cancel: " + homely(t.title, g.app.opts.Home), Verb: "Cancel it", Then: func() tea.Cmd {
		g.app.runs.cancel(t)
		return nil
	}}
	if p := t.phase(); p.N > 0 && !p.CanStop {
		c.Consequences = append(c.Consequences, ui.Para("It is in the middle of "+p.Name+", which cannot be left half-way. It stops after that."))
	} else {
		c.Consequences = append(c.Consequences, ui.Para("It stops as soon as it can. What it has done by then is told."))
	}
	g.app.overlay.Open(c)
}

func (g *guide) update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case plannedMsg:
		if m.to != g || m.gen != g.gen {
			return nil
		}
		g.act, g.plan, g.err = m.act, m.plan, m.err
		g.enter(planned)
	case transcriptMsg:
		if m.to == g {
			g.transcribed(m)
		}
	case runMsg:
		if g.told == nil || m.id != g.told.id {
			return nil
		}
		if g.told.over() && g.stage == going {
			g.enter(over)
			g.reading = false
		}
		g.tell()
	}
	return nil
}

// sync takes the palace over as it is now.
func (g *guide) sync() tea.Cmd {
	if g.r != nil {
		if r := g.app.house.find(g.r.path()); r != nil {
			g.r = r
		}
	}
	return nil
}

// retreat shows the run again; leaving it does not end it.
func (g *guide) retreat() (tea.Cmd, bool) {
	if g.reading {
		return g.swap(), true
	}
	return nil, false
}

// close gives a plan up that is still being made.
func (g *guide) close() { g.gen++ }

func (g *guide) crumb() string {
	if g.job.title == "task" && g.told != nil && g.r == nil {
		return filepath.Base(g.told.palace)
	}
	return g.job.title
}

func (g *guide) palace() *reading            { return g.r }
func (g *guide) input() *ui.Input            { return nil }
func (g *guide) typed(ui.InputEvent) tea.Cmd { return nil }
func (g *guide) keys() *ui.Registry          { return g.registry }
func (g *guide) wants(ui.Class) ui.Wants     { return ui.Wants{} }

func (g *guide) badge() ui.Line {
	switch {
	case g.told != nil:
		return ui.In(stateRole(g.told.state), string(g.told.state))
	case g.stage == planned && (g.err != nil || g.plan.Refusal != nil):
		return ui.In(theme.Warning, "not possible now")
	}
	return ui.In(theme.Faint, "nothing done yet")
}

func (g *guide) copies() []copyable {
	var out []copyable
	if g.stage != looking {
		out = append(out, copyable{"p", "plan", fieldsText(g.app.planFields(g.plan, g.err))})
	}
	if g.told != nil {
		out = append(out, copyable{"l", "log", g.told.log.String()}, copyable{"r", "all of it", fieldsText(g.app.resultFields(g.told))},
			copyable{"i", "id of the task", string(g.told.id)})
		if d := jsonText(g.told.result.Detail); d != "" {
			out = append(out, copyable{"j", "result as JSON", d})
		}
	}
	return out
}

// refusedAs is the refusal that an error is, nil if it is none.
func refusedAs(err error) *action.RefusedError {
	var r *action.RefusedError
	if errors.As(err, &r) {
		return r
	}
	return nil
}
