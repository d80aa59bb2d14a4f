package ui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui/uitest"
)

func TestTableCommandsDriveTheTable(t *testing.T) {
	t.Parallel()
	tab := palaceTable(uitest.Plain())
	tab.SetSize(80, 4)
	changed := 0
	r, err := NewRegistry(tab.Commands(func() tea.Cmd { changed++; return nil })...)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ key, id string }{
		{"j", "~/code/notes"}, {"down", "~/code/漢字の棟/👩‍👩‍👧 family"}, {"k", "~/code/notes"}, {"G", "team"}, {"g", "~/.mempalace/palace"},
		{"ctrl+d", "~/code/notes"}, {"ctrl+u", "~/.mempalace/palace"}, {"pgdown", "~/évil\x1b[31m\u202eecalap"}, {"pgup", "~/.mempalace/palace"},
	} {
		if out := r.Key(uitest.Key(step.key)); out.ID == "" || tab.ID() != step.id {
			t.Errorf("%s goes to %q, want %q", step.key, tab.ID(), step.id)
		}
	}
	if out := r.Key(uitest.Key("S")); out.Reason == "" {
		t.Error("an order that is not there is reversed")
	}
	r.Key(uitest.Key("s"))
	r.Key(uitest.Key("S"))
	if c, desc := tab.Order(); c != 0 || !desc {
		t.Errorf("ordered by %d, %v", c, desc)
	}
	r.Key(uitest.Key("w"))
	r.Key(uitest.Key("space"))
	if !tab.Wide() || len(tab.Marked()) != 1 || changed != 13 {
		t.Errorf("wide %v, marked %q, %d changes", tab.Wide(), tab.Marked(), changed)
	}
}
