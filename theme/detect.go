package theme

import (
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/muesli/termenv"
)

// Detect reads what the environment tells about the terminal out, without asking
// the terminal itself: a question that is never answered costs seconds.
//
//   - Colours: NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, COLORTERM, and none if
//     out is no terminal. NO_COLOR and TERM=dumb win over any named theme.
//   - Background: COLORFGBG, else unknown.
//   - Glyphs: Unicode if the locale (LC_ALL, LC_CTYPE, LANG) says UTF-8 and TERM
//     is neither dumb nor the Linux console, whose font has 512 characters.
//   - Ambiguous width: RUNEWIDTH_EASTASIAN=1 or 0; else unsure in a Chinese,
//     Japanese or Korean locale; else narrow.
func Detect(getenv func(string) string, out io.Writer) Options {
	return detect(getenv, runtime.GOOS, termenv.NewOutput(out, termenv.WithEnvironment(environ(getenv))))
}

func detect(getenv func(string) string, goos string, out *termenv.Output) Options {
	o := Options{
		Profile:    out.EnvColorProfile(),
		Background: backgroundFrom(getenv),
		Glyphs:     "ascii",
		Ambiguous:  ambiguousFrom(getenv),
	}
	term := getenv("TERM")
	if term == "dumb" {
		o.Profile = termenv.Ascii
	}
	utf8 := isUTF8(locale(getenv))
	if goos == "windows" {
		// No locale there; the new terminal takes UTF-8, the old console
		// shows it by code page.
		utf8 = utf8 || getenv("WT_SESSION") != ""
	}
	if utf8 && term != "dumb" && term != "linux" {
		o.Glyphs = "unicode"
	}
	return o
}

// backgroundFrom reads COLORFGBG, "foreground;background" or
// "foreground;default;background" in the 16 ANSI colours, as rxvt, Konsole and
// others set it.
func backgroundFrom(getenv func(string) string) Background {
	v := getenv("COLORFGBG")
	n, err := strconv.Atoi(v[strings.LastIndexByte(v, ';')+1:])
	switch {
	case err != nil || n < 0 || n > 15 || !strings.Contains(v, ";"):
		return UnknownBackground
	case n == 7 || n > 8:
		return LightBackground
	}
	return DarkBackground
}

func ambiguousFrom(getenv func(string) string) Ambiguous {
	switch getenv("RUNEWIDTH_EASTASIAN") {
	case "1":
		return Wide
	case "0":
		return Narrow
	}
	lang, _, _ := strings.Cut(locale(getenv), "_")
	switch lang {
	case "zh", "ja", "ko":
		return Unsure
	}
	return Narrow
}

// locale is the one that decides about characters: the first of the three that
// is set, even if the others disagree (POSIX).
func locale(getenv func(string) string) string {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(k); v != "" {
			return v
		}
	}
	return ""
}

func isUTF8(locale string) bool {
	l := strings.ToLower(locale)
	return strings.Contains(l, "utf-8") || strings.Contains(l, "utf8")
}

// environ lets termenv read through getenv.
type environ func(string) string

func (e environ) Getenv(k string) string { return e(k) }
func (e environ) Environ() []string      { return nil }
