package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

func typeInto(in *Input, keys ...tea.KeyMsg) InputEvent {
	last := InputNone
	for _, k := range keys {
		last = in.Key(k)
	}
	return last
}

func TestInputTakesEveryKeyAsText(t *testing.T) {
	t.Parallel()
	in := NewInput("/", "")
	if in.Key(uitest.Key("q")) != InputNone || in.Value() != "" {
		t.Error("an input without focus takes keys")
	}
	in.Focus()
	if e := typeInto(in, uitest.Type("q?:j G")...); e != InputChange || in.Value() != "q?:j G" {
		t.Errorf("%q, event %d", in.Value(), e)
	}
	if e := in.Key(uitest.Joined("jr")); e != InputChange || in.Value() != "q?:j Gjr" {
		t.Errorf("joined runes: %q", in.Value())
	}
	if e := in.Key(uitest.Key("left")); e != InputNone {
		t.Errorf("a cursor move is event %d", e)
	}
	if in.Key(uitest.Key("enter")) != InputSubmit || in.Key(uitest.Key("esc")) != InputCancel {
		t.Error("enter and esc are not told")
	}
	if e := in.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x"), Alt: true}); e != InputNone {
		t.Error("alt+x is text")
	}
}

func TestPasteIsCleanAndSubmitsNothing(t *testing.T) {
	t.Parallel()
	in := NewInput("/", "")
	in.Focus()
	if e := in.Key(uitest.Paste("rm -rf\r\n\x1b[31mx\u202e\ty")); e != InputChange {
		t.Errorf("event %d", e)
	}
	if strings.ContainsAny(in.Value(), "\r\n\t\x1b\u202e") || !strings.HasPrefix(in.Value(), "rm -rf") {
		t.Errorf("%q", in.Value())
	}
	in.SetValue("")
	in.Key(uitest.Paste(strings.Repeat("x", 100_000)))
	if n := len(in.Value()); n > inputLimit {
		t.Errorf("%d characters were taken", n)
	}
}

func TestInputFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "input", func(th theme.Theme, w, h int) string {
		empty := NewInput("/", "type to filter 1,500 drawers by any of their cells")
		empty.Focus()
		short := NewInput("/", "")
		short.Focus()
		typeInto(short, uitest.Type("wing_code")...)
		middle := NewInput("Name: ", "")
		middle.Focus()
		middle.SetValue(strings.Repeat("漢字 name ", 20))
		typeInto(middle, uitest.Key("left"), uitest.Key("left"), uitest.Key("left"), uitest.Key("left"), uitest.Key("left"), uitest.Key("left"))
		kept := NewInput("/", "")
		kept.SetValue("kept")
		var rows []string
		for _, in := range []*Input{empty, short, middle, kept} {
			rows = append(rows, in.View(th, w))
		}
		return strings.Join(rows, "\n")
	})
}

func TestInputShowsItsCursorAtAnyWidth(t *testing.T) {
	t.Parallel()
	for _, th := range []theme.Theme{uitest.ASCII(), uitest.Color()} {
		for _, s := range uitest.Hostile() {
			in := NewInput("> ", s)
			in.Focus()
			in.Key(uitest.Paste(s))
			typeInto(in, uitest.Key("left"), uitest.Key("left"))
			for w := range 40 {
				v := in.View(th, w)
				uitest.Check(t, v, w, 1)
				if w >= 4 && !strings.Contains(v, th.Glyphs.Caret) {
					t.Fatalf("no cursor in %d cells for %q: %q", w, s, v)
				}
			}
		}
	}
}
