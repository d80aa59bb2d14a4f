package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/text"
)

// Item is one choice of a Menu.
type Item struct {
	// Key chooses it at once; one character, "" for none.
	Key   string
	Label string // "id", "path"
	// Value is what would be copied or used, shown beside the label.
	Value string
	// Disabled says why it cannot be chosen.
	Disabled string
}

// Menu is a dialog that offers choices: what to copy, which palace to open.
type Menu struct {
	Name  string
	Items []Item
	// Then is what choosing does.
	Then func(Item) tea.Cmd

	cursor int
	note   string
	th     theme.Theme
	w, h   int
}

// Title is the name.
func (m *Menu) Title() string { return m.Name }

// Hints prints the keys.
func (m *Menu) Hints() [][2]string {
	return [][2]string{{"enter", "choose"}, {"j/k", "move"}, {"esc", "back"}}
}

// Key moves, chooses or closes. An item's own key comes before the others.
func (m *Menu) Key(msg tea.KeyMsg) Action { return eachKey(msg, m.key) }

func (m *Menu) key(msg tea.KeyMsg) Action {
	k := keyName(msg)
	for i, it := range m.Items {
		if k != "" && k == it.Key {
			m.cursor = i
			return m.choose()
		}
	}
	switch k {
	case "esc", "q":
		return Action{Close: true}
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "home", "g":
		m.move(-len(m.Items))
	case "end", "G":
		m.move(len(m.Items))
	case "enter":
		return m.choose()
	}
	return Action{}
}

func (m *Menu) move(n int) {
	m.cursor = max(min(m.cursor+n, len(m.Items)-1), 0)
	m.note = ""
}

func (m *Menu) choose() Action {
	if m.cursor >= len(m.Items) {
		return Action{}
	}
	it := m.Items[m.cursor]
	if it.Disabled != "" {
		m.note = "Not now: " + it.Disabled
		return Action{}
	}
	a := Action{Close: true, Accepted: true}
	if m.Then != nil {
		a.Cmd = m.Then(it)
	}
	return a
}

// Resize says how much room there is.
func (m *Menu) Resize(th theme.Theme, w, h int) { m.th, m.w, m.h = th, w, h }

// Body draws the choices around the cursor.
func (m *Menu) Body() []string {
	if m.h <= 0 {
		return nil
	}
	r := Ruler(m.th)
	label := 0
	for _, it := range m.Items {
		label = max(label, r.Width(oneLine(it.Label)))
	}
	label = min(label, m.w/2)
	room := max(m.h-1, 1)
	top := max(min(m.cursor-room/2, len(m.Items)-room), 0)
	var rows []string
	for i := top; i < min(top+room, len(m.Items)); i++ {
		rows = append(rows, m.row(i, label))
	}
	if m.h > 1 && m.note != "" {
		rows = append(rows, In(theme.Warning, m.note).Fit(m.th, m.w))
	}
	return rows
}

func (m *Menu) row(i, label int) string {
	it := m.Items[i]
	valueRole := theme.Faint
	value := it.Value
	if it.Disabled != "" {
		value = "(" + it.Disabled + ")"
	}
	key := it.Key
	if key == "" {
		key = " "
	}
	r := Ruler(m.th)
	sign := "  "
	if i == m.cursor {
		sign = m.th.Glyphs.Cursor + " "
		plain := sign + key + "  " + r.Fit(it.Label, label, text.CutEnd, text.Left) + "  " + oneLine(value)
		return m.th.Paint(theme.Selected, r.Fit(plain, m.w, text.CutEnd, text.Left))
	}
	return Line{
		{sign, theme.Text}, {key, theme.Key}, {"  ", theme.Text},
		{r.Fit(it.Label, label, text.CutEnd, text.Left) + "  ", theme.Text}, {value, valueRole},
	}.Fit(m.th, m.w)
}
