package views

import (
	"fmt"
	"strings"
	"time"

	"castellan/theme"
	"castellan/ui"
)

// lane is one row of a timeline: a process, and when it held or wanted a palace.
type lane struct {
	pid          int
	command      string
	held, wanted []spell
}

// lanes are the processes that were seen, whoever was seen last first.
func (s *sight) lanes() []lane {
	var out []lane
	of := func(p spell) *lane {
		for i := range out {
			if out[i].pid == p.pid {
				return &out[i]
			}
		}
		out = append(out, lane{pid: p.pid, command: p.command})
		return &out[len(out)-1]
	}
	for i := len(s.held) - 1; i >= 0; i-- {
		l := of(s.held[i])
		l.held = append(l.held, s.held[i])
	}
	for i := len(s.wanted) - 1; i >= 0; i-- {
		l := of(s.wanted[i])
		l.wanted = append(l.wanted, s.wanted[i])
	}
	return out
}

// since is when looking began, zero if it has not.
func (s *sight) since() time.Time {
	if len(s.looked) == 0 {
		return time.Time{}
	}
	return s.looked[0].from
}

const (
	// Lanes more than this are told in the words below the timeline only.
	lanesShown = 4
	stripMost  = 48
	stripLeast = 8
)

// timelineFields show who held and who wanted a palace while the program ran: a
// strip of cells for each process, and the same in words. holder is who has it
// now; room is how many cells there are.
func timelineFields(th theme.Theme, s *sight, holder, room int, now time.Time) []ui.Field {
	lanes := s.lanes()
	if len(lanes) == 0 || now.Sub(s.since()) < time.Minute && len(s.held) <= 1 && (len(s.held) == 0 || s.held[0].pid == holder) {
		return nil // that says no more than the lines above
	}
	fields := []ui.Field{ui.Blank()}
	cells := min(room, stripMost)
	from := s.since()
	if cells >= stripLeast && now.Sub(from) >= time.Minute {
		head := span(now.Sub(from)) + " ago"
		gap := cells - len(head) - len("now")
		if gap > 0 {
			fields = append(fields, ui.Field{Label: "seen so far", Text: ui.In(theme.Faint, head+strings.Repeat(" ", gap)+"now")})
		}
		for i, l := range lanes {
			if i == lanesShown {
				break
			}
			fields = append(fields, ui.Field{Label: fmt.Sprint(l.pid), Text: l.strip(th, s, from, now, cells)})
		}
		fields = append(fields, ui.Field{Label: " ", Text: ui.In(theme.Faint, legend(th, s))})
	}
	label := "that is"
	for i, l := range lanes {
		if i == 2*lanesShown {
			fields = append(fields, ui.Field{Label: " ", Text: ui.In(theme.Faint, plural(int64(len(lanes)-i), "earlier one", "earlier ones"))})
			break
		}
		fields = append(fields, ui.Field{Label: label, Text: ui.Plain(l.words(holder, now))})
		label = " "
	}
	return fields
}

// Marks of a cell that the theme has no glyph for; the same everywhere.
const (
	cellWanted = "w"
	cellBlind  = " "
)

// legend says what the cells mean, as far as they occur.
func legend(th theme.Theme, s *sight) string {
	parts := []string{th.Glyphs.BarFull + " held", th.Glyphs.BarEmpty + " not"}
	if len(s.wanted) > 0 {
		parts = append(parts, cellWanted+" waited")
	}
	if len(s.looked) > 1 {
		parts = append(parts, "blank: not looked")
	}
	return strings.Join(parts, ", ")
}

// strip is the lane in cells, from the left. A cell in which both happened shows
// that it was held.
func (l lane) strip(th theme.Theme, s *sight, from, now time.Time, cells int) ui.Line {
	var line ui.Line
	width := now.Sub(from)
	for i := range cells {
		a := from.Add(width * time.Duration(i) / time.Duration(cells))
		b := from.Add(width * time.Duration(i+1) / time.Duration(cells))
		if i == cells-1 {
			b = b.Add(1) // what is seen right now is in it
		}
		c := ui.Span{Text: cellBlind}
		switch {
		case overlaps(l.held, a, b):
			c = ui.Span{Text: th.Glyphs.BarFull, Role: theme.Held}
		case overlaps(l.wanted, a, b):
			c = ui.Span{Text: cellWanted, Role: theme.Warning}
		case overlaps(s.looked, a, b):
			c = ui.Span{Text: th.Glyphs.BarEmpty, Role: theme.Faint}
		}
		if n := len(line); n > 0 && line[n-1].Role == c.Role {
			line[n-1].Text += c.Text
		} else {
			line = append(line, c)
		}
	}
	return line
}

// overlaps tells whether any spell touches the time from a to b.
func overlaps(list []spell, a, b time.Time) bool {
	for _, s := range list {
		if !s.to.Before(a) && s.from.Before(b) {
			return true
		}
	}
	return false
}

// words say what a strip shows.
func (l lane) words(holder int, now time.Time) string {
	s := strings.TrimSpace(fmt.Sprintf("%d %s", l.pid, l.command))
	total := time.Duration(0)
	for _, h := range l.held {
		total += h.to.Sub(h.from)
	}
	if n := len(l.held); n > 0 {
		s += ", held it for " + span(total)
		if n > 1 {
			s += fmt.Sprintf(" in %d spells", n)
		}
		if l.pid != holder {
			s += ", until " + ago(l.held[0].to, now)
		}
	}
	if n := len(l.wanted); n > 0 {
		s += ", waited for it " + span(l.wanted[0].to.Sub(l.wanted[0].from))
		if now.Sub(l.wanted[0].to) > longestGap {
			s += ", until " + ago(l.wanted[0].to, now)
		}
	}
	return s
}
