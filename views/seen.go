package views

import (
	"fmt"
	"time"

	"castellan/palace/health"
	"castellan/ui"
)

// spell is a time for which a process was seen to hold a palace. Between two looks
// it may have let go and taken it again.
type spell struct {
	pid      int
	command  string
	from, to time.Time
}

// seenKept bounds the spells kept of one palace.
const seenKept = 20

// note adds what a report says of the holder.
func (r *reading) note(report *health.Report, now time.Time) {
	h := report.Lock.Holder
	if report.Lock.State != "held" || h == nil || h.PID == nil {
		return
	}
	if n := len(r.seen); n > 0 {
		last := &r.seen[n-1]
		// A palace that is slow to look at is not looked at every time.
		if gap := 3*refreshPace + longestRest; last.pid == *h.PID && now.Sub(last.to) <= gap {
			last.to = now
			return
		}
	}
	r.seen = append(r.seen, spell{*h.PID, value(h.Command), now, now})
	if len(r.seen) > seenKept {
		r.seen = r.seen[1:]
	}
}

// seenFields tell who has held a palace since the program runs, the latest first;
// nothing if that is only who holds it now.
func seenFields(r *reading, holder int, now time.Time) []ui.Field {
	n := len(r.seen)
	if n == 0 || n == 1 && r.seen[0].pid == holder {
		return nil
	}
	fields := []ui.Field{ui.Blank()}
	label := "seen so far"
	for i := n - 1; i >= 0; i-- {
		s := r.seen[i]
		words := fmt.Sprintf("%d %s, for %s", s.pid, s.command, span(s.to.Sub(s.from)))
		if s.pid != holder || i != n-1 {
			words += ", until " + ago(s.to, now)
		}
		fields = append(fields, ui.Field{Label: label, Text: ui.Plain(words)})
		label = " "
	}
	return fields
}
