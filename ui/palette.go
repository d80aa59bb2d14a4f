package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"

	"castellan/theme"
	"castellan/ui/text"
)

// Palette is the dialog behind ":": every command by name, found by a few of its
// letters in order, with its key and, if it cannot run now, the reason.
type Palette struct {
	registry *Registry

	input   *Input
	all     []Command
	shown   []int // indexes into all
	cursor  int
	th      theme.Theme
	w, h    int
	refusal string
}

// NewPalette offers the commands of r that are not hidden.
func NewPalette(r *Registry) *Palette {
	p := &Palette{registry: r, input: NewInput(":", "type a part of a command's name")}
	p.input.Focus()
	for _, c := range r.Commands() {
		if !c.Hidden {
			p.all = append(p.all, c)
		}
	}
	p.search()
	return p
}

// Title is "Commands".
func (p *Palette) Title() string { return "Commands" }

// Hints prints the keys.
func (p *Palette) Hints() [][2]string {
	return [][2]string{{"enter", "run"}, {"up/down", "move"}, {"esc", "back"}}
}

// Key edits the search, moves or runs.
func (p *Palette) Key(msg tea.KeyMsg) Action {
	p.refusal = ""
	switch keyName(msg) {
	case "up", "ctrl+p", "shift+tab":
		p.move(-1)
		return Action{}
	case "down", "ctrl+n", "tab":
		p.move(1)
		return Action{}
	case "pgup":
		p.move(-max(p.h-2, 1))
		return Action{}
	case "pgdown":
		p.move(max(p.h-2, 1))
		return Action{}
	}
	switch p.input.Key(msg) {
	case InputChange:
		p.search()
	case InputCancel:
		return Action{Close: true}
	case InputSubmit:
		if len(p.shown) == 0 {
			return Action{}
		}
		c := p.all[p.shown[p.cursor]]
		if why := c.reason(); why != "" {
			p.refusal = "Not now: " + why
			return Action{}
		}
		out := p.registry.Run(c.ID)
		return Action{Close: true, Accepted: true, Cmd: out.Cmd}
	}
	return Action{}
}

func (p *Palette) move(n int) { p.cursor = max(min(p.cursor+n, len(p.shown)-1), 0) }

// search finds the commands for what is typed, the best first; all of them, in
// their order, for nothing.
func (p *Palette) search() {
	p.cursor, p.shown = 0, p.shown[:0]
	want := strings.TrimSpace(p.input.Value())
	if want == "" {
		for i := range p.all {
			p.shown = append(p.shown, i)
		}
		return
	}
	names := make([]string, len(p.all))
	for i, c := range p.all {
		names[i] = c.Title
	}
	for _, m := range fuzzy.Find(want, names) {
		p.shown = append(p.shown, m.Index)
	}
}

// Resize says how much room there is.
func (p *Palette) Resize(th theme.Theme, w, h int) { p.th, p.w, p.h = th, w, h }

// Body draws the input, the commands found, and why one was refused. It keeps its
// height while one types.
func (p *Palette) Body() []string {
	if p.h <= 0 {
		return nil
	}
	rows := []string{p.input.View(p.th, p.w)}
	room := min(p.h-2, len(p.all))
	top := max(min(p.cursor-room/2, len(p.shown)-room), 0)
	for i := top; i < top+room; i++ {
		switch {
		case i < len(p.shown):
			rows = append(rows, p.row(i))
		case i == 0:
			rows = append(rows, In(theme.Faint, "  No command matches. esc goes back.").Fit(p.th, p.w))
		default:
			rows = append(rows, "")
		}
	}
	if p.h > 1 {
		rows = append(rows, In(theme.Warning, p.refusal).Fit(p.th, p.w))
	}
	return rows
}

func (p *Palette) row(i int) string {
	c := p.all[p.shown[i]]
	r := Ruler(p.th)
	key := c.key()
	room := max(p.w-2-r.Width(key)-2, 0)
	why := c.reason()
	if why != "" {
		why = " (" + why + ")"
	}
	if i == p.cursor {
		line := p.th.Glyphs.Cursor + " " + r.Fit(c.Title+why, room, text.CutEnd, text.Left) + "  " + key
		return p.th.Paint(theme.Selected, r.Fit(line, p.w, text.CutEnd, text.Left))
	}
	role := theme.Text
	if why != "" {
		role = theme.Disabled
	}
	name := Line{{c.Title, role}, {why, theme.Faint}}.Fit(p.th, room)
	return r.Slice("  "+name+"  "+p.th.Paint(theme.Key, key), 0, p.w)
}
