package ui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/text"
)

// Toasts are short messages over the help line. They go by themselves after three
// to six seconds; errors stay until a key is pressed. All of them are in the log.
type Toasts struct {
	log  *Log
	list []toast
	next int
}

type toast struct {
	id       int
	severity theme.Severity
	text     string
	times    int
}

// ToastExpiredMsg comes when a toast has been shown long enough.
type ToastExpiredMsg struct{ id int }

// toastLimit bounds what waits to be read.
const toastLimit = 20

// NewToasts makes an empty list that writes to log.
func NewToasts(log *Log) *Toasts { return &Toasts{log: log} }

// Show shows a message; the command makes it go again. A message that is on the
// screen already is counted, not repeated.
func (t *Toasts) Show(s theme.Severity, msg string) tea.Cmd {
	t.log.Add(s, msg)
	msg, _ = text.Bound(msg, logLineLimit, text.CutEnd)
	times := 1
	for i, old := range t.list {
		if old.text == msg && old.severity == s {
			times += old.times
			t.list = append(t.list[:i], t.list[i+1:]...)
			break
		}
	}
	if len(t.list) == toastLimit {
		t.list = t.list[1:]
	}
	t.next++
	id := t.next
	t.list = append(t.list, toast{id, s, msg, times})
	if s >= theme.Fail {
		return nil
	}
	return tea.Tick(toastTime(s, msg), func(time.Time) tea.Msg { return ToastExpiredMsg{id} })
}

// toastTime is how long a message of that length can be read in.
func toastTime(s theme.Severity, msg string) time.Duration {
	if s == theme.Warn {
		return 6 * time.Second
	}
	d := 3*time.Second + time.Duration(len(msg))*30*time.Millisecond
	return min(d, 6*time.Second)
}

// Expire takes the toast of the message away, if it is still there.
func (t *Toasts) Expire(msg ToastExpiredMsg) {
	for i, x := range t.list {
		if x.id == msg.id {
			t.list = append(t.list[:i], t.list[i+1:]...)
			return
		}
	}
}

// KeyPressed takes the error on the screen away, and tells whether there was one.
// The root calls it for every key; the key does its own work besides.
func (t *Toasts) KeyPressed() bool {
	i := t.current()
	if i < 0 || t.list[i].severity < theme.Fail {
		return false
	}
	t.list = append(t.list[:i], t.list[i+1:]...)
	return true
}

// Current is the message shown, for copying; "" if there is none.
func (t *Toasts) Current() string {
	if i := t.current(); i >= 0 {
		return t.list[i].text
	}
	return ""
}

// current is the oldest unread error, or else the newest message.
func (t *Toasts) current() int {
	for i, x := range t.list {
		if x.severity >= theme.Fail {
			return i
		}
	}
	return len(t.list) - 1
}

// View draws one line of w cells, or "" if there is nothing to say.
func (t *Toasts) View(th theme.Theme, w int) string {
	i := t.current()
	if i < 0 || w <= 0 {
		return ""
	}
	x := t.list[i]
	more := ""
	if x.times > 1 {
		more = fmt.Sprintf(" (%d times)", x.times)
	}
	if n := len(t.list) - 1; n > 0 {
		more += fmt.Sprintf(" (%d more)", n)
	}
	r := Ruler(th)
	room := w - 2 - r.Width(more)
	msg := strings.TrimRight(r.Fit(th.Mark(x.severity)+" "+x.text, room, text.CutEnd, text.Left), " ")
	return r.Slice(" "+th.Paint(x.severity.Role(), msg)+th.Paint(theme.Faint, more), 0, w)
}
