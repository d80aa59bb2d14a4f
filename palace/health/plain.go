package health

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Words for people, used in causes. Figures stay exact; only units are made
// human.

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + plural(noun)
}

func plural(noun string) string {
	switch {
	case len(noun) > 1 && noun[len(noun)-1] == 'y':
		return noun[:len(noun)-1] + "ies"
	case len(noun) > 1 && (noun[len(noun)-1] == 's' || noun[len(noun)-1] == 'x'):
		return noun + "es"
	}
	return noun + "s"
}

// be is the verb that goes with a number.
func be(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// have is the other verb that goes with a number.
func have(n int64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func size(bytes int64) string {
	if bytes < 0 {
		bytes = 0
	}
	return humanize.Bytes(uint64(bytes))
}

// span is an age in the one unit that says enough.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func ptr[T any](v T) *T { return &v }

// deref is the value, or its zero where there is none.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
