package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/width"
)

// Ruler measures and cuts text in terminal cells. Except for Slice, its methods
// want clean text without escape sequences.
type Ruler struct {
	// Wide counts characters of East Asian ambiguous width as two cells.
	Wide bool
	// Tail marks where text was cut, "…" or "...". With "" nothing marks it.
	Tail string
}

// Cut says which part of a text that is too long goes.
type Cut uint8

const (
	CutEnd    Cut = iota // names, sentences
	CutStart             // paths: the end tells them apart
	CutMiddle            // ids: both ends do
)

// Align is where the blanks go when a text is too short.
type Align uint8

const (
	Left Align = iota
	Right
)

// Width is the number of cells s takes.
func (r Ruler) Width(s string) int {
	w := 0
	for s != "" {
		n, cw := r.cluster(s)
		w += cw
		s = s[n:]
	}
	return w
}

// cluster is the length in bytes and the width in cells of the first
// user-perceived character of s, which is not empty.
func (r Ruler) cluster(s string) (n, cells int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if s[0] < ' ' || s[0] == 0x7f {
			return 1, 0
		}
		return 1, 1
	}
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if c == "" {
		return 1, 0
	}
	first, size := utf8.DecodeRuneInString(c)
	if size < len(c) && unicode.IsLetter(first) {
		// A Devanagari conjunct or a row of jamo is one cluster, but most
		// terminals advance for each letter. Counting too little pushes a
		// border off the screen, counting too much leaves a gap.
		cells = max(cells, ansi.StringWidthWc(c))
	}
	if r.Wide && cells == 1 && width.LookupRune(first).Kind() == width.EastAsianAmbiguous {
		cells = 2
	}
	return len(c), cells
}

// Truncate shortens s to at most w cells, never splitting a character.
func (r Ruler) Truncate(s string, w int, cut Cut) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && plainPrefix(s) == len(s) {
		return s
	}
	total := r.Width(s)
	if total <= w {
		return s
	}
	tail := r.tail(w)
	room := w - r.Width(tail)
	switch cut {
	case CutStart:
		return tail + s[r.skip(s, total-room):]
	case CutMiddle:
		head := s[:r.take(s, room-room/2)]
		return head + tail + s[r.skip(s, total-room/2):]
	}
	return s[:r.take(s, room)] + tail
}

// tail is the mark that fits: three dots would be all there is of a narrow
// column.
func (r Ruler) tail(w int) string {
	if tw := r.Width(r.Tail); tw <= 1 || 2*tw <= w {
		return r.Tail
	}
	return "~"
}

// take is the number of bytes of s that fit into w cells.
func (r Ruler) take(s string, w int) int {
	i := 0
	for i < len(s) {
		n, cw := r.cluster(s[i:])
		if w -= cw; w < 0 {
			break
		}
		i += n
	}
	return i
}

// skip is the number of bytes of s to leave out to be rid of at least w cells.
func (r Ruler) skip(s string, w int) int {
	i := 0
	for i < len(s) && w > 0 {
		n, cw := r.cluster(s[i:])
		w -= cw
		i += n
	}
	// What combines with a character goes with it.
	for i < len(s) {
		n, cw := r.cluster(s[i:])
		if cw > 0 {
			break
		}
		i += n
	}
	return i
}

// Pad fills s up with blanks to w cells; a longer s stays as it is.
func (r Ruler) Pad(s string, w int, a Align) string {
	gap := w - r.Width(s)
	if gap <= 0 {
		return s
	}
	if a == Right {
		return strings.Repeat(" ", gap) + s
	}
	return s + strings.Repeat(" ", gap)
}

// fitLimit is how much of a text Fit looks at, in bytes: a cell of a table may
// hold a whole document.
const fitLimit = 4096

// Fit makes any text a line of exactly w cells: cleaned, cut and padded.
func (r Ruler) Fit(s string, w int, cut Cut, a Align) string {
	if w <= 0 {
		return ""
	}
	s, short := Bound(s, fitLimit, cut)
	s = Clean(s)
	if short && r.Width(s) <= w {
		// So much of it was unprintable that the remainder would fit: it
		// still is not the whole text.
		s += strings.Repeat(" ", w+1)
	}
	return r.Pad(r.Truncate(s, w, cut), w, a)
}

// Bound cuts s to about limit bytes at the given place, on a character's
// boundary, and tells whether anything went.
func Bound(s string, limit int, cut Cut) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	front, back := limit, 0
	switch cut {
	case CutStart:
		front, back = 0, limit
	case CutMiddle:
		front, back = limit/2, limit/2
	}
	for k := 0; k < utf8.UTFMax && front > 0 && !utf8.RuneStart(s[front]); k++ {
		front--
	}
	start := len(s) - back
	for k := 0; k < utf8.UTFMax && start < len(s) && !utf8.RuneStart(s[start]); k++ {
		start++
	}
	return s[:front] + s[start:], true
}
