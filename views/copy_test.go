package views

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace/health"
	"castellan/ui/uitest"
)

// copied is what went into the terminal's clipboard last.
func copied(t *testing.T, d *driver) string {
	t.Helper()
	all := d.clip.String()
	i := strings.LastIndex(all, "\x1b]52;c;")
	if i < 0 {
		t.Fatalf("nothing was copied:\n%s", d.frame())
	}
	s := all[i+len("\x1b]52;c;"):]
	b, err := base64.StdEncoding.DecodeString(s[:strings.IndexAny(s, "\x07\x1b")])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// remote makes the clipboard tool of the machine stay out of it.
func remote(o *Options) {
	o.Getenv = func(name string) string {
		if name == "SSH_TTY" {
			return "/dev/pts/9"
		}
		return ""
	}
}

func TestEverythingOnAScreenCanBeCopied(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "quarantine-holds-more")
	drawer := ids(t, site, "healthy")[1499]
	for _, c := range []struct {
		keys string
		want func(string) bool
	}{
		{"y p", func(s string) bool { return s == fakeHome+"/palaces/healthy" }},
		{"y r", func(s string) bool { return strings.Contains(s, "mempalace_drawers: 1,500 drawers, 1,500 searchable") }},
		{"y j", func(s string) bool {
			var r health.Report
			return json.Unmarshal([]byte(s), &r) == nil && r.Palace.Path == fakeHome+"/palaces/healthy"
		}},
		{"d y i", func(s string) bool { return s == drawer }},
		{"d y t", func(s string) bool { return strings.HasPrefix(s, "Chunk 1499:") }},
		{"d y s", func(s string) bool { return s == "/home/u/notes/file_214.md" }},
		{"d y m", func(s string) bool { return strings.Contains(s, `"chunk_index":`) && json.Valid([]byte(s)) }},
		{"d space space y k", func(s string) bool { return strings.Contains(s, drawer) && strings.Count(s, "\n") == 1 }},
		{"enter tab y w", func(s string) bool { return s == "wing_home" }},
		{"j f y t", func(s string) bool { return strings.Contains(s, "vectors-missing") }},
		{"p y p", func(s string) bool { return s == fakeHome+"/palaces/healthy" }},
	} {
		d := newDriver(t, site, uitest.Plain(), 80, 24, remote)
		d.keys(c.keys)
		if got := copied(t, d); !c.want(got) {
			t.Errorf("%s copied %q", c.keys, got)
		}
		d.shows("to the terminal's clipboard")
	}
}

func TestTheCopyMenuShowsTheValuesToSelect(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 120, 40, remote)
	d.keys("d y")
	d.shows("/home/u/notes/file_214.md", "drawer_wing_code_decisions")
}

func TestAnErrorCanBeCopied(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24, remote)
	d.keys("d e")
	d.shows("is not there any more")
	d.keys("y e")
	if got := copied(t, d); !strings.Contains(got, "not there any more") {
		t.Errorf("copied %q", got)
	}
	d.keys(":")
	d.typing("messages")
	d.keys("enter y")
	if got := copied(t, d); !strings.Contains(got, "not there any more") || !strings.Contains(got, "file_214.md") {
		t.Errorf("copied %q", got)
	}
}

func TestTheEditorIsRunWithoutAShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a b; touch x $(touch y).md")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		visual, editor string
		want           []string
	}{
		{"", "", nil},
		{"", "vi", []string{"vi"}},
		{"emacs -nw", "vi", []string{"emacs", "-nw"}},
		{"  ", "nano  -w", []string{"nano", "-w"}},
	} {
		env := map[string]string{"VISUAL": c.visual, "EDITOR": c.editor}
		got := editorWords(func(k string) string { return env[k] })
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%+v gives %q", c, got)
		}
	}
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24, func(o *Options) {
		o.Getenv = func(string) string { return "" }
	})
	d.run(d.app.openEditor(path))
	d.shows("No editor is set")
	d.run(d.app.openEditor(dir))
	d.shows("it is no regular file")
}

func TestAfterTheEditorEverythingIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy"))
	d := newDriver(t, s, uitest.Plain(), 80, 24)
	d.app.paused = true // as while it runs
	asked := s.count(fakeHome + "/palaces/healthy")
	d.wait(refreshPace)
	if s.count(fakeHome+"/palaces/healthy") != asked {
		t.Error("palaces were read while the editor had the terminal")
	}
	d.send(resumedMsg{})
	if s.count(fakeHome+"/palaces/healthy") == asked {
		t.Error("nothing was read after it")
	}
}
