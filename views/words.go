package views

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
)

// unread stands for a figure that could not be read. It is never 0.
const unread = "?"

// figure is an exact number, or the sign that it could not be read.
func figure[T int | int64](n *T) string {
	if n == nil {
		return unread
	}
	return humanize.Comma(int64(*n))
}

func comma(n int64) string { return humanize.Comma(n) }

// number is a table cell of a figure.
func number[T int | int64](n *T) ui.Cell {
	if n == nil {
		return ui.NoNumber(unread)
	}
	return ui.Number(humanize.Comma(int64(*n)), float64(*n))
}

// plural is a figure and its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return comma(n) + " " + many
}

// size is what files take on disk.
func size(b *health.Bytes) string {
	if b == nil {
		return unread
	}
	return humanize.Bytes(uint64(max(b.Allocated, 0)))
}

// sizeInFull also says what a sparse file claims to be: one of terabytes is a
// fault people look for (MemPalace #525).
func sizeInFull(b *health.Bytes) string {
	s := size(b)
	if b != nil && b.Apparent > 2*b.Allocated && b.Apparent-b.Allocated > 1<<20 {
		s += ", claims " + humanize.Bytes(uint64(max(b.Apparent, 0)))
	}
	return s
}

// span is a length of time in the one unit that says enough.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return plural(int64(d.Hours()/24), "day", "days")
}

// ago is how long ago something was; "" if nobody recorded when.
func ago(t, now time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case now.Sub(t) < time.Second:
		return "just now"
	}
	return span(now.Sub(t)) + " ago"
}

// stamp reads the time of a report, zero if there is none.
func stamp(s *string) time.Time {
	if s == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, *s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// tilde shortens a path under the home directory as shells do.
func tilde(path, home string) string {
	if home == "" || home == string(filepath.Separator) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return path
}

// homely shortens every path under the home directory within a text.
func homely(s, home string) string {
	if home == "" || home == string(filepath.Separator) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, home+string(filepath.Separator))
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		if before := b.String(); before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n\"'(=,:") {
			b.WriteString(home) // the middle of another path
		} else {
			b.WriteString("~")
		}
		s = s[i+len(home):]
	}
}

// homelyFields does so in fields.
func homelyFields(fields []ui.Field, home string) []ui.Field {
	for i := range fields {
		for j := range fields[i].Text {
			fields[i].Text[j].Text = homely(fields[i].Text[j].Text, home)
		}
	}
	return fields
}

// grade is the severity of a verdict.
func grade(v health.Verdict) theme.Severity {
	switch v {
	case health.VerdictOK:
		return theme.Good
	case health.VerdictWarning:
		return theme.Warn
	case health.VerdictError:
		return theme.Fail
	}
	return theme.Peril
}

// severity is that of a finding.
func severity(s health.Severity) theme.Severity {
	switch s {
	case health.Info:
		return theme.Note
	case health.Warning:
		return theme.Warn
	case health.Bad:
		return theme.Fail
	}
	return theme.Peril
}

// badge is the mark and the word of a severity, as a span of a line.
func badge(th theme.Theme, s theme.Severity) ui.Span {
	return ui.Span{Text: th.Mark(s) + " " + s.Word(), Role: s.Role()}
}

// dot joins facts on one line.
func dot(th theme.Theme, facts ...string) string {
	var some []string
	for _, f := range facts {
		if f != "" {
			some = append(some, f)
		}
	}
	return strings.Join(some, " "+th.Glyphs.Separator+" ")
}

// value is what a pointer points at, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// words is the text of a line without its roles.
func words(l ui.Line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}
