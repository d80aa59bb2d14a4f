package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"castellan/theme"
	"castellan/ui/text"
	"castellan/ui/uitest"
)

func palaceTable(th theme.Theme) *Table {
	t := NewTable(th,
		Column{Title: "PALACE", Priority: 9, Flex: true, Min: 10, Cut: text.CutStart},
		Column{Title: "DRAWERS", Priority: 6, Align: text.Right, Sort: SortNumber},
		Column{Title: "SEARCHABLE", Priority: 5, Sort: SortNumber},
		Column{Title: "DISK", Priority: 3, Align: text.Right, Sort: SortNumber},
		Column{Title: "LOCK", Priority: 4, Min: 6, Max: 14},
		Column{Title: "ID", Priority: 1, Wide: true, Cut: text.CutMiddle, Min: 9, Sort: SortNone},
		Column{Title: "STATE", Priority: 8},
	)
	t.Noun = "palaces"
	t.Empty = "No palace yet. Press m to file a folder into a new one."
	t.SetRows(palaceRows(th))
	return t
}

func palaceRows(th theme.Theme) []Row {
	row := func(name string, drawers, found int64, disk string, bytes float64, lock string, s theme.Severity) Row {
		return Row{ID: name, Cells: []Cell{
			{Text: name}, Number(fmt.Sprint(drawers), float64(drawers)), ShareCell(th, found, drawers, s.Role()),
			Number(disk, bytes), {Text: lock, Role: theme.Held}, {Text: "9f1c0d3e-55e2-4c11-8a60-1f2e3d4c5b6a"},
			{Text: s.Word(), Role: s.Role()},
		}}
	}
	rows := []Row{
		row("~/.mempalace/palace", 192_997, 16_384, "1.4 GB", 1.4e9, "held 4 min", theme.Peril),
		row("~/code/notes", 1_500, 1_500, "5.9 MB", 5.9e6, "free", theme.Good),
		row("~/code/漢字の棟/👩‍👩‍👧 family", 2_395, 2_394, "9.1 MB", 9.1e6, "free", theme.Fail),
		row("~/évil\x1b[31m\u202eecalap", 12, 0, "40 kB", 4e4, "free", theme.Warn),
	}
	team := Row{ID: "team", Cells: []Cell{{Text: "team  127.0.0.1:8801"}, NoNumber("-"), NoNumber("-"), NoNumber("-"), {Text: "server"}}}
	return append(rows, team)
}

func shownIDs(t *Table) []string {
	var out []string
	for i := range t.Len() {
		out = append(out, t.row(i).ID)
	}
	return out
}

func TestTableFrames(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*Table){
		"table":        func(*Table) {},
		"table-sorted": func(t *Table) { t.SortBy(1, true); t.SetWide(true); t.Move(2); t.Mark(); t.Move(-9) },
		"table-empty":  func(t *Table) { t.SetRows(nil) },
		"table-filter": func(t *Table) { t.SetFilter("no such palace") },
		"table-unfocused": func(t *Table) {
			t.SetFocus(false)
			t.Move(1)
		},
	} {
		uitest.Frames(t, name, func(th theme.Theme, w, h int) string {
			tab := palaceTable(th)
			prepare(tab)
			tab.SetSize(w, h)
			return tab.View()
		})
	}
}

// The table keeps every rule at any size, with any text, in any state.
func TestTableHoldsItsSizeWithHostileText(t *testing.T) {
	t.Parallel()
	for _, th := range []theme.Theme{uitest.Plain(), uitest.ASCII(), uitest.Color()} {
		tab := NewTable(th, Column{Title: "NAME", Flex: true, Priority: 2}, Column{Title: "漢字", Priority: 3, Cut: text.CutMiddle, Max: 20, Min: 3}, Column{Title: "N", Align: text.Right})
		var rows []Row
		for i, s := range uitest.Hostile() {
			rows = append(rows, Row{ID: fmt.Sprint(i), Cells: []Cell{{Text: s}, {Text: s, Role: theme.Danger}, {Text: fmt.Sprint(i)}}})
		}
		rows = append(rows, Row{ID: "short"}, Row{})
		tab.SetRows(rows)
		for w := range 50 {
			for _, h := range []int{0, 1, 2, 5, 12} {
				tab.SetSize(w, h)
				tab.Move(1)
				uitest.Check(t, tab.View(), w, h)
			}
		}
	}
}

func TestColumnsLineUpUnderWideCharacters(t *testing.T) {
	t.Parallel()
	tab := palaceTable(uitest.Plain())
	tab.SetSize(80, 24)
	lines := strings.Split(tab.View(), "\n")
	want := -1
	for _, l := range lines[1:5] {
		// The state column begins at the same cell in each row.
		before := l[:strings.LastIndex(strings.TrimRight(l, " "), " ")+1]
		got := ansi.StringWidth(before)
		if want < 0 {
			want = got
		}
		if got != want {
			t.Errorf("state begins at cell %d, in the first row at %d: %q", got, want, l)
		}
	}
}

func TestTheCursorFollowsItsRow(t *testing.T) {
	t.Parallel()
	th := uitest.Plain()
	tab := palaceTable(th)
	tab.SetSize(80, 3)
	tab.Select("~/code/notes")
	check := func(what, want string) {
		t.Helper()
		if tab.ID() != want {
			t.Errorf("%s: the cursor is on %q, want %q", what, tab.ID(), want)
		}
		if !strings.Contains(tab.View(), "> "+want) {
			t.Errorf("%s: %q is out of sight:\n%s", what, want, tab.View())
		}
	}
	check("selected", "~/code/notes")
	tab.SortBy(1, false)
	check("sorted", "~/code/notes")
	tab.SortReverse()
	check("reversed", "~/code/notes")
	tab.SetFilter("code")
	check("filtered", "~/code/notes")
	rows := palaceRows(th)
	slices.Reverse(rows)
	tab.SetRows(rows)
	check("refreshed", "~/code/notes")
	if tab.Filter() != "code" || tab.Len() != 2 {
		t.Errorf("the filter did not survive: %q, %d rows", tab.Filter(), tab.Len())
	}
	tab.SetFilter("")
	check("unfiltered", "~/code/notes")
	tab.SetRows(slices.DeleteFunc(rows, func(r Row) bool { return r.ID == "~/code/notes" }))
	if tab.ID() == "" || tab.ID() == "~/code/notes" {
		t.Errorf("after its row is gone the cursor is on %q", tab.ID())
	}
	tab.SetRows(nil)
	if tab.ID() != "" || len(tab.Targets()) != 0 {
		t.Error("there is something under the cursor of an empty table")
	}
}

func TestMarksFollowTheirRowsAndDieWithThem(t *testing.T) {
	t.Parallel()
	th := uitest.Plain()
	tab := palaceTable(th)
	tab.SetSize(80, 24)
	tab.Mark()
	tab.Mark()
	want := []string{"~/.mempalace/palace", "~/code/notes"}
	tab.SortBy(0, true)
	tab.SetFilter("team")
	if got := tab.Targets(); !slices.Equal(got, want) {
		t.Errorf("marked %q, want %q", got, want)
	}
	tab.SetFilter("")
	tab.SetRows(palaceRows(th)[1:])
	if got := tab.Marked(); !slices.Equal(got, want[1:]) {
		t.Errorf("after the first row is gone %q are marked", got)
	}
	if !tab.ClearMarks() || tab.ClearMarks() {
		t.Error("ClearMarks does not tell whether there were any")
	}
	tab.Select("team")
	if got := tab.Targets(); !slices.Equal(got, []string{"team"}) {
		t.Errorf("without marks the targets are %q", got)
	}
}

func TestSortingPutsUnknownFiguresLastBothWays(t *testing.T) {
	t.Parallel()
	tab := palaceTable(uitest.Plain())
	tab.SortBy(1, false)
	up := shownIDs(tab)
	tab.SortBy(1, true)
	down := shownIDs(tab)
	if up[4] != "team" || down[4] != "team" || up[0] != down[3] || up[3] != "~/.mempalace/palace" {
		t.Errorf("up %q, down %q", up, down)
	}
	tab.SortBy(5, false) // may not be sorted
	if c, _ := tab.Order(); c != 1 {
		t.Error("a column is sorted that has no order")
	}
	tab.SetSize(80, 24)
	tab.SortBy(-1, false)
	var seen []int
	for range 8 {
		tab.SortNext()
		c, _ := tab.Order()
		seen = append(seen, c)
		if c < 0 {
			break
		}
	}
	if !slices.Equal(seen, []int{0, 1, 2, 3, 4, 6, -1}) {
		t.Errorf("s goes through the columns %v", seen)
	}
}

func TestTextSortsWithoutCase(t *testing.T) {
	t.Parallel()
	tab := NewTable(uitest.Plain(), Column{Title: "N"})
	var rows []Row
	for _, s := range []string{"beta", "Alpha", "gamma", "alpha"} {
		rows = append(rows, Row{ID: s, Cells: []Cell{{Text: s}}})
	}
	tab.SetRows(rows)
	tab.SortBy(0, false)
	if got := shownIDs(tab); !slices.Equal(got, []string{"Alpha", "alpha", "beta", "gamma"}) {
		t.Errorf("%q", got)
	}
}

func TestCountsTellFilteredAndTotal(t *testing.T) {
	t.Parallel()
	tab := palaceTable(uitest.Plain())
	if got := tab.Count(); got != "5" {
		t.Errorf("%q", got)
	}
	tab.SetFilter("CODE")
	tab.SetSize(80, 24)
	tab.Mark()
	tab.SortBy(1, true)
	if got := tab.Summary(); got != "2/5 palaces · 1 marked · by drawers, down" {
		t.Errorf("%q", got)
	}
}

func TestClickSelectsTheRowDrawnThere(t *testing.T) {
	t.Parallel()
	tab := palaceTable(uitest.Plain())
	tab.SetSize(80, 3)
	tab.End()
	if !tab.Click(1) || tab.ID() != "~/évil\x1b[31m\u202eecalap" {
		t.Errorf("clicked on %q", tab.ID())
	}
	if tab.Click(0) || tab.Click(3) || tab.Click(-1) {
		t.Error("header and emptiness can be clicked")
	}
}
