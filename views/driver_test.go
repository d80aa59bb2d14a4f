package views

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

// driver runs an App by hand: every command is carried out at once, one after
// the other, and time stands still until it is moved.
type driver struct {
	t     testing.TB
	app   *App
	now   time.Time
	clip  strings.Builder // what was written to the terminal beside frames
	quits int
	// blocked and pending are of commands whose question hangs.
	blocked <-chan struct{}
	pending []chan tea.Msg
}

// newDriver starts an App on core, at a size.
func newDriver(t testing.TB, core Core, th theme.Theme, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t, now: noon}
	o := Options{Core: core, Theme: th, Home: fakeHome, Version: "1.0", In: strings.NewReader(""), Out: &d.clip,
		Now: func() time.Time { return d.now }, Getenv: func(string) string { return "" }, still: true}
	for _, f := range change {
		f(&o)
	}
	if s, ok := core.(*stage); ok {
		d.blocked = s.blocked
	}
	ctx, stop := context.WithCancel(context.Background())
	d.app = newApp(ctx, o.resolve())
	t.Cleanup(func() {
		stop()
		if !d.app.work.end(10 * time.Second) {
			t.Error("a load did not end")
		}
	})
	d.run(d.app.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// send gives the App a message, and carries out what follows from it.
func (d *driver) send(msg tea.Msg) {
	_, cmd := d.app.Update(msg)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	answer := make(chan tea.Msg, 1)
	go func() { answer <- cmd() }()
	select {
	case msg := <-answer:
		d.follow(msg)
	case <-d.blocked:
		d.pending = append(d.pending, answer)
	}
}

// collect waits for the questions that hung and do not any more.
func (d *driver) collect() {
	list := d.pending
	d.pending = nil
	for _, answer := range list {
		d.follow(<-answer)
	}
}

func (d *driver) follow(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quits++
	default:
		d.send(msg)
	}
}

// keys presses keys, by their names, blanks between them.
func (d *driver) keys(names string) {
	for _, name := range strings.Fields(names) {
		d.send(uitest.Key(name))
	}
}

// typing types text, a key for each letter, and lets the pause pass after which
// it is looked for.
func (d *driver) typing(s string) {
	for _, k := range uitest.Type(s) {
		d.send(k)
	}
	d.settle()
}

// settle lets typing come to rest.
func (d *driver) settle() {
	if s, ok := d.app.top().(*drawers); ok && s.table.Filter() != s.want {
		d.send(typedMsg{s, s.debounce})
	}
}

// wait moves time on and lets a refresh happen.
func (d *driver) wait(by time.Duration) {
	d.now = d.now.Add(by)
	d.send(refreshMsg{})
}

func (d *driver) frame() string { return d.app.View() }

// shows fails unless every text is on the screen.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, s := range texts {
		if !strings.Contains(frame, s) {
			d.t.Errorf("no %q on the screen:\n%s", s, frame)
		}
	}
}

// hides fails if any of the texts is on the screen.
func (d *driver) hides(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, s := range texts {
		if strings.Contains(frame, s) {
			d.t.Errorf("%q is on the screen:\n%s", s, frame)
		}
	}
}

var _ io.Writer = (*strings.Builder)(nil)
