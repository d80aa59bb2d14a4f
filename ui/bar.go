package ui

import (
	"math/bits"
	"strconv"
	"strings"

	"castellan/theme"
)

// scaled is round(done/total*steps), with one promise: it is steps only if
// nothing is missing and 0 only if there is nothing. A bar that looks complete
// while 40 drawers are missing is a lie.
func scaled(done, total int64, steps int) int {
	switch {
	case total <= 0 || steps <= 0 || done <= 0:
		return 0
	case done >= total:
		return steps
	}
	hi, lo := bits.Mul64(uint64(done), 2*uint64(steps))
	lo, carry := bits.Add64(lo, uint64(total), 0)
	// (2*done*steps + total) / (2*total) rounds half up; done < total keeps the
	// quotient below steps+1.
	q, _ := bits.Div64(hi+carry, lo, 2*uint64(total))
	if steps == 1 {
		return 0 // not complete
	}
	return max(1, min(int(q), steps-1))
}

// Percent is done of total in percent, "82%": never 100% unless complete, never 0%
// unless zero, and "" if there is no total.
func Percent(done, total int64) string {
	if total <= 0 || done < 0 {
		return ""
	}
	return strconv.Itoa(scaled(done, total, 100)) + "%"
}

// Bar is a bar of w cells, full only if complete and empty only if zero.
func Bar(th theme.Theme, done, total int64, w int, role theme.Role) string {
	if w <= 0 {
		return ""
	}
	full := scaled(done, total, w)
	return th.Paint(role, strings.Repeat(th.Glyphs.BarFull, full)) +
		th.Paint(theme.Faint, strings.Repeat(th.Glyphs.BarEmpty, w-full))
}

// ShareCell is a table cell with percentage and bar, "  8% █░░░░░", that sorts by
// the share. Without a total it is the sign for no value.
func ShareCell(th theme.Theme, done, total int64, role theme.Role) Cell {
	pct := Percent(done, total)
	if pct == "" {
		return NoNumber(th.Glyphs.NoValue)
	}
	full := scaled(done, total, shareBar)
	bar := strings.Repeat(th.Glyphs.BarFull, full) + strings.Repeat(th.Glyphs.BarEmpty, shareBar-full)
	return Cell{
		Text: strings.Repeat(" ", 4-len(pct)) + pct + " " + bar,
		Role: role,
		Num:  float64(done) / float64(total),
	}
}

// shareBar is the length of the bar in a table cell.
const shareBar = 6
