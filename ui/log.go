package ui

import (
	"strings"
	"time"

	"castellan/theme"
	"castellan/ui/text"
)

// Log keeps the latest lines and shows them, newest last.
type Log struct {
	now   func() time.Time
	ring  []LogLine
	first int // of the oldest line in ring
	n     int
	back  int // how many lines the view is scrolled back from the newest
	h     int
}

// LogLine is one line of a Log.
type LogLine struct {
	At       time.Time
	Severity theme.Severity
	Text     string
}

// logLineLimit bounds one line, in bytes: child programs write lines of a
// megabyte.
const logLineLimit = 4096

// NewLog keeps the latest size lines; now is the clock they are stamped by.
func NewLog(size int, now func() time.Time) *Log {
	return &Log{now: now, ring: make([]LogLine, max(size, 1))}
}

// Add appends a line. Of several lines in s each becomes one. A view that was
// scrolled back stays where it is.
func (l *Log) Add(s theme.Severity, msg string) {
	at := l.now()
	msg, _ = text.Bound(msg, 16*logLineLimit, text.CutEnd)
	for line := range strings.SplitSeq(strings.TrimRight(text.Block(msg), "\n"), "\n") {
		line, _ = text.Bound(line, logLineLimit, text.CutEnd)
		l.add(LogLine{at, s, line})
	}
}

func (l *Log) add(line LogLine) {
	if l.n < len(l.ring) {
		l.ring[l.n] = line
		l.n++
	} else {
		l.ring[l.first] = line
		l.first = (l.first + 1) % len(l.ring)
	}
	if l.back > 0 {
		l.back++
	}
	l.Scroll(0)
}

// Lines are all lines kept, oldest first.
func (l *Log) Lines() []LogLine {
	out := make([]LogLine, l.n)
	for i := range out {
		out[i] = l.line(i)
	}
	return out
}

func (l *Log) line(i int) LogLine { return l.ring[(l.first+i)%len(l.ring)] }

// String is the log as text, for copying.
func (l *Log) String() string {
	var b strings.Builder
	for i := range l.n {
		x := l.line(i)
		b.WriteString(x.At.Format(time.DateTime) + " " + x.Severity.Word() + " " + x.Text + "\n")
	}
	return b.String()
}

// SetSize says how many lines are seen at once.
func (l *Log) SetSize(h int) {
	l.h = max(h, 0)
	l.Scroll(0)
}

// Scroll moves the view by n lines, negative ones to the older.
func (l *Log) Scroll(n int) { l.back = max(min(l.back-n, l.n-l.h), 0) }

// View draws the lines in sight, w cells wide.
func (l *Log) View(th theme.Theme, w int) string {
	if w <= 0 || l.h == 0 {
		return ""
	}
	r := Ruler(th)
	mark := 0
	for s := theme.Good; s <= theme.Peril; s++ {
		mark = max(mark, r.Width(th.Mark(s)))
	}
	end := l.n - l.back
	var rows []string
	for i := max(end-l.h, 0); i < end; i++ {
		x := l.line(i)
		rows = append(rows, Line{
			{x.At.Format(time.TimeOnly) + " ", theme.Faint},
			{r.Pad(th.Mark(x.Severity), mark, text.Left) + " ", x.Severity.Role()},
			{x.Text, theme.Text},
		}.Fit(th, w))
	}
	return strings.Join(rows, "\n")
}
