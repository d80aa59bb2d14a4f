package ui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
)

// Dialog is something over the screen that takes all keys until it is closed. It
// never acts by itself: its keys return Actions.
type Dialog interface {
	// Title names verb and object.
	Title() string
	// Key answers a key, a paste, or keys joined by Bubble Tea (see SplitKeys).
	Key(tea.KeyMsg) Action
	// Resize says how the body is to look, and how much room it has; it comes
	// before the first Body and whenever that changes.
	Resize(th theme.Theme, w, h int)
	// Body draws at most h rows of at most w cells. Less is fine: the frame
	// follows.
	Body() []string
	// Hints are the keys to print, as pairs of key and word.
	Hints() [][2]string
}

// Action is what a key did to a dialog.
type Action struct {
	// Close takes the dialog off the screen.
	Close bool
	// Accepted tells that the person said yes or chose something. Closing
	// without it is "no".
	Accepted bool
	// Cmd is what to do now.
	Cmd tea.Cmd
}

// A dialog that opens by itself takes no keys until the person has typed nothing
// for graceQuiet, or graceMost is over: what they were typing when it came up is
// no answer to it.
const (
	graceQuiet = 400 * time.Millisecond
	graceMost  = 1500 * time.Millisecond
)

// Overlay is the stack of open dialogs. The topmost one takes the keys.
type Overlay struct {
	th    theme.Theme
	now   func() time.Time
	w, h  int
	stack []layer
}

type layer struct {
	Dialog
	grace         bool
	opened, quiet time.Time // quiet: when the last unwanted key came
}

// NewOverlay makes an empty stack. now is the clock for the grace period.
func NewOverlay(th theme.Theme, now func() time.Time) *Overlay {
	return &Overlay{th: th, now: now}
}

// SetSize says how large the screen is.
func (o *Overlay) SetSize(w, h int) {
	o.w, o.h = max(w, 0), max(h, 0)
	for _, l := range o.stack {
		o.resize(l)
	}
}

// Open puts a dialog on top that the person asked for.
func (o *Overlay) Open(d Dialog) { o.open(layer{Dialog: d}) }

// OpenUnasked puts a dialog on top that opens by itself.
func (o *Overlay) OpenUnasked(d Dialog) {
	now := o.now()
	o.open(layer{Dialog: d, grace: true, opened: now, quiet: now})
}

func (o *Overlay) open(l layer) {
	o.stack = append(o.stack, l)
	o.resize(l)
}

// Confirm asks c, or does it at once if it needs no confirmation.
func (o *Overlay) Confirm(c *Confirm) tea.Cmd {
	if c.Level == Unasked {
		return c.accept().Cmd
	}
	o.Open(c)
	return nil
}

// Top is the topmost dialog, nil if none is open.
func (o *Overlay) Top() Dialog {
	if len(o.stack) == 0 {
		return nil
	}
	return o.stack[len(o.stack)-1].Dialog
}

// Close takes the topmost dialog away without an answer.
func (o *Overlay) Close() {
	if n := len(o.stack); n > 0 {
		o.stack = o.stack[:n-1]
	}
}

// Key passes a key to the topmost dialog. It is not handled if there is none, or
// if the key works through dialogs.
func (o *Overlay) Key(msg tea.KeyMsg) (a Action, handled bool) {
	if len(o.stack) == 0 || Through(msg) {
		return Action{}, false
	}
	top := &o.stack[len(o.stack)-1]
	if top.grace {
		now := o.now()
		if now.Sub(top.quiet) < graceQuiet && now.Sub(top.opened) < graceMost {
			top.quiet = now
			return Action{}, true
		}
		top.grace = false
	}
	d := top.Dialog
	a = d.Key(msg)
	if a.Close {
		o.remove(d)
	}
	return a, true
}

// Dispatch is how the root model passes a key message on. Dialogs come first.
// What they leave goes to key: whole while the screen is typing, else one key at
// a time (see SplitKeys). The rest of a joined message goes to the input or the
// palette that one of its keys opened; it is dropped if that key opened a
// question, which has not been read yet.
func (o *Overlay) Dispatch(msg tea.KeyMsg, typing func() bool, key func(tea.KeyMsg) tea.Cmd) tea.Cmd {
	if a, handled := o.Key(msg); handled {
		return a.Cmd
	}
	if typing() {
		return key(msg)
	}
	var cmds []tea.Cmd
	for _, k := range SplitKeys(msg) {
		if _, question := o.Top().(*Confirm); question {
			break
		}
		if a, handled := o.Key(k); handled {
			cmds = append(cmds, a.Cmd)
			continue
		}
		cmds = append(cmds, key(k))
	}
	return tea.Batch(cmds...)
}

// remove takes d away, wherever it is: its action may have opened another.
func (o *Overlay) remove(d Dialog) {
	for i := len(o.stack) - 1; i >= 0; i-- {
		if o.stack[i].Dialog == d {
			o.stack = append(o.stack[:i], o.stack[i+1:]...)
			return
		}
	}
}

// Dialogs take the whole screen below this size: a frame would cost a third of it.
const (
	dialogFullW = 60
	dialogFullH = 16
	dialogMaxW  = 76
)

// full tells whether dialogs take the whole screen.
func (o *Overlay) full() bool { return o.w < dialogFullW || o.h < dialogFullH }

// head is the rows above a dialog's body on a full screen: its title, on two rows
// if it must be, since it names what one agrees to, and a rule if there is room.
func (o *Overlay) head(d Dialog) []string {
	rows := In(theme.Title, oneLine(d.Title())).Wrap(o.th, max(o.w, 1))
	if o.h <= 8 || len(rows) > 2 {
		rows = []string{In(theme.Title, d.Title()).Fit(o.th, o.w)}
	}
	if o.h > 8 {
		rows = append(rows, Rule(o.th, o.w))
	}
	return rows
}

func (o *Overlay) resize(d Dialog) {
	if o.full() {
		d.Resize(o.th, o.w, max(o.h-len(o.head(d))-1, 0))
		return
	}
	// Edges, a blank row above and below the body, the keys, and two rows of
	// the screen left and right of it all.
	d.Resize(o.th, min(o.w-4, dialogMaxW)-4, o.h-7)
}

// View draws the topmost dialog over the screen.
func (o *Overlay) View(screen string) string {
	d := o.Top()
	if d == nil || o.w == 0 || o.h == 0 {
		return screen
	}
	body := d.Body()
	if o.full() {
		return strings.Join(o.fullView(d, body), "\n")
	}
	outer := min(o.w-4, dialogMaxW)
	keys, _ := hints(o.th, pairs(d), outer-4)
	rows := append([]string{""}, body...)
	rows = append(rows, "", keys)
	return place(o.th, screen, box(o.th, d.Title(), rows, outer), o.w, o.h)
}

// fullView draws a dialog without a frame: title, rule, body, keys.
func (o *Overlay) fullView(d Dialog, body []string) []string {
	rows := o.head(d)
	if o.h == 1 {
		return rows
	}
	room := o.h - len(rows) - 1
	rows = append(rows, body[:min(len(body), room)]...)
	for len(rows) < o.h-1 {
		rows = append(rows, "")
	}
	return append(rows, footer(o.th, pairs(d), nil, o.w))
}

func pairs(d Dialog) []hint {
	var out []hint
	for _, p := range d.Hints() {
		out = append(out, hint{p[0], p[1]})
	}
	return out
}
