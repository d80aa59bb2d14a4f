package cli

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes are complete control sequences: CSI, then OSC, DCS, SOS, PM and APC
// with their terminators, then two-byte ones. A string that lacks its
// terminator is no match: its text stays visible instead of swallowing what
// follows.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)" +
	"|\x1b[ -/]*[0-Z\\\\`-~]")

// clean makes any text safe to print on one line of a terminal: no control
// sequence, no control character, no character that reorders the line, no byte
// that is not UTF-8. Stored text, file names and arguments are hostile until
// they have been through here.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), isReordering(r), r == '\u2028', r == '\u2029':
			return '\uFFFD'
		}
		return r
	}, s)
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// isReordering knows the characters that change the order in which a line is
// shown, so that what is read is not what is stored.
func isReordering(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// previewRunes bounds a preview; previewBytes what is looked at to make one.
const (
	previewRunes = 160
	previewBytes = 16 << 10
)

// preview is the beginning of a document on one line: clean, with runs of
// white space drawn together.
func preview(document string) string {
	cut := len(document) > previewBytes
	if cut {
		document = document[:previewBytes]
		for len(document) > 0 && !utf8.RuneStart(document[len(document)-1]) {
			document = document[:len(document)-1]
		}
		// What is left may be the first byte of the character that was cut.
		if r, size := utf8.DecodeLastRuneInString(document); r == utf8.RuneError && size == 1 {
			document = document[:len(document)-1]
		}
	}
	s := strings.Join(strings.Fields(clean(document)), " ")
	n := 0
	for i := range s {
		if n == previewRunes {
			return s[:i] + "…"
		}
		n++
	}
	if cut {
		s += "…"
	}
	return s
}
