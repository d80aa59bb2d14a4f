// Package theme turns roles ("warning", "selected row", "key") into terminal
// styles and glyphs. A Theme is an immutable value: build one at start and hand
// it down to everything that draws.
//
// Two rules hold for every theme. Nothing is told by colour alone: severities
// have a word and a mark, the selected row has its own glyph. And every glyph
// has an ASCII twin.
//
// main must import this package even if it used nothing of it: see init.go.
package theme

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Names lists what Options.Name accepts, in the order to offer them.
func Names() []string {
	return []string{"auto", "light", "dark", "high-contrast", "none"}
}

// Options says how to build a Theme. Detect fills it from the environment.
type Options struct {
	// Name is one of Names; "" means auto.
	Name string
	// Profile is how many colours the terminal shows; termenv.Ascii means
	// none, and no attributes either.
	Profile termenv.Profile
	// Background is what "auto" and "high-contrast" choose their colours for.
	Background Background
	// Glyphs is "unicode", "ascii", or "" for ascii.
	Glyphs string
	// Ambiguous is how the terminal draws characters of East Asian
	// ambiguous width, "…" and "─" among them.
	Ambiguous Ambiguous
}

// Background is the brightness of the terminal's background.
type Background uint8

const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

// Ambiguous is the width a terminal gives to characters whose width Unicode
// leaves to the context (UAX #11, class A).
type Ambiguous uint8

const (
	// Narrow is one cell: every terminal outside East Asian set-ups.
	Narrow Ambiguous = iota
	// Wide is two cells.
	Wide
	// Unsure means that either may be true. Text is measured as if wide,
	// so that nothing overflows, and glyphs are chosen that are not ambiguous.
	Unsure
)

// Theme holds the styles and glyphs in use.
type Theme struct {
	// Glyphs are the symbols to draw with.
	Glyphs Glyphs

	name      string
	ambiguous Ambiguous
	paints    *[roleCount]paint
}

// paint is a style, and the bytes it puts before and after a text. Painting by
// concatenation is some twenty times cheaper than Style.Render, which parses,
// aligns and wraps; a table paints hundreds of cells a frame.
type paint struct {
	style       lipgloss.Style
	open, close string
}

// New builds the theme that o describes. An unknown name is an error that lists
// the known ones.
func New(o Options) (Theme, error) {
	name := o.Name
	if name == "" {
		name = "auto"
	}
	looks, err := looksFor(name, o.Background)
	if err != nil {
		return Theme{}, err
	}
	set, err := glyphsFor(o.Glyphs, o.Ambiguous)
	if err != nil {
		return Theme{}, err
	}
	profile := o.Profile
	if name == "none" {
		profile = termenv.Ascii
	}
	// A renderer of our own: the default one is shared by the whole process.
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(o.Background != LightBackground)

	t := Theme{Glyphs: set, name: name, ambiguous: o.Ambiguous, paints: new([roleCount]paint)}
	for role := range roleCount {
		st := looks[role].style(r)
		p := paint{style: st}
		if before, after, ok := strings.Cut(st.Render("x"), "x"); ok {
			p.open, p.close = before, after
		}
		t.paints[role] = p
	}
	return t, nil
}

// Plain is the theme without colour, in ASCII. It cannot fail, and serves for
// messages before the options are known.
func Plain() Theme {
	t, err := New(Options{Name: "none"})
	if err != nil {
		panic(err) // both names are constants of this package
	}
	return t
}

// Name is the name the theme was built by.
func (t Theme) Name() string { return t.name }

// MeasureWide tells whether ambiguous characters must be counted as two cells.
func (t Theme) MeasureWide() bool { return t.ambiguous != Narrow }

// Style is the lipgloss style of a role, for widgets that want one.
func (t Theme) Style(r Role) lipgloss.Style {
	if t.paints == nil || r >= roleCount {
		return lipgloss.NewStyle()
	}
	return t.paints[r].style
}

// Paint colours one line of text for a role. The text must be clean: no escape
// sequence, no line break.
func (t Theme) Paint(r Role, s string) string {
	if t.paints == nil || r >= roleCount || s == "" {
		return s
	}
	p := &t.paints[r]
	return p.open + s + p.close
}

// Colored tells whether painting adds anything at all. Without it, emphasis has
// to be text.
func (t Theme) Colored() bool {
	return t.paints != nil && t.paints[Accent].open != ""
}

func looksFor(name string, bg Background) (*[roleCount]look, error) {
	switch name {
	case "none":
		return &[roleCount]look{}, nil
	case "light":
		return lightLooks(), nil
	case "dark":
		return darkLooks(), nil
	case "high-contrast":
		switch bg {
		case DarkBackground:
			return contrastDarkLooks(), nil
		case LightBackground:
			return contrastLightLooks(), nil
		}
		return contrastLooks(), nil
	case "auto":
		switch bg {
		case DarkBackground:
			return darkLooks(), nil
		case LightBackground:
			return lightLooks(), nil
		}
		return adaptiveLooks(), nil
	}
	return nil, fmt.Errorf("no theme is called %q: use one of %s", name, strings.Join(Names(), ", "))
}
