package ui_test

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
	"castellan/ui/uitest"
)

// fruit is a whole screen: a list to filter, a command that asks first, help and
// a palette. A real one differs in what its commands do.
type fruit struct {
	th       theme.Theme
	frame    ui.Frame
	table    *ui.Table
	filter   *ui.Input
	commands *ui.Registry
	overlay  *ui.Overlay
	toasts   *ui.Toasts
}

func newFruit(th theme.Theme, now func() time.Time) (*fruit, error) {
	m := &fruit{
		th: th,
		table: ui.NewTable(th,
			ui.Column{Title: "FRUIT", Priority: 9, Flex: true},
			ui.Column{Title: "WEIGHT", Priority: 1, Align: text.Right, Sort: ui.SortNumber},
			ui.Column{Title: "STATE", Priority: 5},
		),
		filter:  ui.NewInput("/", "any part of a row"),
		overlay: ui.NewOverlay(th, now),
		toasts:  ui.NewToasts(ui.NewLog(1000, now)),
	}
	m.table.Noun = "fruits"
	own := []ui.Command{
		{ID: "fruit.eat", Title: "Eat the fruit", Short: "eat", Keys: []string{"E"}, Group: "Fruit", Dangerous: true,
			Disabled: m.nothingToEat, Run: m.eat},
		{ID: "list.filter", Title: "Filter the list", Short: "filter", Keys: []string{"/"}, Group: "List",
			Run: func() tea.Cmd { m.filter.Focus(); return nil }},
		{ID: "app.help", Title: "Help", Short: "help", Keys: []string{"?"}, Pinned: true, Run: m.help},
		{ID: "app.palette", Title: "Find a command", Short: "commands", Keys: []string{":"}, Pinned: true, Run: m.palette},
		{ID: "app.quit", Title: "Quit", Short: "quit", Keys: []string{"q"}, Pinned: true, Run: func() tea.Cmd { return tea.Quit }},
	}
	var err error
	m.commands, err = ui.NewRegistry(append(own, m.table.Commands(nil)...)...)
	return m, err
}

func (m *fruit) nothingToEat() string {
	if m.table.ID() == "" {
		return "the list is empty"
	}
	return ""
}

func (m *fruit) eat() tea.Cmd {
	id := m.table.ID()
	return m.overlay.Confirm(&ui.Confirm{
		Level:        ui.YesNo,
		Question:     "Eat the " + id,
		Verb:         "Eat",
		Consequences: []ui.Field{{Label: "Will", Text: ui.Plain("be gone for good.")}},
		Then:         func() tea.Cmd { return m.toasts.Show(theme.Good, "The "+id+" was good.") },
	})
}

func (m *fruit) help() tea.Cmd {
	m.overlay.Open(ui.NewFieldReader("Help", m.commands.Help()))
	return nil
}

func (m *fruit) palette() tea.Cmd {
	m.overlay.Open(ui.NewPalette(m.commands))
	return nil
}

func (m *fruit) Init() tea.Cmd { return nil }

func (m *fruit) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.frame = ui.Layout(msg.Width, msg.Height, ui.Wants{})
		m.table.SetSize(m.frame.List.W, m.frame.List.H)
		m.overlay.SetSize(msg.Width, msg.Height)
	case ui.ToastExpiredMsg:
		m.toasts.Expire(msg)
	case tea.KeyMsg:
		if ui.Through(msg) {
			return m, tea.Quit // ctrl+z and ctrl+l have work of their own
		}
		m.toasts.KeyPressed()
		return m, m.overlay.Dispatch(msg, m.filter.Focused, m.key)
	}
	return m, nil
}

// key takes what no dialog took.
func (m *fruit) key(msg tea.KeyMsg) tea.Cmd {
	if m.filter.Focused() {
		switch m.filter.Key(msg) {
		case ui.InputChange:
			m.table.SetFilter(m.filter.Value())
		case ui.InputSubmit:
			m.filter.Blur()
		case ui.InputCancel:
			m.filter.Blur()
			m.filter.SetValue("")
			m.table.SetFilter("")
		}
		return nil
	}
	out := m.commands.Key(msg)
	if out.Reason != "" {
		return m.toasts.Show(theme.Warn, out.Reason)
	}
	return out.Cmd
}

func (m *fruit) View() string {
	status := ui.StatusLine(m.th, ui.Plain(m.table.Summary()), nil, m.frame.W)
	if m.filter.Focused() {
		status = m.filter.View(m.th, m.frame.W)
	}
	return m.overlay.View(ui.Compose(m.th, m.frame, ui.Parts{
		Title:  ui.TitleLine(m.th, []string{"kitchen", "fruit"}, nil, m.frame.W),
		List:   m.table.View(),
		Status: status,
		Toast:  m.toasts.View(m.th, m.frame.W),
		Help:   m.commands.Footer(m.th, m.frame.W),
	}))
}

// A screen is a model that owns widgets, hands keys down and puts frames
// together.
func Example() {
	th := theme.Plain()
	m, err := newFruit(th, time.Now)
	if err != nil {
		panic(err) // two commands want one key: a test finds it
	}
	row := func(name string, grams float64, s theme.Severity) ui.Row {
		return ui.Row{ID: name, Cells: []ui.Cell{{Text: name}, ui.Number(fmt.Sprint(grams, " g"), grams), {Text: s.Word(), Role: s.Role()}}}
	}
	m.table.SetRows([]ui.Row{row("apple", 150, theme.Good), row("melon", 2100, theme.Warn), row("pear", 180, theme.Fail)})
	m.Update(tea.WindowSizeMsg{Width: 62, Height: 16})

	m.Update(uitest.Joined("jE")) // typed fast: down, then eat
	show(m)
	m.Update(uitest.Key("y"))
	for _, k := range uitest.Type("/ea") {
		m.Update(k)
	}
	m.Update(uitest.Key("enter"))
	show(m)

	// Output:
	//  kitchen > fruit
	//   FRUIT                                        WEIGHT  STATE
	//   apple                                         150 g  ok
	// > melon                                        2100 g  warning
	//   +- Eat the melon ----------------------------------------+
	//   |                                                        |
	//   | Will  be gone for good.                                |
	//   |                                                        |
	//   | ( Eat )  [ Back ]                                      |
	//   |                                                        |
	//   | y eat   n back   tab other button                      |
	//   +--------------------------------------------------------+
	//  3 fruits
	//  E eat   / filter                ? help   : commands   q quit
	//  kitchen > fruit
	//   FRUIT                                        WEIGHT  STATE
	// > pear                                          180 g  error
	//  [ok] The melon was good.
	//  E eat   / filter                ? help   : commands   q quit
}

// show prints a frame without its blanks at the right and its empty lines.
func show(m *fruit) {
	for _, line := range strings.Split(m.View(), "\n") {
		if line = strings.TrimRight(line, " "); line != "" {
			fmt.Println(line)
		}
	}
}
