//go:build !windows

package theme

import (
	"io"
	"testing"

	"github.com/muesli/termenv"
)

func TestDetectReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	type env map[string]string
	for _, c := range []struct {
		name string
		goos string
		env  env
		want Options
	}{
		{"nothing known", "linux", env{}, Options{Profile: termenv.Ascii, Glyphs: "ascii"}},
		{"a modern terminal", "linux",
			env{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "en_GB.UTF-8"},
			Options{Profile: termenv.TrueColor, Glyphs: "unicode"}},
		{"sixteen colours", "linux", env{"TERM": "xterm", "LANG": "C.utf8"},
			Options{Profile: termenv.ANSI, Glyphs: "unicode"}},
		{"NO_COLOR", "linux", env{"TERM": "xterm-256color", "NO_COLOR": "1", "LANG": "de_DE.UTF-8"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode"}},
		{"an empty NO_COLOR means nothing", "linux", env{"TERM": "xterm-256color", "NO_COLOR": ""},
			Options{Profile: termenv.ANSI256, Glyphs: "ascii"}},
		{"a dumb terminal", "linux", env{"TERM": "dumb", "COLORTERM": "truecolor", "LANG": "en_US.UTF-8"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii"}},
		{"the Linux console", "linux", env{"TERM": "linux", "LANG": "en_US.UTF-8"},
			Options{Profile: termenv.ANSI, Glyphs: "ascii"}},
		{"LC_ALL wins", "linux", env{"TERM": "screen", "LC_ALL": "C", "LC_CTYPE": "en_US.UTF-8", "LANG": "en_US.UTF-8"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii"}},
		{"LC_CTYPE before LANG", "linux", env{"LC_CTYPE": "en_US.UTF-8", "LANG": "C"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode"}},
		{"light", "linux", env{"COLORFGBG": "0;15"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii", Background: LightBackground}},
		{"dark, rxvt", "linux", env{"COLORFGBG": "15;default;0"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii", Background: DarkBackground}},
		{"background by default", "linux", env{"COLORFGBG": "15;default"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii"}},
		{"no background at all", "linux", env{"COLORFGBG": "7"},
			Options{Profile: termenv.Ascii, Glyphs: "ascii"}},
		{"Japanese", "linux", env{"LANG": "ja_JP.UTF-8"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode", Ambiguous: Unsure}},
		{"Japanese and narrow", "linux", env{"LANG": "ja_JP.UTF-8", "RUNEWIDTH_EASTASIAN": "0"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode"}},
		{"wide by decree", "linux", env{"LANG": "en_US.UTF-8", "RUNEWIDTH_EASTASIAN": "1"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode", Ambiguous: Wide}},
		{"Windows Terminal", "windows", env{"WT_SESSION": "1"},
			Options{Profile: termenv.Ascii, Glyphs: "unicode"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			get := func(k string) string { return c.env[k] }
			out := termenv.NewOutput(io.Discard, termenv.WithEnvironment(environ(get)), termenv.WithTTY(true))
			if got := detect(get, c.goos, out); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestNothingIsPaintedIntoAPipe(t *testing.T) {
	t.Parallel()
	get := func(k string) string {
		return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}[k]
	}
	if got := Detect(get, io.Discard); got.Profile != termenv.Ascii {
		t.Errorf("profile %v for a pipe", got.Profile)
	}
}
