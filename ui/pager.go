package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"castellan/theme"
	"castellan/ui/text"
)

// pagerLimit is how much of a text a Pager lays out, in bytes. A megabyte wraps
// in about ten milliseconds; more would be felt.
const pagerLimit = 1 << 20

// Pager shows wrapped text that may be longer than its place, and searches in it.
type Pager struct {
	th     theme.Theme
	fields []Field
	w, h   int
	top    int

	rows  []string // painted, wrapped for w
	plain []string // the same without colours
	query string
	found []int // rows that match
	at    int   // index into found
}

// NewPager makes an empty pager.
func NewPager(th theme.Theme) *Pager { return &Pager{th: th} }

// SetFields shows fields, from the top unless the pager was scrolled.
func (p *Pager) SetFields(fields []Field) {
	p.fields = fields
	p.layout()
}

// SetText shows text of any size and origin. Of a very long one the beginning is
// shown, and how much is missing.
func (p *Pager) SetText(s string) {
	head, short := text.Bound(s, pagerLimit, text.CutEnd)
	fields := []Field{Para(head)}
	if short {
		left := humanize.Bytes(uint64(len(s) - len(head)))
		fields = append(fields, Blank(), Field{Text: In(theme.Faint, "("+left+" more are not shown)")})
	}
	p.SetFields(fields)
}

// SetSize says how many cells there are.
func (p *Pager) SetSize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	same := w == p.w
	p.w, p.h = w, h
	if same {
		p.scroll(0)
		return
	}
	p.layout()
}

// SetTheme changes how the text looks.
func (p *Pager) SetTheme(th theme.Theme) {
	p.th = th
	p.layout()
}

// searchGutter is the room for the sign at the match one stands on.
const searchGutter = 2

func (p *Pager) layout() {
	w := p.w
	if p.query != "" {
		w -= searchGutter
	}
	p.rows, p.plain = nil, nil
	if w > 0 {
		p.rows = Fields(p.th, p.fields, w)
	}
	p.find()
	p.scroll(0)
}

// Scroll moves the text by n rows, Page by n pages.
func (p *Pager) Scroll(n int) { p.scroll(n) }

// Page moves by n pages, keeping one row in sight.
func (p *Pager) Page(n int) { p.scroll(n * max(p.h-1, 1)) }

// Home goes to the beginning.
func (p *Pager) Home() { p.scroll(-len(p.rows)) }

// End goes to the end.
func (p *Pager) End() { p.scroll(len(p.rows)) }

func (p *Pager) scroll(n int) {
	p.top = max(min(p.top+n, len(p.rows)-p.h), 0)
}

// AtEnd tells whether the last row is on the screen.
func (p *Pager) AtEnd() bool { return p.top+p.h >= len(p.rows) }

// Len is the number of rows at the present width.
func (p *Pager) Len() int { return len(p.rows) }

// Search looks for s, upper and lower case alike, and goes to the first match
// from here on. "" ends the search.
func (p *Pager) Search(s string) {
	was := p.query != ""
	p.query = s
	if was != (s != "") {
		p.layout() // the gutter comes or goes
	} else {
		p.find()
	}
	for i, row := range p.found {
		if row >= p.top {
			p.at = i
			break
		}
	}
	p.show()
}

// Query is what is being looked for.
func (p *Pager) Query() string { return p.query }

// Next goes to the next match, or the previous for a negative n, round the ends.
func (p *Pager) Next(n int) {
	if len(p.found) == 0 {
		return
	}
	p.at = ((p.at+n)%len(p.found) + len(p.found)) % len(p.found)
	p.show()
}

func (p *Pager) find() {
	p.found = nil
	if p.query == "" {
		p.at = 0
		return
	}
	if p.plain == nil {
		p.plain = make([]string, len(p.rows))
		for i, r := range p.rows {
			p.plain[i] = text.Strip(r)
		}
	}
	want := lower(p.query)
	for i, row := range p.plain {
		if strings.Contains(lower(row), want) {
			p.found = append(p.found, i)
		}
	}
	p.at = min(p.at, max(len(p.found)-1, 0))
}

// show scrolls so that the match is on the screen.
func (p *Pager) show() {
	if len(p.found) == 0 {
		return
	}
	row := p.found[p.at]
	if row < p.top || row >= p.top+p.h {
		p.top = row - p.h/3
	}
	p.scroll(0)
}

// Position is where one is: "", "12-30 of 200", "match 2 of 5", "no match".
func (p *Pager) Position() string {
	switch {
	case p.query != "" && len(p.found) == 0:
		return `no match for "` + oneLine(p.query) + `"`
	case p.query != "":
		return fmt.Sprintf("match %d of %d", p.at+1, len(p.found))
	case len(p.rows) > p.h && p.h > 0:
		return fmt.Sprintf("%d-%d of %d", p.top+1, min(p.top+p.h, len(p.rows)), len(p.rows))
	}
	return ""
}

// View draws what is in sight.
func (p *Pager) View() string {
	if p.w == 0 || p.h == 0 {
		return ""
	}
	var out []string
	for i := p.top; i < min(p.top+p.h, len(p.rows)); i++ {
		out = append(out, p.row(i))
	}
	return strings.Join(out, "\n")
}

func (p *Pager) row(i int) string {
	if p.query == "" {
		return p.rows[i]
	}
	if p.w <= searchGutter {
		return strings.Repeat(" ", p.w)
	}
	sign := "  "
	if len(p.found) > 0 && p.found[p.at] == i {
		sign = p.th.Paint(theme.Key, p.th.Glyphs.Cursor) + " "
	}
	plain, want := p.plain[i], lower(p.query)
	low := lower(plain)
	if !strings.Contains(low, want) {
		return sign + p.rows[i]
	}
	var b strings.Builder
	for at := 0; ; {
		j := strings.Index(low[at:], want)
		if j < 0 {
			b.WriteString(plain[at:])
			break
		}
		b.WriteString(plain[at : at+j])
		b.WriteString(p.th.Paint(theme.Match, plain[at+j:at+j+len(want)]))
		at += j + len(want)
	}
	return sign + b.String()
}

// lower is s in lower case, byte for byte: characters whose lower case has
// another length stay, so that positions hold in both.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}
