package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTableColumnsLineUpWhateverTheScript(t *testing.T) {
	tab := newTable(column{title: "WING", flex: true}, column{title: "DRAWERS", right: true}, column{title: "STATE"})
	tab.add("日本語のノート", "1,500", "ok")
	tab.add("🏰 castle", "12", "error")
	tab.add("plain", "192,997", "DANGER")
	for _, width := range []int{0, 80, 30} {
		var buf bytes.Buffer
		tab.write(&buf, ink{}, "", width)
		lines := strings.Split(strings.TrimRight(buf.String(), "\n"), "\n")
		column := func(line, before string) int { return ansi.StringWidth(line[:strings.Index(line, before)]) }
		want := column(lines[0], "STATE")
		for i, state := range []string{"ok", "error", "DANGER"} {
			if got := column(lines[i+1], state); got != want {
				t.Errorf("width %d: %q begins at cell %d, its title at %d\n%s", width, state, got, want, buf.String())
			}
		}
		for _, l := range lines {
			if width > 0 && ansi.StringWidth(l) > width {
				t.Errorf("%q is wider than %d", l, width)
			}
		}
	}
}

func TestNarrowTerminalKeepsTheColumnsThatMatter(t *testing.T) {
	tab := newTable(column{title: "PALACE", flex: true, path: true}, column{title: "DISK", spare: 1}, column{title: "STATE"}, column{title: "FROM", spare: 2})
	tab.add("/home/u/palace", "5.9 MB", "ok", "config")
	for width, want := range map[int]string{0: "PALACE DISK STATE FROM", 37: "PALACE DISK STATE FROM", 30: "PALACE DISK STATE", 22: "PALACE STATE", 5: "PALACE STATE"} {
		var buf bytes.Buffer
		tab.write(&buf, ink{}, "", width)
		if got := strings.Join(strings.Fields(strings.SplitN(buf.String(), "\n", 2)[0]), " "); got != want {
			t.Errorf("width %d: %s, want %s", width, got, want)
		}
	}
}

func TestFiguresAreNeverCut(t *testing.T) {
	tab := newTable(column{title: "PATH", flex: true, path: true}, column{title: "DRAWERS", right: true})
	tab.add("/a/very/long/path/to/some/palace", "1,234,567,890")
	var buf bytes.Buffer
	tab.write(&buf, ink{}, "", 30)
	if !strings.Contains(buf.String(), "1,234,567,890") || !strings.Contains(buf.String(), "…") || !strings.Contains(buf.String(), "palace") {
		t.Errorf("\n%s", buf.String())
	}
}

func TestJSONHoldsNoByteATerminalObeys(t *testing.T) {
	in := map[string]string{"a": "x\u009b31m\x1b]0;\x07\x7f", "b": "é日本"}
	var buf bytes.Buffer
	if err := writeJSON(&buf, in); err != nil {
		t.Fatal(err)
	}
	for _, r := range buf.String() {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f) {
			t.Errorf("%U in %q", r, buf.String())
		}
	}
	var out map[string]string
	if err := json.Unmarshal(buf.Bytes(), &out); err != nil || out["a"] != in["a"] || out["b"] != in["b"] {
		t.Errorf("%v: %q", err, out)
	}
}
