package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/text"
)

// inputLimit bounds what can be typed or pasted, in characters.
const inputLimit = 4096

// Input is one line of typed text: a filter, a question, a name. While it has the
// focus every printable key is text, q and ? among them.
//
// Editing is textinput's; drawing is our own, because its cursor is a colour that
// NO_COLOR takes away, and because it cuts by character, not by cell.
type Input struct {
	Prompt string // "/", "Name: "
	Hint   string // shown while nothing is typed

	model textinput.Model
}

// InputEvent is what a key did to an input.
type InputEvent uint8

const (
	InputNone   InputEvent = iota // nothing, or the cursor moved
	InputChange                   // the text changed
	InputSubmit                   // enter
	InputCancel                   // esc
)

// NewInput makes an input without focus.
func NewInput(prompt, hint string) *Input {
	m := textinput.New()
	m.CharLimit = inputLimit
	// No blinking: it would be a timer that runs while nothing happens.
	m.Cursor.SetMode(cursor.CursorStatic)
	// textinput would run a clipboard tool and wait for it; terminals paste
	// by themselves.
	m.KeyMap.Paste = key.NewBinding(key.WithDisabled())
	return &Input{Prompt: prompt, Hint: hint, model: m}
}

// Focus makes keys text.
func (in *Input) Focus() { in.model.Focus() }

// Blur ends that. The text stays.
func (in *Input) Blur() { in.model.Blur() }

// Focused tells whether keys are text.
func (in *Input) Focused() bool { return in.model.Focused() }

// Value is the text, on one line and clean.
func (in *Input) Value() string { return in.model.Value() }

// SetValue replaces the text and puts the cursor behind it.
func (in *Input) SetValue(s string) {
	in.model.SetValue(text.Clean(s))
	in.model.CursorEnd()
}

// Key takes a key or a paste. Only the enter key submits: a line break in a paste
// becomes a blank.
func (in *Input) Key(msg tea.KeyMsg) InputEvent {
	if !in.Focused() {
		return InputNone
	}
	switch keyName(msg) {
	case "enter":
		return InputSubmit
	case "esc":
		return InputCancel
	}
	if msg.Alt && msg.Type == tea.KeyRunes && len(msg.Runes) == 1 && !strings.ContainsRune("bdf", msg.Runes[0]) {
		return InputNone // an unbound alt chord is no text
	}
	before := in.Value()
	in.model, _ = in.model.Update(msg)
	if v := in.Value(); v != text.Clean(v) {
		in.SetValue(v)
	}
	if in.Value() == before {
		return InputNone
	}
	return InputChange
}

// View draws the input into exactly w cells, scrolled so that the cursor is seen.
func (in *Input) View(th theme.Theme, w int) string {
	if w <= 0 {
		return ""
	}
	r := Ruler(th)
	prompt := th.Paint(theme.Key, oneLine(in.Prompt))
	room := w - r.Width(oneLine(in.Prompt))
	if room <= 1 {
		return r.Slice(prompt, 0, w)
	}
	value := []rune(in.Value())
	pos := min(in.model.Position(), len(value))
	before, after := string(value[:pos]), string(value[pos:])
	if !in.Focused() {
		return prompt + r.Fit(before+after, room, text.CutEnd, text.Left)
	}
	caret := th.Paint(theme.Accent, th.Glyphs.Caret)
	if len(value) == 0 && in.Hint != "" {
		return prompt + caret + th.Paint(theme.Faint, r.Fit(in.Hint, room-1, text.CutEnd, text.Left))
	}
	// The text before the cursor comes first, what is left shows the text
	// after it.
	if need := min(r.Width(after), room/4); r.Width(before) > room-1-need {
		before = r.Truncate(before, room-1-need, text.CutStart)
	}
	left := room - 1 - r.Width(before)
	return prompt + before + caret + r.Fit(after, left, text.CutEnd, text.Left)
}
