package ui_test

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
	"castellan/ui/uitest"
)

// Terminals report no size, a tiny one, then the real one, and people drag
// windows about while a dialog is open.
func TestAScreenSurvivesAnySizeInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		m, err := newFruit(th, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if m.View() != "" {
			t.Errorf("before the size is known %q is drawn", m.View())
		}
		var rows []ui.Row
		for i, s := range uitest.Hostile() {
			rows = append(rows, ui.Row{ID: s, Cells: []ui.Cell{{Text: s}, ui.Number("1", float64(i)), {Text: s}}})
		}
		m.table.SetRows(rows)
		for _, keys := range []string{"", "G", "E", ":", "?", "/", "x"} {
			for _, k := range uitest.Type(keys) {
				m.Update(k)
			}
			for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 5}, {80, 24}, {0, 24}, {40, 12}, {80, 0}, {120, 40}, {30, 8}, {2, 60}, {200, 3}, {59, 16}, {60, 15}} {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				uitest.Check(t, m.View(), size[0], size[1])
			}
			m.Update(uitest.Key("esc"))
		}
	}
}
