package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Slice returns the cells from (inclusive) to to (exclusive) of one painted
// line, always exactly that many: what is missing is blank, and so is the half
// of a wide character that straddles an edge. Colours are carried over the left
// edge and ended at the right one. It serves to put one frame over another.
func (r Ruler) Slice(line string, from, to int) string {
	if to <= from {
		return ""
	}
	var (
		b       strings.Builder
		active  string // the colours set so far
		at      int    // cells seen
		written int    // cells written
		flushed bool
		state   byte
	)
	write := func(s string, cells int) {
		if !flushed {
			b.WriteString(active)
			flushed = true
		}
		b.WriteString(s)
		written += cells
	}
	for line != "" && at < to {
		if line[0] == esc {
			seq, _, n, next := ansi.DecodeSequence(line, state, nil)
			state = next
			if n == 0 {
				break
			}
			line = line[n:]
			if active += seq; seq == "\x1b[0m" || seq == "\x1b[m" {
				active = ""
			}
			if flushed {
				b.WriteString(seq)
			}
			continue
		}
		n, cw := r.cluster(line)
		piece := line[:n]
		line = line[n:]
		begin, end := at, at+cw
		at = end
		switch {
		case cw == 0:
			if flushed {
				b.WriteString(piece)
			}
		case end <= from:
		case begin < from || end > to:
			cells := min(end, to) - max(begin, from)
			write(strings.Repeat(" ", cells), cells)
		default:
			write(piece, cw)
		}
	}
	if flushed && active != "" {
		b.WriteString("\x1b[0m")
	}
	b.WriteString(strings.Repeat(" ", to-from-written))
	return b.String()
}

// Strip is line without the escape sequences that painting added.
func Strip(line string) string { return ansi.Strip(line) }
