package theme

import (
	"reflect"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/width"
)

// eachGlyph calls f with the name and text of every glyph of a set.
func eachGlyph(g Glyphs, f func(name, s string)) {
	v := reflect.ValueOf(g)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if frames, ok := v.Field(i).Interface().([]string); ok {
			for _, s := range frames {
				f(name, s)
			}
			continue
		}
		f(name, v.Field(i).String())
	}
}

func TestEveryGlyphHasAnASCIITwin(t *testing.T) {
	t.Parallel()
	eachGlyph(asciiGlyphs(), func(name, s string) {
		if s == "" {
			t.Errorf("%s is missing", name)
		}
		for _, r := range s {
			if r < ' ' || r > '~' {
				t.Errorf("%s is %q", name, s)
			}
		}
	})
}

// A glyph of uncertain width bends every column it stands in.
func TestSafeGlyphsHaveOneWidthEverywhere(t *testing.T) {
	t.Parallel()
	eachGlyph(safeGlyphs(), func(name, s string) {
		for _, r := range s {
			if width.LookupRune(r).Kind() == width.EastAsianAmbiguous {
				t.Errorf("%s %q is ambiguous", name, s)
			}
		}
	})
	for _, a := range []Ambiguous{Wide, Unsure} {
		if th := mustNew(t, Options{Glyphs: "unicode", Ambiguous: a}); th.Glyphs.HLine != "-" || !th.MeasureWide() {
			t.Errorf("ambiguity %d draws %q", a, th.Glyphs.HLine)
		}
	}
}

func TestGlyphsForColumnsTakeOneCell(t *testing.T) {
	t.Parallel()
	for _, g := range []Glyphs{asciiGlyphs(), safeGlyphs(), unicodeGlyphs()} {
		one := []string{g.Cursor, g.Rest, g.Marker, g.Asc, g.Desc, g.BarFull, g.BarEmpty, g.HLine, g.VLine,
			g.TopLeft, g.TopRight, g.BotLeft, g.BotRight, g.Caret, g.Separator}
		for _, s := range append(one, g.Spinner...) {
			if ansi.StringWidth(s) != 1 {
				t.Errorf("%q is %d cells wide", s, ansi.StringWidth(s))
			}
		}
	}
}
