package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
)

// Busy knows what is running and owns the only ticker of the program. Nothing
// ticks while nothing runs, and a wait shorter than spinnerDelay shows no spinner:
// it would only flash.
type Busy struct {
	now     func() time.Time
	running map[string]time.Time
	ticking bool
	frame   int
}

// TickMsg drives spinners and clocks of running things.
type TickMsg struct{}

const (
	spinnerDelay = 150 * time.Millisecond
	spinnerPace  = 125 * time.Millisecond
)

// NewBusy makes one with nothing running. There should be one in a program.
func NewBusy(now func() time.Time) *Busy {
	return &Busy{now: now, running: map[string]time.Time{}}
}

// Begin says that something runs under that name. Return the command from
// Update; it is nil if the ticker is running already.
func (b *Busy) Begin(id string) tea.Cmd {
	if _, ok := b.running[id]; !ok {
		b.running[id] = b.now()
	}
	if b.ticking {
		return nil
	}
	b.ticking = true
	return tick(spinnerDelay)
}

// End says that it is done.
func (b *Busy) End(id string) { delete(b.running, id) }

// Running tells whether it is running.
func (b *Busy) Running(id string) bool {
	_, ok := b.running[id]
	return ok
}

// Tick takes the TickMsg and returns what makes the next one; nil when nothing
// runs any more.
func (b *Busy) Tick() tea.Cmd {
	if len(b.running) == 0 {
		b.ticking = false
		return nil
	}
	b.frame++
	return tick(spinnerPace)
}

func tick(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return TickMsg{} })
}

// View is the spinner of what runs under that name, one cell; "" while it need
// not be seen.
func (b *Busy) View(th theme.Theme, id string) string {
	since, ok := b.running[id]
	if !ok || b.now().Sub(since) < spinnerDelay {
		return ""
	}
	frames := th.Glyphs.Spinner
	return th.Paint(theme.Accent, frames[b.frame%len(frames)])
}
