package cli

import (
	"fmt"
	"math"
	"time"

	"castellan/palace/health"

	"github.com/dustin/go-humanize"
)

// unread stands where a figure could not be read: never 0.
const unread = "?"

// count renders an exact figure.
func count[T int | int64](n *T) string {
	if n == nil {
		return unread
	}
	return humanize.Comma(int64(*n))
}

// share renders part of whole with its percentage. A part is 100% only when
// it is the whole, and 0% only when it is nothing.
func share(part, whole *int64) string {
	if part == nil {
		return unread
	}
	s := humanize.Comma(*part)
	if whole == nil || *whole <= 0 {
		return s
	}
	p := 100 * float64(*part) / float64(*whole)
	switch {
	case *part >= *whole:
		p = 100
	case *part > 0:
		p = min(max(math.Round(p), 1), 99)
	}
	return fmt.Sprintf("%s (%.0f%%)", s, p)
}

// size renders what a file takes on disk, and what it claims where that is
// much more: a sparse file of terabytes is a fault people look for.
func size(b *health.Bytes) string {
	if b == nil {
		return unread
	}
	s := fileSize(b.Allocated)
	if b.Apparent > 2*b.Allocated && b.Apparent-b.Allocated > 1<<20 {
		s += " (claims " + fileSize(b.Apparent) + ")"
	}
	return s
}

func fileSize(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// plural joins a figure and its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}

// duration renders a length of time in its one or two largest units.
func duration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 || h >= 10 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	}
	return plural(int64(d.Hours()/24), "day", "days")
}

// since renders the time from an RFC 3339 stamp until now; empty when there is
// none to read.
func since(stamp *string, now time.Time) string {
	if stamp == nil {
		return ""
	}
	t, err := time.Parse(time.RFC3339, *stamp)
	if err != nil {
		return ""
	}
	return duration(now.Sub(t))
}
