package views

import (
	"context"
	"runtime"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui"
)

// App is the root model: the stack of screens, the dialogs over them, and the
// way of every message.
type App struct {
	opts  Options
	th    theme.Theme
	work  *work
	house *house

	w, h    int
	stack   []screen
	overlay *ui.Overlay
	toasts  *ui.Toasts
	log     *ui.Log
	busy    *ui.Busy
	clip    *ui.Clipboard

	runs     *runs
	mates    map[action.ID]mate // of runs that other programs have logged
	beats    int
	paused   bool   // somebody else has the terminal
	said     string // the message on the screen when the last key was pressed
	starting string // the palace to open once palaces are known
	leaving  bool
}

// logLines is how many messages of a session are kept.
const logLines = 500

// newApp makes the model. ctx ends its loads.
func newApp(ctx context.Context, o Options) *App {
	a := &App{opts: o, th: o.Theme, work: newWork(ctx), starting: o.Start}
	a.house = &house{core: o.Core, work: a.work, now: o.Now}
	a.runs, a.mates = newRuns(), map[action.ID]mate{}
	a.overlay = ui.NewOverlay(o.Theme, o.Now)
	a.log = ui.NewLog(logLines, o.Now)
	a.toasts = ui.NewToasts(a.log)
	a.busy = ui.NewBusy(o.Now)
	a.clip = ui.NewClipboard(o.Out, o.Getenv)
	a.stack = []screen{newPalaces(a)}
	return a
}

// Init asks for the first answers.
func (a *App) Init() tea.Cmd { return tea.Batch(a.refresh(), a.loading(), a.beat()) }

// after sends a message in a while. Unlike tea.Tick it does not outlive the
// program.
func (a *App) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return a.timer(a.work.do(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}))
}

// timer lets every timer of the program pass.
func (a *App) timer(cmd tea.Cmd) tea.Cmd {
	if a.opts.still {
		return nil
	}
	return cmd
}

// top is the screen one sees.
func (a *App) top() screen { return a.stack[len(a.stack)-1] }

// Update takes a message to where it belongs: the size and the terminal, then
// what is read, then keys.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := a.take(msg)
	a.relayout() // what is on a screen decides how it is divided
	return a, cmd
}

func (a *App) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		a.overlay.SetSize(a.w, a.h)
		a.relayout()
		return a.settle()
	case tea.ResumeMsg:
		a.paused = false
		return tea.Batch(tea.ClearScreen, a.refreshAll())
	case resumedMsg:
		return a.resumed(msg)
	case refreshMsg:
		cmds := []tea.Cmd{a.refresh(), a.loading(), a.beat()}
		if a.house.silent() {
			cmds = append(cmds, a.settle()) // how long it has been silent is shown
		}
		return tea.Batch(cmds...)
	case ui.TickMsg:
		return a.timer(a.busy.Tick())
	case ui.ToastExpiredMsg:
		a.toasts.Expire(msg)
		return nil
	case ui.CopiedMsg:
		return a.copied(msg)
	case discoveredMsg, reportMsg, surveyMsg:
		return a.answered(msg)
	case addedMsg:
		return a.added(msg)
	case editMsg:
		return a.edit(msg)
	case startedMsg:
		return a.begun(msg)
	case runMsg:
		return a.heard(msg)
	case historyMsg:
		for _, r := range msg.list {
			a.mates[r.ID] = r.mate
		}
	case parkedNowMsg:
		return a.parkedNow(msg)
	case quitMsg:
		return a.leaveNow()
	case tea.KeyMsg:
		return a.key(msg)
	}
	var cmds []tea.Cmd
	for _, s := range a.stack {
		cmds = append(cmds, s.update(msg))
	}
	return tea.Batch(append(cmds, a.loading())...)
}

// answered takes what was read of the palaces.
func (a *App) answered(msg tea.Msg) tea.Cmd {
	changed := a.house.update(msg)
	var cmds []tea.Cmd
	if _, ok := msg.(discoveredMsg); ok {
		for _, r := range a.house.palaces {
			if r.report == nil {
				cmds = append(cmds, a.house.ask(r))
			}
		}
		cmds = append(cmds, a.openStart())
	}
	cmds = append(cmds, a.house.askDue())
	if changed {
		for _, s := range a.stack {
			cmds = append(cmds, s.sync())
		}
	}
	return tea.Batch(append(cmds, a.loading())...)
}

// openStart opens the palace that was named at the start.
func (a *App) openStart() tea.Cmd {
	if a.starting == "" || !a.house.discovered {
		return nil
	}
	r := a.house.find(a.starting)
	a.starting = ""
	if first := a.house.palaces; r == nil && len(first) > 0 && first[0].found.Source == palace.SourceFlag {
		r = first[0] // it was named another way, by a relative path perhaps
	}
	if r == nil {
		return nil
	}
	return a.push(newOverview(a, r))
}

// settle lets screens load what has come into sight.
func (a *App) settle() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range a.stack {
		cmds = append(cmds, s.sync())
	}
	return tea.Batch(cmds...)
}

// key: the keys that work everywhere, then the topmost dialog, then the focused
// input, then the commands of the screen.
func (a *App) key(msg tea.KeyMsg) tea.Cmd {
	if ui.Through(msg) {
		return a.outcome(a.top().keys().Key(msg))
	}
	a.said = a.toasts.Current() // the key takes an error away; y can still copy it
	a.toasts.KeyPressed()
	return a.overlay.Dispatch(msg, func() bool { return a.top().input() != nil }, a.screenKey)
}

// screenKey takes what no dialog took.
func (a *App) screenKey(msg tea.KeyMsg) tea.Cmd {
	if a.leaving || a.runs.stopping {
		return nil
	}
	s := a.top()
	if in := s.input(); in != nil {
		return s.typed(in.Key(msg))
	}
	return a.outcome(s.keys().Key(msg))
}

// outcome tells why a command did not run.
func (a *App) outcome(o ui.Outcome) tea.Cmd {
	if o.Reason != "" {
		return a.say(theme.Note, o.Reason)
	}
	return o.Cmd
}

// push puts a screen on top.
func (a *App) push(s screen) tea.Cmd {
	a.stack = append(a.stack, s)
	a.relayout()
	return tea.Batch(s.sync(), s.start(), a.loading())
}

// pop takes the topmost screen away; the first one stays.
func (a *App) pop() tea.Cmd {
	if len(a.stack) < 2 {
		return nil
	}
	left := a.top()
	left.close()
	a.stack = a.stack[:len(a.stack)-1]
	if g, ok := left.(*guide); ok && g.stage == going {
		return a.say(theme.Note, "It goes on, and its end is told. The tasks (t) show it.")
	}
	if g, ok := a.top().(*guide); ok {
		return g.reload() // what was in its way may be gone
	}
	return nil
}

// leave is q: back, and quit from the first screen.
func (a *App) leave() tea.Cmd {
	if len(a.stack) == 1 {
		return a.quit()
	}
	return a.pop()
}

// retreat is esc: the innermost thing, then back. It never quits.
func (a *App) retreat() tea.Cmd {
	if cmd, ok := a.top().retreat(); ok {
		return cmd
	}
	return a.pop()
}

func (a *App) suspend() tea.Cmd {
	if runtime.GOOS == "windows" {
		return a.say(theme.Note, "Windows cannot suspend a program.") // and nobody would resume us
	}
	if len(a.runs.active()) > 0 {
		return a.say(theme.Warn, "Not suspended: what is running would stand still, with its palace locked.")
	}
	a.paused = true
	return tea.Suspend
}

// resumed is what follows when a child gave the terminal back.
func (a *App) resumed(msg resumedMsg) tea.Cmd {
	a.paused = false
	cmds := []tea.Cmd{a.refreshAll()}
	if msg.err != nil {
		cmds = append(cmds, a.say(theme.Fail, msg.err.Error()))
	}
	return tea.Batch(cmds...)
}

// relayout divides the screen anew.
func (a *App) relayout() {
	for _, s := range a.stack {
		s.resize(a.frame(s))
	}
}

func (a *App) frame(s screen) ui.Frame {
	class := ui.Layout(a.w, a.h, ui.Wants{}).Class
	return ui.Layout(a.w, a.h, s.wants(class))
}
