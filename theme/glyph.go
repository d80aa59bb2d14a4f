package theme

import "fmt"

// Glyphs are the symbols of the interface. Every set has the same meaning, so
// code never asks which one it got. Marks may take several cells in ASCII; the
// glyphs named in the second group are one cell in every set and may stand in
// aligned columns.
type Glyphs struct {
	OK, Info, Warning, Error, Danger string // severity marks
	Held                             string // somebody holds it
	Done, Now, Next                  string // steps of a plan
	Crumb                            string // between the elements of a path
	Ellipsis                         string // text was cut, a figure is not there yet
	NoValue                          string // no such value
	Spinner                          []string

	Cursor            string // the selected row
	Rest              string // the selected row of a list that has not the keys
	Marker            string // a marked row
	Asc, Desc         string // sort direction
	BarFull, BarEmpty string
	HLine, VLine      string
	TopLeft, TopRight string
	BotLeft, BotRight string
	Caret             string // where typed text goes
	Separator         string // between two facts on one line
}

func unicodeGlyphs() Glyphs {
	g := safeGlyphs()
	g.Held, g.Next = "●", "·"
	g.Ellipsis, g.NoValue = "…", "–"
	g.Asc, g.Desc = "▲", "▼"
	g.BarFull, g.BarEmpty = "█", "░"
	g.HLine, g.VLine = "─", "│"
	g.TopLeft, g.TopRight, g.BotLeft, g.BotRight = "┌", "┐", "└", "┘"
	g.Caret, g.Separator = "▏", "·"
	return g
}

// safeGlyphs has Unicode where the width is certain and ASCII elsewhere: "─" or
// "●" take one cell here and two there, and a column drawn with them bends.
func safeGlyphs() Glyphs {
	g := asciiGlyphs()
	g.OK, g.Info, g.Warning, g.Error, g.Danger = "✓", "i", "!", "✗", "!!"
	g.Done, g.Now, g.Next = "✓", "▸", "-"
	g.Crumb = "›"
	g.Spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return g
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		OK: "[ok]", Info: "[i]", Warning: "[!]", Error: "[x]", Danger: "[!!]",
		Held: "*",
		Done: "[x]", Now: "[>]", Next: "[ ]",
		Crumb: ">", Ellipsis: "...", NoValue: "-",
		Spinner: []string{"|", "/", "-", `\`},
		Cursor:  ">", Rest: "-", Marker: "*", Asc: "^", Desc: "v",
		BarFull: "#", BarEmpty: ".", HLine: "-", VLine: "|",
		TopLeft: "+", TopRight: "+", BotLeft: "+", BotRight: "+",
		Caret: "|", Separator: "-",
	}
}

func glyphsFor(name string, a Ambiguous) (Glyphs, error) {
	switch name {
	case "", "ascii":
		return asciiGlyphs(), nil
	case "unicode":
		if a != Narrow {
			return safeGlyphs(), nil
		}
		return unicodeGlyphs(), nil
	}
	return Glyphs{}, fmt.Errorf("no glyphs are called %q: use unicode or ascii", name)
}
