package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise is BERT's: control characters out, every kind of white space a
// space, spaces around ideographs, accents off, lower case. What counts as what
// is decided as the reference tokenizer decides it, see newer.
func normalise(text string) string {
	if plainASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		switch {
		case r == 0, r == utf8.RuneError, isControl(r):
		case isSpace(r):
			b.WriteByte(' ')
		case isIdeograph(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	clean := b.String()
	b.Reset()
	// U+11938 came with Unicode 13 and is no pair of characters to the reference.
	for i, part := range strings.Split(clean, youngPair) {
		if i > 0 {
			b.WriteString(youngPair)
		}
		for _, r := range norm.NFD.String(part) {
			if !isAccent(r) {
				b.WriteRune(lower(r))
			}
		}
	}
	return b.String()
}

const youngPair = "\U00011938"

// plainASCII tells whether nothing but the case can change.
func plainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// isControl is the categories Cc, Cf and Co, except for what BERT calls white
// space; code points without a meaning pass.
func isControl(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !isNewer(r)
}

func isSpace(r rune) bool { return unicode.Is(unicode.White_Space, r) }

func isAccent(r rune) bool {
	// U+1734 became a spacing mark in Unicode 14.
	return r >= 0x300 && (unicode.Is(unicode.Mn, r) && !isNewer(r) || r == 0x1734)
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	// U+166D became a symbol in Unicode 12, U+111C9 a mark in Unicode 11.
	return unicode.Is(unicode.P, r) && !isNewer(r) || r == 0x166D || r == 0x111C9
}

func lower(r rune) rune {
	if small := unicode.ToLower(r); small != r || r < 0x1C89 {
		return small
	}
	return lowerNewer(r)
}

// isIdeograph is BERT's list of blocks, which leaves out Hangul and kana.
func isIdeograph(r rune) bool {
	switch {
	case 0x4E00 <= r && r <= 0x9FFF,
		0x3400 <= r && r <= 0x4DBF,
		0x20000 <= r && r <= 0x2A6DF,
		0x2A700 <= r && r <= 0x2B73F,
		0x2B740 <= r && r <= 0x2B81F,
		0x2B920 <= r && r <= 0x2CEAF,
		0xF900 <= r && r <= 0xFAFF,
		0x2F800 <= r && r <= 0x2FA1F:
		return true
	}
	return false
}
