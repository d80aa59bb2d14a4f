package ui

import "fmt"

// The least a screen needs, in cells.
const (
	MinWidth  = 30
	MinHeight = 8
)

// Class is how much room there is.
type Class uint8

const (
	Unsized  Class = iota // the terminal has not told yet: draw nothing
	TooSmall              // one line that says what is needed
	Small                 // one pane, one line at the bottom; phones, split panes
	Medium                // 80x24: one pane, detail below
	Large                 // room for detail beside a list of 80 columns
)

// Rect is a part of the screen in cells.
type Rect struct{ X, Y, W, H int }

// Empty tells whether nothing can be drawn there.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Pane is how a screen wants its detail.
type Pane uint8

const (
	Closed Pane = iota
	Open        // beside the list, or below
	Full        // instead of the list
)

// Wants is what a screen would like to show.
type Wants struct {
	Gauges int // how many
	Detail Pane
	Log    bool
}

// Frame says where each part of a screen goes. Parts for which there is no room
// are empty.
type Frame struct {
	W, H   int
	Class  Class
	Title  Rect
	Gauges Rect // one line for a Strip, or several for a Stack
	List   Rect
	Detail Rect
	Log    Rect
	Status Rect // empty in a Small frame: Help is the only line there
	Help   Rect
	// Rules are the lines between parts: one cell high, or, upright, two cells
	// wide with the blank that keeps text off the line.
	Rules []Rect
}

const (
	listMin   = 80 // a list narrower than that is not worth a pane beside it
	detailMin = 30
	ruleWidth = 2 // of an upright rule
	logHeight = 6
	logFrom   = 30 // screen height from which on there is room for the log
)

// Layout divides a screen of w x h. It looks at nothing else; call it for every
// tea.WindowSizeMsg and whenever the wants change.
func Layout(w, h int, want Wants) Frame {
	f := Frame{W: w, H: h}
	switch {
	case w <= 0 || h <= 0:
		return Frame{}
	case w < MinWidth || h < MinHeight:
		f.Class = TooSmall
		return f
	case w < dialogFullW || h < dialogFullH:
		f.Class = Small
	case w < listMin+ruleWidth+detailMin:
		f.Class = Medium
	default:
		f.Class = Large
	}
	f.Title = Rect{0, 0, w, 1}
	f.Help = Rect{0, h - 1, w, 1}
	body := Rect{0, 1, w, h - 2}
	if f.Class != Small {
		f.Status = Rect{0, h - 2, w, 1}
		body.H--
	}
	if n := gaugeRows(f, want.Gauges); n > 0 {
		f.Gauges = Rect{0, body.Y, w, n}
		body.Y += n
		body.H -= n
	}
	if want.Log && h >= logFrom {
		body.H -= logHeight + 1
		f.Rules = append(f.Rules, Rect{0, body.Y + body.H, w, 1})
		f.Log = Rect{0, body.Y + body.H + 1, w, logHeight}
	}
	f.divide(body, want.Detail)
	return f
}

// gaugeRows is how many lines gauges take: one, or in a small window one each, as
// long as the body keeps most of the height.
func gaugeRows(f Frame, gauges int) int {
	if f.Class == Small {
		return min(gauges, (f.H-MinHeight)/3)
	}
	return min(gauges, 1)
}

// divide gives the body to list and detail.
func (f *Frame) divide(body Rect, detail Pane) {
	below := body.H * 40 / 100
	switch {
	case detail == Closed:
		f.List = body
	case detail == Full || f.Class == Small || f.Class == Medium && below < 5:
		f.Detail = body
	case f.Class == Large:
		w := max(min(body.W*40/100, body.W-listMin-ruleWidth), detailMin)
		f.List = Rect{body.X, body.Y, body.W - w - ruleWidth, body.H}
		f.Rules = append(f.Rules, Rect{f.List.W, body.Y, ruleWidth, body.H})
		f.Detail = Rect{f.List.W + ruleWidth, body.Y, w, body.H}
	default:
		f.List = Rect{body.X, body.Y, body.W, body.H - below}
		y := body.Y + f.List.H
		f.Rules = append(f.Rules, Rect{body.X, y, body.W, 1})
		f.Detail = Rect{body.X, y + 1, body.W, below - 1}
	}
}

// needs is what a terminal that is too small is told.
func needs(w, h int) string {
	return fmt.Sprintf("needs %dx%d, has %dx%d", MinWidth, MinHeight, w, h)
}
