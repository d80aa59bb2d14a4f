package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/text"
)

// Level is how hard a person is asked.
type Level uint8

const (
	// Unasked does it at once: looking, refreshing.
	Unasked Level = iota
	// YesNo asks once, with No focused: what can be undone.
	YesNo
	// TypeName wants the name of the thing typed: real destruction only, or
	// people learn to type without reading.
	TypeName
)

// Confirm asks whether to do something.
type Confirm struct {
	Level Level
	// Question names verb and object: "Rebuild the search index of notes".
	Question string
	// Consequences say what will change, and where the backup goes.
	Consequences []Field
	// Verb is on the button: "Rebuild", never "OK".
	Verb string
	// Name is what has to be typed for TypeName.
	Name string
	// Then is what yes does.
	Then func() tea.Cmd

	yes    bool // the focused button
	input  *Input
	body   *Pager
	note   string
	joined bool
	th     theme.Theme
	w, h   int
}

// Title is the question.
func (c *Confirm) Title() string { return c.Question }

// Hints prints the keys that answer.
func (c *Confirm) Hints() [][2]string {
	if c.Level == TypeName {
		return [][2]string{{"enter", strings.ToLower(c.Verb)}, {"esc", "back"}}
	}
	return [][2]string{{"y", strings.ToLower(c.Verb)}, {"n", "back"}, {"tab", "other button"}}
}

// Key answers y and n, or takes the name. A paste never answers.
func (c *Confirm) Key(msg tea.KeyMsg) Action {
	if c.Level == TypeName {
		return c.typed(msg)
	}
	switch keyName(msg) {
	case "y":
		return c.accept()
	case "n", "q", "esc":
		return Action{Close: true}
	case "tab", "shift+tab", "left", "right", "h", "l":
		c.yes = !c.yes
	case "enter":
		if c.yes {
			return c.accept()
		}
		return Action{Close: true}
	default:
		c.scroll(msg)
	}
	return Action{}
}

func (c *Confirm) typed(msg tea.KeyMsg) Action {
	joined := c.joined
	// Runes that come in one read without being a paste are most likely one, on
	// a terminal that does not say so; the line break after them would be part
	// of it.
	c.joined = msg.Type == tea.KeyRunes && len(msg.Runes) > 1 && !msg.Paste
	switch c.typedInput().Key(msg) {
	case InputCancel:
		return Action{Close: true}
	case InputChange:
		c.note = ""
	case InputSubmit:
		if strings.TrimSpace(c.input.Value()) != text.Clean(c.Name) {
			c.note = "Not the name. Nothing is done."
			return Action{}
		}
		if joined {
			c.note = "Press enter once more."
			return Action{}
		}
		return c.accept()
	default:
		c.scroll(msg)
	}
	return Action{}
}

func (c *Confirm) accept() Action {
	a := Action{Close: true, Accepted: true}
	if c.Then != nil {
		a.Cmd = c.Then()
	}
	return a
}

func (c *Confirm) scroll(msg tea.KeyMsg) {
	if c.body != nil {
		scrollKey(c.body, msg, c.Level != TypeName)
	}
}

func (c *Confirm) typedInput() *Input {
	if c.input == nil {
		c.input = NewInput("> ", "")
		c.input.Focus()
	}
	return c.input
}

// Resize lays the consequences out.
func (c *Confirm) Resize(th theme.Theme, w, h int) {
	c.th, c.w, c.h = th, w, h
	if c.body == nil {
		c.body = NewPager(th)
		c.body.SetFields(c.Consequences)
	}
	c.body.SetTheme(th)
	c.body.SetSize(w, h)
	c.body.SetSize(w, max(min(c.body.Len(), h-len(c.answer())-1), 0))
}

// Body draws the consequences and, below them, the buttons or the input.
func (c *Confirm) Body() []string {
	answer := c.answer()
	if c.h <= len(answer) {
		return answer[len(answer)-max(c.h, 0):]
	}
	var rows []string
	if c.body.h > 0 {
		rows = strings.Split(c.body.View(), "\n")
	}
	gap := ""
	if pos := c.body.Position(); pos != "" {
		// What one agrees to must not be out of sight unnoticed.
		gap = In(theme.Faint, "("+pos+", up and down for more)").Fit(c.th, c.w)
	}
	return append(append(rows, gap), answer...)
}

// answer is the rows by which the question is answered.
func (c *Confirm) answer() []string {
	if c.Level != TypeName {
		return []string{c.buttons()}
	}
	ask := Line{{"Type ", theme.Text}, {c.Name, theme.Accent}, {" to " + strings.ToLower(c.Verb) + " it.", theme.Text}}
	// The name must be read in full to be typed.
	rows := ask.Wrap(c.th, max(c.w, 1))
	return append(rows[:min(len(rows), 4)],
		c.typedInput().View(c.th, c.w),
		In(theme.Warning, c.note).Fit(c.th, c.w))
}

// buttons marks the focused one by square brackets, not by colour alone.
func (c *Confirm) buttons() string {
	verb := Span{"( " + c.Verb + " )", theme.Text}
	back := Span{"[ Back ]", theme.Focused}
	if c.yes {
		verb = Span{"[ " + c.Verb + " ]", theme.Focused}
		back = Span{"( Back )", theme.Text}
	}
	return Line{verb, {"  ", theme.Text}, back}.Fit(c.th, c.w)
}
