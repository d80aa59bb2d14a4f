package locks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds a command line that is kept for showing, in bytes.
const maxText = 2048

// clean makes text of another process fit to be shown on one line: whole
// colour and cursor sequences go, then every control and every character that
// reorders or hides its neighbours. Anyone may name a process, so its command
// line is hostile until it has passed here.
func clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := csiLength(s[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			continue
		}
		if b.Len()+utf8.RuneLen(r) > maxText {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// csiLength is the length of a complete CSI sequence (ECMA-48: ESC [ , then
// 0x20-0x3F, then one of 0x40-0x7E) at the start of s, else 0. An incomplete
// one loses only its ESC: a command line cannot swallow its own end.
func csiLength(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}
