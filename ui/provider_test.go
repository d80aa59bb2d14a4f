package ui

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"castellan/theme"
	"castellan/ui/text"
	"castellan/ui/uitest"
)

// drawers is a list of n rows that are made when asked for. asked counts them.
type drawers struct {
	n, asked int
	loaded   func(i int) bool
}

func (d *drawers) Len() int   { return d.n }
func (d *drawers) Total() int { return d.n }
func (d *drawers) Row(i int) Row {
	d.asked++
	if d.loaded != nil && !d.loaded(i) {
		return Row{}
	}
	return Row{ID: strconv.Itoa(i), Cells: []Cell{
		{Text: fmt.Sprintf("drawer_wing_code_room_%d_9f1c0d3e55e24c11", i)},
		{Text: "wing_code"}, {Text: "architecture"},
		{Text: "We decided to keep the write-ahead queue because the index flushes every 1,000 writes; see 漢字 notes."},
		Number(strconv.Itoa(i*37), float64(i*37)),
	}}
}
func (d *drawers) Find(id string) int {
	if i, err := strconv.Atoi(id); err == nil && i < d.n {
		return i
	}
	return -1
}

func drawerTable(th theme.Theme, p Provider) *Table {
	t := NewTable(th,
		Column{Title: "DRAWER", Priority: 5, Cut: text.CutMiddle, Min: 12, Max: 24},
		Column{Title: "WING", Priority: 4, Min: 6, Max: 16},
		Column{Title: "ROOM", Priority: 3, Min: 6, Max: 16},
		Column{Title: "TEXT", Priority: 2, Flex: true},
		Column{Title: "BYTES", Priority: 1, Align: text.Right},
	)
	t.SetProvider(p)
	return t
}

func TestProviderFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "provider", func(th theme.Theme, w, h int) string {
		tab := drawerTable(th, &drawers{n: 200_000, loaded: func(i int) bool { return i%7 != 3 }})
		tab.SetSize(w, h)
		tab.Move(100_000)
		return tab.View()
	})
}

// 200,000 rows cost what the screen shows.
func TestOnlyRowsOnTheScreenAreAskedFor(t *testing.T) {
	t.Parallel()
	d := &drawers{n: 200_000}
	tab := drawerTable(uitest.Plain(), d)
	tab.SetSize(120, 40)
	d.asked = 0
	tab.End()
	tab.View()
	if d.asked > 3*40 {
		t.Errorf("%d rows were asked for to show 39", d.asked)
	}
	if first, end := tab.Visible(); first != 200_000-39 || end != 200_000 {
		t.Errorf("visible are %d to %d", first, end)
	}
}

func TestTheCursorFollowsItsRowThroughAProvider(t *testing.T) {
	t.Parallel()
	tab := drawerTable(uitest.Plain(), &drawers{n: 100})
	tab.SetSize(80, 10)
	tab.Select("60")
	tab.SetProvider(&drawers{n: 5000})
	if tab.ID() != "60" {
		t.Errorf("after a refresh the cursor is on %q", tab.ID())
	}
	tab.SetProvider(&drawers{n: 10})
	if tab.ID() != "9" {
		t.Errorf("after its row is gone the cursor is on %q", tab.ID())
	}
	tab.SetFilter("x")
	if got := tab.Count(); got != "10/10" {
		t.Errorf("%q", got)
	}
	if tab.Select("500") || tab.Select("") {
		t.Error("a row is selected that is not there")
	}
}

func TestARowNotReadYetCannotBeActedOn(t *testing.T) {
	t.Parallel()
	tab := drawerTable(uitest.Plain(), &drawers{n: 10, loaded: func(int) bool { return false }})
	tab.SetSize(80, 10)
	tab.Mark()
	if got := tab.Targets(); len(got) != 0 {
		t.Errorf("targets %q", got)
	}
	if !strings.Contains(tab.View(), "…") {
		t.Error("nothing tells that rows are missing")
	}
}

func BenchmarkTableView200kVirtual(b *testing.B) {
	for _, size := range uitest.Sizes() {
		for name, th := range map[string]theme.Theme{"plain": uitest.Plain(), "color": uitest.Color()} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], name), func(b *testing.B) {
				tab := drawerTable(th, &drawers{n: 200_000})
				tab.SetSize(size[0], size[1])
				for b.Loop() {
					tab.Move(7)
					if tab.View() == "" {
						b.Fatal("nothing drawn")
					}
				}
			})
		}
	}
}

// What one key press costs on a list held in memory.
func BenchmarkTableFilterAndSort20k(b *testing.B) {
	d := &drawers{n: 20_000}
	rows := make([]Row, d.n)
	for i := range rows {
		rows[i] = d.Row(i)
	}
	tab := drawerTable(uitest.Plain(), d)
	tab.SetRows(rows)
	tab.SetSize(120, 40)
	for b.Loop() {
		tab.SetFilter("room_1")
		tab.SortBy(4, true)
		tab.SetFilter("")
	}
}
