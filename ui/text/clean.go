// Package text makes text from anywhere safe to show and measures it in
// terminal cells. Stored text is hostile: it can hold escape sequences that
// write the clipboard, characters that reverse a line, and single "characters"
// of a megabyte.
//
// Show untrusted text only after Clean or Block; the widgets of package ui do
// so themselves.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxCluster bounds one user-perceived character, in bytes. The longest in
// honest use, a family emoji with skin tones, has 41; without a bound a chain of
// joiners is one character of any length, and no cut by width ever shortens it.
const maxCluster = 64

// tabWidth is what a tab becomes in Block: enough to see an indentation.
const tabWidth = 4

// Clean makes s one line of plain text: without escape sequences, control
// characters, and invisible ones that reorder text; line breaks and tabs become
// spaces, invalid UTF-8 becomes U+FFFD. Cleaning twice is cleaning once.
func Clean(s string) string { return clean(s, false) }

// Block is Clean for text of several lines: it keeps line breaks, as \n, and
// expands tabs.
func Block(s string) string { return clean(s, true) }

func clean(s string, block bool) string {
	i := plainPrefix(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	c := cleaner{src: s, block: block}
	ascii := true
	for i < len(s) {
		if ch := s[i]; ch < utf8.RuneSelf {
			n, repl := c.control(i)
			b.WriteString(repl)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			// One mark for a run of garbage, which may be megabytes.
			for i < len(s) {
				if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n != 1 {
					break
				}
				i++
			}
			b.WriteRune(utf8.RuneError)
			ascii, n = false, 0
		case r < 0xa0:
			var repl string
			n, repl = c.c1(i, r)
			b.WriteString(repl)
		case r == '\u2028' || r == '\u2029':
			b.WriteString(c.newline())
		case invisible(r):
		default:
			b.WriteString(s[i : i+n])
			ascii = false
		}
		i += n
	}
	if ascii || b.Len() <= maxCluster {
		return b.String()
	}
	return boundClusters(b.String())
}

// plainPrefix is the length of the leading run of printable ASCII, which is
// most text there is.
func plainPrefix(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return i
		}
	}
	return len(s)
}

// invisible tells format characters: bidi controls, which make "cod.exe" read
// "exe.doc" (CVE-2021-42574), byte order marks, soft hyphens, number signs that
// terminals disagree about. The two joiners stay, Persian and emoji need them,
// and so do the tags that make flags.
func invisible(r rune) bool {
	if r == '\u200c' || r == '\u200d' || r >= 0xe0020 && r <= 0xe007f {
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

func boundClusters(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		n := plainPrefix(rest)
		if n > 0 && n < len(rest) {
			n-- // a combining mark may follow the last one
		}
		if n > 0 {
			b.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		n = len(cluster)
		if n == 0 {
			break
		}
		if n > maxCluster {
			cut := maxCluster - utf8.RuneLen(utf8.RuneError)
			for !utf8.RuneStart(cluster[cut]) {
				cut--
			}
			cluster = cluster[:cut] + string(utf8.RuneError)
		}
		b.WriteString(cluster)
		rest = rest[n:]
	}
	return b.String()
}
