package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui/uitest"
)

func run(name string, log *[]string) func() tea.Cmd {
	return func() tea.Cmd {
		if log != nil {
			*log = append(*log, name)
		}
		return did()
	}
}

func commands(log *[]string) []Command {
	return []Command{
		{ID: "palace.open", Title: "Open the palace", Short: "open", Keys: []string{"enter"}, Group: "Palace", Run: run("open", log)},
		{ID: "palace.fix", Title: "Fix what is wrong", Short: "fix", Keys: []string{"f"}, Group: "Palace", Run: run("fix", log)},
		{ID: "palace.holders", Title: "Show who holds it", Short: "holders", Keys: []string{"p"}, Group: "Palace", Run: run("holders", log)},
		{ID: "palace.mine", Title: "File a folder into a palace", Short: "mine", Keys: []string{"m"}, Group: "Palace", Run: run("mine", log),
			Disabled: func() string { return "held by PID 4121" }},
		{ID: "palace.delete", Title: "Delete drawers", Short: "delete", Keys: []string{"D"}, Group: "Palace", Dangerous: true, Run: run("delete", log)},
		{ID: "demo", Title: "Make sample palaces", Run: run("demo", log)},
		{ID: "app.help", Title: "Help for this screen", Short: "help", Keys: []string{"?"}, Group: "Everywhere", Pinned: true, Run: run("help", log)},
		{ID: "app.palette", Title: "Find a command", Short: "commands", Keys: []string{":"}, Group: "Everywhere", Pinned: true, Hidden: false, Run: run("palette", log)},
		{ID: "app.quit", Title: "Go back, or quit", Short: "quit", Keys: []string{"q", "ctrl+q"}, Group: "Everywhere", Pinned: true, Run: run("quit", log)},
	}
}

func paletteRegistry(t testing.TB) *Registry {
	t.Helper()
	all := append(commands(nil), NewTable(theme.Plain()).Commands(nil)...)
	r, err := NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPaletteFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "palette", func(th theme.Theme, w, h int) string {
		return drawOver(th, w, h, NewPalette(paletteRegistry(t)), uitest.Key("down"))
	})
	uitest.Frames(t, "palette-refused", func(th theme.Theme, w, h int) string {
		return drawOver(th, w, h, NewPalette(paletteRegistry(t)), append(uitest.Type("fil fold"), uitest.Key("enter"))...)
	})
	uitest.Frames(t, "palette-nothing", func(th theme.Theme, w, h int) string {
		return drawOver(th, w, h, NewPalette(paletteRegistry(t)), uitest.Type("xyzzy")...)
	})
}

func TestPaletteRunsWhatIsFound(t *testing.T) {
	t.Parallel()
	var log []string
	r, err := NewRegistry(commands(&log)...)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOverlay(uitest.Plain(), time.Now)
	o.SetSize(80, 24)
	typed := func(s string) Action {
		o.Open(NewPalette(r))
		for _, k := range uitest.Type(s) {
			o.Key(k)
		}
		a, _ := o.Key(uitest.Key("enter"))
		return a
	}
	if a := typed("whoholds"); !a.Accepted || a.Cmd == nil || o.Top() != nil || strings.Join(log, " ") != "holders" {
		t.Errorf("ran %q", log)
	}
	if a := typed("quit"); !a.Accepted || log[1] != "quit" {
		t.Errorf("q in the palette: %q", log) // and not the q key
	}
	if a := typed("file a folder"); a.Close || len(log) != 2 {
		t.Error("a disabled command ran")
	} else if !strings.Contains(o.View(""), "Not now: held by PID 4121") {
		t.Error("the reason is not shown")
	}
	o.Close()
	if a := typed("xyzzy"); a.Close {
		t.Error("nothing found, and something happened")
	}
	o.Key(uitest.Key("esc"))
	if o.Top() != nil {
		t.Error("esc leaves the palette open")
	}
	r.SetReadOnly(true)
	if a := typed("delete"); a.Close {
		t.Error("a dangerous command was found in read-only mode")
	}
}
