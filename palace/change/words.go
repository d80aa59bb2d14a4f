package change

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// counted is "1 row" or "1,500 rows".
func counted[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + many
}

func rows[N int | int64](n N) string { return counted(n, "row", "rows") }

// inBatches is "14 rows" or "1,500 rows, 500 at a time".
func inBatches(n int) string {
	if n <= step {
		return rows(n)
	}
	return fmt.Sprintf("%s, %d at a time", rows(n), step)
}

// maxNamed bounds a stored name in a sentence.
const maxNamed = 120

// named quotes a stored name. It is as hostile as everything that is stored:
// whoever shows it cleans it.
func named(s string) string {
	if len(s) > maxNamed {
		s = strings.ToValidUTF8(s[:maxNamed], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// some names the first of a list.
func some(list []string, most int) string {
	var words []string
	for i, s := range list {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		words = append(words, named(s))
	}
	return strings.Join(words, ", ")
}
