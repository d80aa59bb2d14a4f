package views

import (
	"time"

	"castellan/locks"
	"castellan/palace/health"
)

// spell is a time for which a process was seen to hold a palace, or to wait for it.
// Between two looks it may have let go and taken it again.
type spell struct {
	pid      int
	command  string
	from, to time.Time
}

// seenKept bounds the spells kept of one palace, of each kind.
const seenKept = 20

// sight is what was seen of one palace's lock since the program runs.
type sight struct {
	held, wanted []spell
	// looked are the times without a longer pause between two looks.
	looked []spell
}

// longestGap is how far two looks may lie apart and still count as one time: a
// palace that is slow to look at is not looked at every time.
const longestGap = 3*refreshPace + longestRest

// note adds what a report says of the holder.
func (s *sight) note(report *health.Report, now time.Time) {
	s.looked = extend(s.looked, 0, "", now)
	h := report.Lock.Holder
	if report.Lock.State != "held" || h == nil || h.PID == nil {
		return
	}
	s.held = extend(s.held, *h.PID, value(h.Command), now)
}

// survey adds who waits for the palace. It comes only while somebody looks at the
// holders, or now and then.
func (s *sight) survey(view locks.PalaceView, now time.Time) {
	for _, w := range view.Lock.Waiters {
		s.wanted = extend(s.wanted, w.PID, command(w), now)
	}
}

// extend makes a spell of that process longer, or begins one.
func extend(list []spell, pid int, command string, now time.Time) []spell {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].pid != pid {
			continue
		}
		if now.Sub(list[i].to) <= longestGap && !between(list[i+1:], list[i].to) {
			list[i].to = now
			return list
		}
		break
	}
	list = append(list, spell{pid, command, now, now})
	if len(list) > seenKept {
		list = list[1:]
	}
	return list
}

// between tells whether somebody else's spell began after a time: then the one
// that ended there has ended.
func between(list []spell, t time.Time) bool {
	for _, s := range list {
		if s.from.After(t) {
			return true
		}
	}
	return false
}
