package text

import "strings"

// Span is a part of a string: s[Start:End].
type Span struct{ Start, End int }

// Wrap breaks s into lines of at most w cells, at blanks if possible, and keeps
// the line breaks it has. Blanks at a break vanish; those at the beginning of a
// line are indentation and stay.
func (r Ruler) Wrap(s string, w int) []string {
	spans := r.Breaks(s, w)
	lines := make([]string, len(spans))
	for i, sp := range spans {
		// Only a character wider than the whole line is cut here.
		lines[i] = r.Truncate(s[sp.Start:sp.End], w, CutEnd)
	}
	return lines
}

// Breaks is Wrap for those who need to know where in s each line lies. A line of
// one character may be wider than w, if w is 1.
func (r Ruler) Breaks(s string, w int) []Span {
	w = max(w, 1)
	var out []Span
	for start := 0; ; {
		end := strings.IndexByte(s[start:], '\n')
		if end < 0 {
			return r.breakLine(out, s, Span{start, len(s)}, w)
		}
		out = r.breakLine(out, s, Span{start, start + end}, w)
		start += end + 1
	}
}

// breakLine appends the lines that s[line.Start:line.End] makes.
func (r Ruler) breakLine(out []Span, s string, line Span, w int) []Span {
	emit := func(start, end int) {
		for end > start && s[end-1] == ' ' {
			end--
		}
		out = append(out, Span{start, end})
	}
	// The last place to break at: the line would go up to end, the next one
	// begin at next, and cells are the width up to there. No place if next is 0.
	var place struct{ end, next, cells int }
	start, cells := line.Start, 0
	inWord, seenWord := false, false
	for i := line.Start; i < line.End; {
		n, cw := r.cluster(s[i:line.End])
		if s[i] == ' ' && n == 1 {
			if seenWord {
				if inWord {
					place.end = i
				}
				place.next, place.cells = i+n, cells+cw
			}
			inWord = false
			cells += cw
			i += n
			continue
		}
		if cw == 2 && inWord {
			// Before an ideograph one may break anywhere.
			place.end, place.next, place.cells = i, i, cells
		}
		if cells+cw > w && place.next > start {
			emit(start, place.end)
			start, cells, place.next = place.next, cells-place.cells, 0
		}
		if cells+cw > w && i > start {
			emit(start, i)
			start, cells, place.next = i, 0, 0
		}
		inWord, seenWord = true, true
		cells += cw
		i += n
	}
	emit(start, line.End)
	return out
}
