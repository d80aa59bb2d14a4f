// Package uitest helps to test what is drawn: golden frames at the three sizes,
// with and without colour, and the rules every frame keeps.
package uitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	// Its init defines the -update flag. Whoever uses teatest links it too, and
	// a flag can be defined only once.
	_ "github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"castellan/theme"
)

// Sizes are those at which every screen and widget is looked at.
func Sizes() [][2]int { return [][2]int{{80, 24}, {120, 40}, {40, 12}} }

// Plain is the theme of most golden frames: Unicode, no colour.
func Plain() theme.Theme { return must(theme.Options{Name: "none", Glyphs: "unicode"}) }

// ASCII is the theme of a terminal that can do nothing.
func ASCII() theme.Theme { return must(theme.Options{Name: "none", Glyphs: "ascii"}) }

// Color is the dark theme in true colour.
func Color() theme.Theme {
	return must(theme.Options{Name: "dark", Glyphs: "unicode", Profile: termenv.TrueColor})
}

func must(o theme.Options) theme.Theme {
	th, err := theme.New(o)
	if err != nil {
		panic(err)
	}
	return th
}

// Frames draws at every size, with and without colour, checks each frame, and
// compares it with testdata/golden/NAME.WxH.txt. The coloured frame must show the
// same text as the plain one, so that nothing is told by colour alone.
func Frames(t testing.TB, name string, draw func(th theme.Theme, w, h int) string) {
	t.Helper()
	for _, size := range Sizes() {
		w, h := size[0], size[1]
		plain, color := draw(Plain(), w, h), draw(Color(), w, h)
		Check(t, plain, w, h)
		Check(t, color, w, h)
		if diff := cmp.Diff(trimRight(plain), trimRight(ansi.Strip(color))); diff != "" {
			t.Errorf("%s %dx%d: colour changes the text (-plain +colour):\n%s", name, w, h, diff)
		}
		Golden(t, fmt.Sprintf("%s.%dx%d.txt", name, w, h), plain)
		Golden(t, fmt.Sprintf("%s.%dx%d.color.txt", name, w, h), color)
	}
}

// Check fails if a frame breaks the rules that hold for all of them: no more than
// h lines, none wider than w cells, no control character and no escape sequence
// but colours.
func Check(t testing.TB, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if frame == "" {
		lines = nil
	}
	if len(lines) > h {
		t.Errorf("%d lines in a frame of %dx%d:\n%s", len(lines), w, h, frame)
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got > w {
			t.Errorf("line %d is %d cells wide in a frame of %dx%d: %q", i+1, got, w, h, line)
		}
		if bad := rawControl(line); bad != "" {
			t.Errorf("line %d holds %s: %q", i+1, bad, line)
		}
	}
}

// rawControl names what a line must not hold, "" if it is clean.
func rawControl(line string) string {
	for i := 0; i < len(line); {
		if line[i] != 0x1b {
			i++
			continue
		}
		end := i + 2
		for end < len(line) && strings.IndexByte("0123456789;:", line[end]) >= 0 {
			end++
		}
		if end >= len(line) || line[i+1] != '[' || line[end] != 'm' {
			return fmt.Sprintf("an escape sequence that is no colour at byte %d", i)
		}
		line = line[:i] + line[end+1:]
	}
	for _, r := range line {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// Golden compares a frame with the file of that name under testdata/golden, or
// writes it with -update. Blanks at the end of lines do not count; escapes are
// kept in a visible form.
func Golden(t testing.TB, name, frame string) {
	t.Helper()
	got := strings.ReplaceAll(trimRight(frame), "\x1b", "␛") + "\n"
	path := filepath.Join("testdata", "golden", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with: go test -update)", err)
	}
	// Git on Windows may have changed the line ends.
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s differs (-golden +now):\n%s\nframe:\n%s", name, diff, got)
	}
}

func trimRight(frame string) string {
	lines := strings.Split(frame, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
