package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

type didMsg struct{}

func did() tea.Cmd { return func() tea.Msg { return didMsg{} } }

func rebuild(level Level) *Confirm {
	return &Confirm{
		Level:    level,
		Question: "Rebuild the search index of mempalace_drawers",
		Consequences: []Field{
			{"Why", Plain("2,380 vectors sit in a quarantined directory; search sees 15 of 2,395.")},
			{"Will", Plain("gather 2,380 vectors from ed5a97e5….drift-20260101 and 15 from the queue, build a new index beside, check it, put it in place.")},
			{"Backup", Plain("old.castellan-20261130-1612 (4.6 MB), restored by: castellan undo")},
			{"Needs", Plain("12 MB of disk (38 GB free), about 2 s, the lock for that long.")},
		},
		Verb: "Rebuild",
		Name: "old",
		Then: did,
	}
}

func screen(w, h int) string {
	var rows []string
	for y := range h {
		rows = append(rows, strings.Repeat("漢字 screen ", w/13)+strings.Repeat("0123456789"[y%10:y%10+1], w%13))
	}
	return strings.Join(rows, "\n")
}

func drawOver(th theme.Theme, w, h int, d Dialog, keys ...tea.KeyMsg) string {
	o := NewOverlay(th, uitest.NewClock().Now)
	o.SetSize(w, h)
	o.Open(d)
	for _, k := range keys {
		o.Key(k)
	}
	return o.View(screen(w, h))
}

func copyMenu() *Menu {
	return &Menu{Name: "Copy", Then: func(Item) tea.Cmd { return did() }, Items: []Item{
		{Key: "i", Label: "id", Value: "drawer_wing_code_9f1c0d3e"},
		{Key: "p", Label: "path", Value: "~/.mempalace/palace"},
		{Key: "v", Label: "value", Value: "the text of the drawer, 漢字 and all, which is long and goes on and on and on"},
		{Label: "report", Disabled: "nothing has been checked yet"},
	}}
}

func TestDialogFrames(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(th theme.Theme, w, h int) string{
		"confirm": func(th theme.Theme, w, h int) string { return drawOver(th, w, h, rebuild(YesNo)) },
		"confirm-yes": func(th theme.Theme, w, h int) string {
			return drawOver(th, w, h, rebuild(YesNo), uitest.Key("tab"))
		},
		"confirm-typed": func(th theme.Theme, w, h int) string {
			return drawOver(th, w, h, rebuild(TypeName), uitest.Key("o"), uitest.Key("x"), uitest.Key("enter"))
		},
		"menu": func(th theme.Theme, w, h int) string {
			return drawOver(th, w, h, copyMenu(), uitest.Key("G"), uitest.Key("enter"))
		},
		"reader": func(th theme.Theme, w, h int) string {
			return drawOver(th, w, h, NewReader("drawer_1", strings.Repeat("A wall of words, with \x1b[31mcolour\x1b[0m and 漢字. ", 60)+"\n\n\tindented"))
		},
		"reader-search": func(th theme.Theme, w, h int) string {
			r := NewReader("drawer_1", strings.Repeat("A wall of words.\n", 9)+"The needle is here. A NEEDLE again.\n"+strings.Repeat("More words.\n", 9))
			return drawOver(th, w, h, r, append(append(uitest.Type("/"), uitest.Type("needle")...), uitest.Key("enter"))...)
		},
	} {
		uitest.Frames(t, name, draw)
	}
}

func TestDialogsHoldAnySize(t *testing.T) {
	t.Parallel()
	hostile := strings.Join(uitest.Hostile(), "\n")
	for _, th := range []theme.Theme{uitest.ASCII(), uitest.Color()} {
		for _, w := range []int{0, 1, 5, 30, 60, 80} {
			for _, h := range []int{0, 1, 3, 8, 9, 16, 24} {
				c := rebuild(YesNo)
				c.Question, c.Verb, c.Consequences[0] = hostile, hostile, Field{hostile, Plain(hostile)}
				n := rebuild(TypeName)
				n.Name = hostile
				m := copyMenu()
				m.Name, m.Items[0].Label, m.Items[1].Value, m.Items[3].Disabled = hostile, hostile, hostile, hostile
				for _, d := range []Dialog{c, n, m, NewReader(hostile, hostile), NewPalette(paletteRegistry(t))} {
					o := NewOverlay(th, time.Now)
					o.SetSize(w, h)
					o.Open(d)
					for _, k := range []string{"down", "enter", "end", "tab", "/"} {
						uitest.Check(t, o.View(""), w, h)
						o.Key(uitest.Key(k))
					}
				}
			}
		}
	}
}

func TestConfirmAsksThreeWays(t *testing.T) {
	t.Parallel()
	keys := func(names ...string) []tea.KeyMsg {
		var out []tea.KeyMsg
		for _, n := range names {
			out = append(out, uitest.Key(n))
		}
		return out
	}
	for _, c := range []struct {
		what   string
		level  Level
		keys   []tea.KeyMsg
		closed bool
		done   bool
	}{
		{"enter alone is no", YesNo, keys("enter"), true, false},
		{"y is yes", YesNo, keys("y"), true, true},
		{"n is no", YesNo, keys("n"), true, false},
		{"esc is no", YesNo, keys("esc"), true, false},
		{"the other button", YesNo, keys("tab", "enter"), true, true},
		{"and back", YesNo, keys("right", "left", "enter"), true, false},
		{"a capital is no answer", YesNo, keys("Y"), false, false},
		{"a pasted y is no answer", YesNo, []tea.KeyMsg{uitest.Paste("y")}, false, false},
		{"nor is a pasted line", YesNo, []tea.KeyMsg{uitest.Key("tab"), uitest.Paste("y\n\r\n")}, false, false},
		{"joined runes are no answer", YesNo, []tea.KeyMsg{uitest.Joined("yy")}, false, false},
		{"the name and enter", TypeName, append(uitest.Type("old"), uitest.Key("enter")), true, true},
		{"a wrong name", TypeName, append(uitest.Type("odl"), uitest.Key("enter")), false, false},
		{"no name", TypeName, keys("enter"), false, false},
		{"y is a letter there", TypeName, keys("y"), false, false},
		{"so is q", TypeName, keys("q"), false, false},
		{"esc is no there too", TypeName, append(uitest.Type("old"), uitest.Key("esc")), true, false},
		{"a pasted name with a line break waits", TypeName, []tea.KeyMsg{uitest.Paste("old\n")}, false, false},
		{"until enter", TypeName, []tea.KeyMsg{uitest.Paste("old\n"), uitest.Key("enter")}, true, true},
		{"joined runes and a line break may be a paste", TypeName, []tea.KeyMsg{uitest.Joined("old"), uitest.Key("enter")}, false, false},
		{"enter once more", TypeName, []tea.KeyMsg{uitest.Joined("old"), uitest.Key("enter"), uitest.Key("enter")}, true, true},
	} {
		o := NewOverlay(uitest.Plain(), uitest.NewClock().Now)
		o.SetSize(80, 24)
		o.Open(rebuild(c.level))
		var last Action
		for _, k := range c.keys {
			last, _ = o.Key(k)
		}
		if closed := o.Top() == nil; closed != c.closed {
			t.Errorf("%s: closed %v", c.what, closed)
		}
		if last.Accepted != c.done || (last.Cmd != nil) != c.done {
			t.Errorf("%s: accepted %v, command %v", c.what, last.Accepted, last.Cmd != nil)
		}
	}
	o := NewOverlay(uitest.Plain(), time.Now)
	if cmd := o.Confirm(rebuild(Unasked)); cmd == nil || o.Top() != nil {
		t.Error("what needs no question was asked")
	}
	if cmd := o.Confirm(rebuild(YesNo)); cmd != nil || o.Top() == nil {
		t.Error("what needs a question was done at once")
	}
}

// A key that was on its way when a dialog came up by itself is no answer to it.
func TestADialogThatOpensByItselfWaitsForQuiet(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	open := func() *Overlay {
		o := NewOverlay(uitest.Plain(), clock.Now)
		o.SetSize(80, 24)
		o.OpenUnasked(rebuild(YesNo))
		return o
	}
	o := open()
	for range 3 { // typing goes on
		clock.Advance(200 * time.Millisecond)
		if a, handled := o.Key(uitest.Key("y")); a.Accepted || !handled {
			t.Fatal("a key in flight answered")
		}
	}
	clock.Advance(400 * time.Millisecond)
	if a, _ := o.Key(uitest.Key("y")); !a.Accepted {
		t.Error("after a pause y does not answer")
	}
	o = open()
	for range 7 { // a key held down
		clock.Advance(200 * time.Millisecond)
		o.Key(uitest.Key("x"))
	}
	clock.Advance(100 * time.Millisecond)
	if a, _ := o.Key(uitest.Key("y")); !a.Accepted {
		t.Error("after a second and a half y does not answer yet")
	}
	o = NewOverlay(uitest.Plain(), clock.Now)
	o.Open(rebuild(YesNo))
	if a, _ := o.Key(uitest.Key("y")); !a.Accepted {
		t.Error("a dialog that was asked for makes one wait")
	}
}

func TestDialogsStack(t *testing.T) {
	t.Parallel()
	o := NewOverlay(uitest.Plain(), uitest.NewClock().Now)
	o.SetSize(80, 24)
	if _, handled := o.Key(uitest.Key("x")); handled || o.View("base") != "base" {
		t.Error("without a dialog keys and screen are touched")
	}
	menu := copyMenu()
	second := rebuild(YesNo)
	menu.Then = func(Item) tea.Cmd { o.Open(second); return nil }
	o.Open(menu)
	o.Key(uitest.Key("i"))
	if o.Top() != Dialog(second) || len(o.stack) != 1 {
		t.Error("a choice that opens a dialog closes the wrong one")
	}
	for _, k := range []string{"ctrl+c", "ctrl+z", "ctrl+l"} {
		if _, handled := o.Key(uitest.Key(k)); handled {
			t.Errorf("%s does not work through a dialog", k)
		}
	}
	if !strings.Contains(o.View(""), "Rebuild the search index") {
		t.Error("the second dialog is not drawn")
	}
	o.Key(uitest.Key("esc"))
	if o.Top() != nil {
		t.Error("esc leaves a dialog open")
	}
}

func TestMenuRefusesWithTheReason(t *testing.T) {
	t.Parallel()
	var chosen string
	m := copyMenu()
	m.Then = func(it Item) tea.Cmd { chosen = it.Label; return nil }
	m.Resize(uitest.Plain(), 60, 10)
	m.Key(uitest.Key("end"))
	if a := m.Key(uitest.Key("enter")); a.Close || !strings.Contains(strings.Join(m.Body(), "\n"), "Not now: nothing has been checked yet") {
		t.Error("a disabled item does not say why")
	}
	if a := m.Key(uitest.Paste("p")); a.Close {
		t.Error("a paste chose")
	}
	if a := m.Key(uitest.Key("p")); !a.Accepted || chosen != "path" {
		t.Errorf("p chose %q", chosen)
	}
}

func TestReaderSearchesAndCloses(t *testing.T) {
	t.Parallel()
	o := NewOverlay(uitest.Plain(), time.Now)
	o.SetSize(80, 24)
	r := NewReader("text", strings.Repeat("line\n", 100)+"needle\n"+strings.Repeat("line\n", 50)+"Needle")
	copied := false
	r.Copy = func() tea.Cmd { copied = true; return nil }
	o.Open(r)
	for _, k := range append(uitest.Type("/needleq"), uitest.Key("backspace"), uitest.Key("enter")) {
		o.Key(k)
	}
	if got := r.pager.Position(); got != "match 1 of 2" || !strings.Contains(o.View(""), "> needle") {
		t.Errorf("at %q:\n%s", got, o.View(""))
	}
	o.Key(uitest.Key("n"))
	if !strings.Contains(o.View(""), "> Needle") {
		t.Error("n does not go to the next match")
	}
	o.Key(uitest.Key("n"))
	o.Key(uitest.Key("N"))
	if got := r.pager.Position(); got != "match 2 of 2" {
		t.Errorf("round the ends to %q", got)
	}
	o.Key(uitest.Key("y"))
	o.Key(uitest.Key("esc")) // ends the search
	if o.Top() == nil || !copied {
		t.Error("esc closed the text while it was searched, or y did not copy")
	}
	o.Key(uitest.Key("esc"))
	if o.Top() != nil {
		t.Error("esc does not close the text")
	}
}
