package text

import "strings"

// cleaner finds the ends of escape sequences (ECMA-48). A sequence without an
// end loses only its introducer and is shown as text: swallowing the rest, as
// terminals do, would let one byte hide the remainder of a document.
type cleaner struct {
	src   string
	block bool
	// noString is set when no terminator of a control string follows any more;
	// otherwise a text of nothing but introducers would be searched to its end
	// for each of them.
	noString bool
}

const esc = 0x1b

func (c *cleaner) newline() string {
	if c.block {
		return "\n"
	}
	return " "
}

// control handles the ASCII character at i: how many bytes it takes, and what to
// show instead.
func (c *cleaner) control(i int) (n int, repl string) {
	switch ch := c.src[i]; {
	case ch == '\t':
		if c.block {
			return 1, strings.Repeat(" ", tabWidth)
		}
		return 1, " "
	case ch == '\r' && i+1 < len(c.src) && c.src[i+1] == '\n':
		return 2, c.newline()
	case ch >= '\n' && ch <= '\r':
		return 1, c.newline()
	case ch == esc:
		return c.escape(i), ""
	case ch < ' ' || ch == 0x7f:
		return 1, ""
	}
	return 1, c.src[i : i+1]
}

// c1 handles the control character U+0080 to U+009F at i, two bytes in UTF-8;
// terminals take five of them for the beginning of a sequence.
func (c *cleaner) c1(i int, r rune) (n int, repl string) {
	switch r {
	case 0x85:
		return 2, c.newline()
	case 0x9b:
		return 2 + c.csi(i+2), ""
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return 2 + c.str(i+2), ""
	}
	return 2, ""
}

// escape is the length of the sequence that the ESC at i begins.
func (c *cleaner) escape(i int) int {
	if i+1 == len(c.src) {
		return 1
	}
	switch ch := c.src[i+1]; {
	case ch == '[':
		return 2 + c.csi(i+2)
	case ch == ']' || ch == 'P' || ch == 'X' || ch == '^' || ch == '_':
		return 2 + c.str(i+2)
	case ch >= 0x20 && ch <= 0x2f:
		j := i + 2
		for j < len(c.src) && c.src[j] >= 0x20 && c.src[j] <= 0x2f {
			j++
		}
		if j < len(c.src) && c.src[j] >= 0x30 && c.src[j] <= 0x7e {
			return j + 1 - i
		}
	case ch >= 0x30 && ch <= 0x7e:
		return 2
	}
	return 1
}

// csi is the length of parameters, intermediates and final byte from i on, 0 if
// they are not well formed.
func (c *cleaner) csi(i int) int {
	j := i
	for j < len(c.src) && c.src[j] >= 0x30 && c.src[j] <= 0x3f {
		j++
	}
	for j < len(c.src) && c.src[j] >= 0x20 && c.src[j] <= 0x2f {
		j++
	}
	if j < len(c.src) && c.src[j] >= 0x40 && c.src[j] <= 0x7e {
		return j + 1 - i
	}
	return 0
}

// str is the length of a control string from i up to and with its terminator
// (BEL, ESC \ or U+009C), 0 if there is none.
func (c *cleaner) str(i int) int {
	if c.noString {
		return 0
	}
	for j := i; j < len(c.src); j++ {
		switch c.src[j] {
		case 0x07:
			return j + 1 - i
		case esc:
			if j+1 < len(c.src) && c.src[j+1] == '\\' {
				return j + 2 - i
			}
		case 0xc2:
			if j+1 < len(c.src) && c.src[j+1] == 0x9c {
				return j + 2 - i
			}
		}
	}
	c.noString = true
	return 0
}
