package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui/uitest"
)

// Keys typed fast come in one message. They do what they would one by one, but
// they answer no question that came up between them.
func TestJoinedKeysGoWhereTheyBelong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		msg  tea.KeyMsg
		keys string // what reached the screen
		top  string // title of the dialog left open
		text string // what the input has
	}{
		{uitest.Joined("jk"), "jk", "", ""},
		{uitest.Joined("jDy"), "jD", "Rebuild the search index of mempalace_drawers", ""},
		{uitest.Joined("D\rk"), "D", "Rebuild the search index of mempalace_drawers", ""},
		{uitest.Joined(":fix"), ":", "Commands", ""},
		{uitest.Joined("/jk"), "/", "", "jk"},
		{uitest.Joined("cpj"), "cj", "", ""}, // p chooses in the menu
		{uitest.Paste("jk"), "", "", ""},
		{uitest.Key("ctrl+c"), "ctrl+c", "", ""},
	} {
		o := NewOverlay(uitest.Plain(), time.Now)
		o.SetSize(80, 24)
		in := NewInput("/", "")
		var got string
		key := func(k tea.KeyMsg) tea.Cmd {
			if in.Focused() {
				in.Key(k)
				return nil
			}
			got += keyName(k)
			switch keyName(k) {
			case "D":
				o.Open(rebuild(YesNo))
			case ":":
				o.Open(NewPalette(paletteRegistry(t)))
			case "c":
				o.Open(copyMenu())
			case "/":
				in.Focus()
			}
			return nil
		}
		o.Dispatch(c.msg, in.Focused, key)
		top := ""
		if d := o.Top(); d != nil {
			top = d.Title()
		}
		if got != c.keys || top != c.top || in.Value() != c.text {
			t.Errorf("%q: keys %q, dialog %q, input %q", c.msg, got, top, in.Value())
		}
	}
	o := NewOverlay(uitest.Plain(), time.Now)
	in := NewInput("/", "")
	in.Focus()
	o.Dispatch(uitest.Joined("DDD"), in.Focused, func(k tea.KeyMsg) tea.Cmd { in.Key(k); return nil })
	if in.Value() != "DDD" {
		t.Errorf("an input got %q", in.Value())
	}
}

func TestWhatIsAgreedToCanBeReadInFull(t *testing.T) {
	t.Parallel()
	for _, level := range []Level{YesNo, TypeName} {
		o := NewOverlay(uitest.Plain(), time.Now)
		o.SetSize(40, 12)
		c := rebuild(level)
		o.Open(c)
		if v := o.View(""); !strings.Contains(v, "up and down for more") || strings.Contains(v, "about 2 s") {
			t.Errorf("level %d: nothing tells that there is more:\n%s", level, v)
		}
		for range 20 {
			o.Key(uitest.Key("down"))
		}
		if v := o.View(""); !strings.Contains(v, "        long.\n") {
			t.Errorf("level %d: the end cannot be reached:\n%s", level, v)
		}
	}
}

func TestScrollKeys(t *testing.T) {
	t.Parallel()
	p := NewPager(uitest.Plain())
	p.SetText(numbered(100))
	p.SetSize(20, 10)
	for _, c := range []struct {
		key string
		top int
	}{
		{"j", 1}, {"down", 2}, {"k", 1}, {"up", 0}, {"pgdown", 9}, {"space", 18}, {"pgup", 9}, {"b", 0},
		{"ctrl+d", 5}, {"ctrl+u", 0}, {"G", 91}, {"g", 0}, {"end", 91}, {"home", 0},
	} {
		if !scrollKey(p, uitest.Key(c.key), true) || p.top != c.top {
			t.Errorf("%s goes to row %d, want %d", c.key, p.top, c.top)
		}
	}
	for _, k := range []string{"j", "space", "G"} {
		if scrollKey(p, uitest.Key(k), false) || p.top != 0 {
			t.Errorf("%s scrolls where it is text", k)
		}
	}
	if scrollKey(p, uitest.Key("x"), true) || !scrollKey(p, uitest.Key("down"), false) {
		t.Error("x scrolls, or down does not where letters are text")
	}
}

func TestMenuAndPaletteStayInTheirLists(t *testing.T) {
	t.Parallel()
	m := copyMenu()
	p := NewPalette(paletteRegistry(t))
	p.Resize(uitest.Plain(), 60, 8)
	for _, c := range []struct {
		menu, palette string
		at            [2]int
	}{
		{"k", "up", [2]int{0, 0}}, {"j", "down", [2]int{1, 1}}, {"down", "tab", [2]int{2, 2}}, {"up", "shift+tab", [2]int{1, 1}},
		{"end", "pgdown", [2]int{3, 7}}, {"j", "ctrl+n", [2]int{3, 8}}, {"g", "pgup", [2]int{0, 2}}, {"G", "ctrl+p", [2]int{3, 1}},
	} {
		m.Key(uitest.Key(c.menu))
		p.Key(uitest.Key(c.palette))
		if got := [2]int{m.cursor, p.cursor}; got != c.at {
			t.Errorf("%s, %s: at %v, want %v", c.menu, c.palette, got, c.at)
		}
	}
	empty := &Menu{Name: "Nothing"}
	empty.Resize(uitest.Plain(), 40, 5)
	if a := empty.Key(uitest.Key("enter")); a.Close || len(empty.Body()) != 0 {
		t.Error("something is chosen of nothing")
	}
}
