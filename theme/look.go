package theme

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// look is a role's appearance before a terminal is known.
type look struct {
	fg, bg                          color
	bold, faint, underline, reverse bool
	// reverse16 reverses instead of colouring where there are 16 colours: people
	// choose what those look like, so that no pair of them is sure to be legible.
	reverse16 bool
}

// color is one colour in three palettes: "#rrggbb", 256 colours, 16 colours.
// The zero color leaves the terminal's own. The 16 colours are the terminal's
// palette and may be anything; they carry no information alone.
type color struct{ rgb, c256, c16 string }

func (l look) style(r *lipgloss.Renderer) lipgloss.Style {
	st := r.NewStyle().Bold(l.bold).Faint(l.faint).Underline(l.underline).Reverse(l.reverse)
	if l.reverse16 && r.ColorProfile() == termenv.ANSI {
		return st.Reverse(true)
	}
	if l.fg != (color{}) {
		st = st.Foreground(l.fg.terminal())
	}
	if l.bg != (color{}) {
		st = st.Background(l.bg.terminal())
	}
	return st
}

func (c color) terminal() lipgloss.TerminalColor {
	return lipgloss.CompleteColor{TrueColor: c.rgb, ANSI256: c.c256, ANSI: c.c16}
}

// darkLooks suits backgrounds from black to about #282c34; every text colour
// keeps a contrast of 4.5 there (WCAG AA), which a test computes.
func darkLooks() *[roleCount]look {
	blue := color{"#87afff", "111", "12"}
	yellow := color{"#ffd75f", "221", "11"}
	white := color{"#ffffff", "231", "15"}
	black := color{"#000000", "16", "0"}
	gray := color{"#9e9e9e", "247", "7"}
	return &[roleCount]look{
		Faint:    {fg: gray},
		Title:    {bold: true},
		Header:   {fg: color{"#afbfd7", "152", "7"}, bold: true},
		Border:   {fg: color{"#767676", "243", "7"}},
		Key:      {fg: blue, bold: true},
		Accent:   {fg: color{"#5fd7ff", "81", "14"}},
		OK:       {fg: color{"#87d787", "114", "10"}},
		Info:     {fg: blue},
		Warning:  {fg: yellow},
		Error:    {fg: color{"#ff8787", "210", "9"}, bold: true},
		Danger:   {fg: white, bg: color{"#af0000", "124", "1"}, bold: true},
		Held:     {fg: color{"#d7afff", "183", "13"}},
		Selected: {fg: white, bg: color{"#005f87", "24", "4"}, bold: true, reverse16: true},
		Marked:   {fg: yellow, bold: true},
		Match:    {fg: black, bg: yellow, reverse16: true},
		Focused:  {fg: black, bg: color{"#87d7ff", "117", "14"}, bold: true, reverse16: true},
		Disabled: {fg: gray},
	}
}

// lightLooks suits backgrounds from white to about #eeeeee.
func lightLooks() *[roleCount]look {
	blue := color{"#005faf", "25", "4"}
	brown := color{"#875f00", "94", "3"}
	white := color{"#ffffff", "231", "15"}
	black := color{"#000000", "16", "0"}
	gray := color{"#585858", "240", "0"}
	return &[roleCount]look{
		Faint:    {fg: gray},
		Title:    {bold: true},
		Header:   {fg: color{"#303f4f", "238", "0"}, bold: true},
		Border:   {fg: color{"#808080", "244", "0"}},
		Key:      {fg: blue, bold: true},
		Accent:   {fg: color{"#005f87", "24", "4"}},
		OK:       {fg: color{"#005f00", "22", "2"}},
		Info:     {fg: blue},
		Warning:  {fg: brown},
		Error:    {fg: color{"#af0000", "124", "1"}, bold: true},
		Danger:   {fg: white, bg: color{"#af0000", "124", "1"}, bold: true},
		Held:     {fg: color{"#5f00af", "55", "5"}},
		Selected: {fg: black, bg: color{"#afd7ff", "153", "6"}, bold: true, reverse16: true},
		Marked:   {fg: brown, bold: true},
		Match:    {fg: black, bg: color{"#ffd75f", "221", "3"}, reverse16: true},
		Focused:  {fg: white, bg: color{"#005f87", "24", "4"}, bold: true, reverse16: true},
		Disabled: {fg: gray},
	}
}

// adaptiveLooks is for a terminal whose background nobody told us: only its own
// foreground, attributes and the six hues of its palette, which whoever chose
// the background made legible on it.
func adaptiveLooks() *[roleCount]look {
	hue := func(n string) color { return color{n, n, n} }
	return &[roleCount]look{
		Faint:    {faint: true},
		Title:    {bold: true},
		Header:   {bold: true},
		Border:   {faint: true},
		Key:      {fg: hue("4"), bold: true},
		Accent:   {fg: hue("6")},
		OK:       {fg: hue("2")},
		Info:     {fg: hue("4")},
		Warning:  {fg: hue("3")},
		Error:    {fg: hue("1"), bold: true},
		Danger:   {bold: true, reverse: true, fg: hue("1")},
		Held:     {fg: hue("5")},
		Selected: {bold: true, reverse: true},
		Marked:   {fg: hue("3"), bold: true},
		Match:    {reverse: true},
		Focused:  {bold: true, reverse: true},
		Disabled: {faint: true},
	}
}
