package backend

import (
	"fmt"
	"regexp"
	"strings"
)

// compileRegex reads an expression of Rust's regex crate, which Chroma uses,
// with Go's. The two agree on nearly everything, and where they would silently
// differ the expression is translated or refused: \d, \w and \s mean Unicode's
// digits, word characters and white space in Rust and ASCII's in Go, and
// [a&&b] or [a[b]] are set operations there.
//
// One difference stays: \b and \B know ASCII words only, so a boundary beside
// a letter like ö is seen where Chroma sees none, and the other way round.
func compileRegex(pattern string) (*regexp.Regexp, error) {
	translated, err := translateRegex(pattern)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(translated)
}

// Perl's classes as Unicode has them, to stand inside brackets.
var unicodeClass = map[byte]string{
	'd': `\p{Nd}`,
	'w': `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}`,
	's': `\t-\r \x{85}\p{Z}`,
}

func translateRegex(p string) (string, error) {
	var out strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\\':
			if i++; i == len(p) {
				return "", fmt.Errorf("the expression ends with a backslash")
			}
			s, err := translateEscape(p[i:], class)
			if err != nil {
				return "", err
			}
			out.WriteString(s)
			continue
		case class && c == ']':
			class = false
		case class && (strings.HasPrefix(p[i:], "&&") || strings.HasPrefix(p[i:], "--") || strings.HasPrefix(p[i:], "~~")):
			return "", fmt.Errorf("set operations in brackets are not supported")
		case class && c == '[':
			end := strings.Index(p[i:], ":]")
			if !strings.HasPrefix(p[i:], "[:") || end < 0 {
				return "", fmt.Errorf("brackets inside brackets are not supported; write \\[ for the character")
			}
			out.WriteString(p[i : i+end+2])
			i += end + 1
			continue
		case !class && c == '[':
			class = true
			out.WriteByte(c)
			// A bracket that closes at once is a character, and so is one
			// behind the negation.
			if strings.HasPrefix(p[i+1:], "^") {
				i++
				out.WriteByte('^')
			}
			if strings.HasPrefix(p[i+1:], "]") {
				i++
				out.WriteString(`\]`)
			}
			continue
		}
		out.WriteByte(c)
	}
	return out.String(), nil
}

// translateEscape takes what stands behind a backslash and answers with all
// that replaces its first byte and the backslash.
func translateEscape(p string, class bool) (string, error) {
	c := p[0]
	switch {
	case unicodeClass[c] != "" && class:
		return unicodeClass[c], nil
	case unicodeClass[c] != "":
		return "[" + unicodeClass[c] + "]", nil
	case c == 'D' || c == 'W' || c == 'S':
		if class {
			return "", fmt.Errorf(`\%c inside brackets is not supported`, c)
		}
		return "[^" + unicodeClass[c+'a'-'A'] + "]", nil
	case c == 'Q' || c == 'E' || c == 'C' || c >= '0' && c <= '9':
		return "", fmt.Errorf(`\%c is not known to Chroma`, c)
	case c == 'b' && strings.HasPrefix(p[1:], "{"):
		return "", fmt.Errorf(`\b{...} is not supported`)
	}
	return `\` + string(c), nil
}
