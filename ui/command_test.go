package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

func TestRegistryRefusesConflicts(t *testing.T) {
	t.Parallel()
	ok := func(id string, keys ...string) Command {
		return Command{ID: id, Title: id, Keys: keys, Run: run(id, nil)}
	}
	danger := ok("rm", "x")
	danger.Dangerous = true
	backspace := ok("rm", "backspace")
	backspace.Dangerous = true
	reverse := ok("rm", "S")
	reverse.Dangerous = true
	for _, c := range []struct {
		what string
		cmds []Command
		say  string
	}{
		{"same key", []Command{ok("a", "x"), ok("b", "y", "x")}, `key "x" runs both a and b`},
		{"same key by two names", []Command{ok("a", " "), ok("b", "space")}, `key "space"`},
		{"same ID", []Command{ok("a"), ok("a")}, "two commands are called a"},
		{"no such key", []Command{ok("a", "entre")}, `"entre", which is no key`},
		{"dangerous on a small letter", []Command{danger}, "use a capital letter"},
		{"dangerous on backspace", []Command{backspace}, "use a capital letter"},
		{"dangerous on a harmless capital", []Command{reverse}, "use a capital letter"},
		{"nothing to run", []Command{{ID: "a", Title: "a"}}, "lacks an ID"},
	} {
		_, err := NewRegistry(c.cmds...)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	_, err := NewRegistry(ok("a", "x"), ok("b", "x"))
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Key != "x" || conflict.First != "a" || conflict.Second != "b" {
		t.Errorf("%#v", err)
	}
	if _, err := NewRegistry(ok("a", "x", "ctrl+x", "alt+x", "f5", "pgdown", "é"), ok("b", "X", "space")); err != nil {
		t.Error(err)
	}
}

func TestKeysRunCommandsOrSayWhyNot(t *testing.T) {
	t.Parallel()
	var log []string
	r, err := NewRegistry(commands(&log)...)
	if err != nil {
		t.Fatal(err)
	}
	if out := r.Key(uitest.Key("f")); out.ID != "palace.fix" || out.Cmd == nil || out.Reason != "" {
		t.Errorf("%+v", out)
	}
	if out := r.Key(uitest.Key("m")); out.Cmd != nil || out.Reason != "File a folder into a palace: held by PID 4121" {
		t.Errorf("%+v", out)
	}
	for _, k := range []tea.KeyMsg{uitest.Key("z"), uitest.Paste("f"), uitest.Joined("ff"), {Type: tea.KeyRunes}} {
		if out := r.Key(k); out.ID != "" || out.Cmd != nil {
			t.Errorf("%q ran %+v", k, out)
		}
	}
	if out := r.Run("no such"); out.ID != "" {
		t.Errorf("%+v", out)
	}
	if out := r.Run("demo"); out.Cmd == nil {
		t.Errorf("%+v", out)
	}
	if !slices.Equal(log, []string{"fix", "demo"}) {
		t.Errorf("ran %q", log)
	}
}

func TestReadOnlyModeHasNothingDangerous(t *testing.T) {
	t.Parallel()
	var log []string
	r, _ := NewRegistry(commands(&log)...)
	r.SetReadOnly(true)
	out := r.Key(uitest.Key("D"))
	if out.Cmd != nil || !strings.Contains(out.Reason, "read-only") || len(log) > 0 {
		t.Errorf("%+v, ran %q", out, log)
	}
	help := strings.Join(Fields(uitest.Plain(), r.Help(), 80), "\n")
	if strings.Contains(help, "Delete") || strings.Contains(r.Footer(uitest.Plain(), 200), "delete") {
		t.Error("a dangerous command is offered")
	}
	r.SetReadOnly(false)
	if out := r.Key(uitest.Key("D")); out.Cmd == nil {
		t.Error("it does not come back")
	}
}

func TestFooterAndHelpFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "footer", func(th theme.Theme, w, h int) string {
		r := paletteRegistry(t)
		rows := []string{r.Footer(th, w)}
		for n := 5; n <= w; n += 12 {
			rows = append(rows, r.Footer(th, n))
		}
		return strings.Join(rows, "\n")
	})
	uitest.Frames(t, "help", func(th theme.Theme, w, h int) string {
		p := NewPager(th)
		p.SetFields(paletteRegistry(t).Help())
		p.SetSize(w, h)
		return p.View()
	})
}

func TestFooterAlwaysHasTheWayToMore(t *testing.T) {
	t.Parallel()
	r := paletteRegistry(t)
	for w := 8; w < 100; w++ {
		line := r.Footer(uitest.Plain(), w)
		if !strings.Contains(line, "? help") {
			t.Errorf("at %d cells: %q", w, line)
		}
		uitest.Check(t, line, w, 1)
	}
	if strings.Contains(r.Footer(uitest.Plain(), 200), "mine") {
		t.Error("a command that cannot run is offered")
	}
}

func TestSplitKeysTakesJoinedRunesApart(t *testing.T) {
	t.Parallel()
	names := func(msg tea.KeyMsg) []string {
		var out []string
		for _, k := range SplitKeys(msg) {
			out = append(out, keyName(k))
		}
		return out
	}
	if got := names(uitest.Joined("jr ?")); !slices.Equal(got, []string{"j", "r", "space", "?"}) {
		t.Errorf("%q", got)
	}
	if got := SplitKeys(uitest.Paste("rrr")); len(got) != 1 || !got[0].Paste || len(got[0].Runes) != 3 {
		t.Errorf("a paste becomes %v", got)
	}
	if got := names(uitest.Key("enter")); !slices.Equal(got, []string{"enter"}) {
		t.Errorf("%q", got)
	}
	alt := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ab"), Alt: true}
	if got := names(alt); !slices.Equal(got, []string{"alt+a", "b"}) {
		t.Errorf("%q", got)
	}
}
