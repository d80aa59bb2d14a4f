package views

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"castellan/palace/search"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// tellHit is the pane: where the drawer belongs, what it was ranked by, its text
// with the words marked, and how the answer came about.
func (s *searching) tellHit() []ui.Field {
	h := s.hit()
	if h == nil {
		if s.answer != nil {
			return []ui.Field{howField(s.answer)}
		}
		return nil
	}
	return s.app.hitFields(*h, *s.answer)
}

func howField(a *search.Answer) ui.Field {
	role := theme.Faint
	if a.Degraded {
		role = theme.Warning
	}
	return ui.Field{Label: "found by", Text: ui.In(role, a.Reason)}
}

// hitFields are a hit in full.
func (a *App) hitFields(h search.Hit, answer search.Answer) []ui.Field {
	fields := []ui.Field{{Text: placeLine(toDrawer(h.Record), a.opts.Home)}, {Text: ui.In(theme.Faint, figuresOf(h))}, ui.Blank()}
	if h.Document == nil {
		fields = append(fields, documentFields(nil)...)
	} else {
		shown, left := text.Preview(h.Text, documentShown)
		fields = append(fields, ui.Field{Text: marked(shown, answer.Terms)})
		if left > 0 {
			fields = append(fields, ui.Blank(), ui.Field{Text: ui.In(theme.Faint, humanize.Bytes(uint64(left))+" more are not shown; castellan export has all.")})
		}
	}
	fields = append(fields, ui.Blank(), howField(&answer), ui.Field{Label: "id", Text: ui.Plain(h.ID)})
	for _, c := range h.AlsoIn {
		fields = append(fields, ui.Field{Label: "also in", Text: ui.Plain(tilde(c.Source, a.opts.Home))})
	}
	for _, k := range h.Metadata.Keys() {
		fields = append(fields, metadataField(k, h.Metadata[k]))
	}
	return fields
}

// figuresOf are what a hit was ranked by.
func figuresOf(h search.Hit) string {
	s := fmt.Sprintf("score %.3f", h.Score)
	if h.Distance != nil {
		s += fmt.Sprintf("   distance %.4f", *h.Distance)
	}
	if h.BM25 != nil {
		s += fmt.Sprintf("   bm25 %.3f", *h.BM25)
	}
	return s
}

// wordAt is a word of a text that is one of those searched for, or has one
// inside.
type wordAt struct{ from, to int }

// found lists the words to mark, at most so many.
func found(s string, terms []string, most int) []wordAt {
	if len(terms) == 0 {
		return nil
	}
	want := make(map[string]bool, len(terms))
	for _, t := range terms {
		want[t] = true
	}
	var list []wordAt
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		w := strings.ToLower(s[from:to])
		if want[w] {
			list = append(list, wordAt{from, to})
		} else {
			for _, t := range terms {
				if i := strings.Index(w, t); i >= 0 && len(w) == to-from {
					list = append(list, wordAt{from + i, from + i + len(t)})
					break
				}
			}
		}
		from = -1
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' {
			end(i)
			if len(list) >= most {
				return list
			}
		} else if from < 0 {
			from = i
		}
	}
	end(len(s))
	return list
}

// marked is a text with what was searched for standing out.
func marked(s string, terms []string) ui.Line {
	var line ui.Line
	at := 0
	for _, w := range found(s, terms, 2000) {
		line = append(line, ui.Span{Text: s[at:w.from]}, ui.Span{Text: s[w.from:w.to], Role: theme.Match})
		at = w.to
	}
	return append(line, ui.Span{Text: s[at:]})
}

// before is how much of a text stands before the first match in a list.
const before = 24

// excerpt is the beginning of a text, or what stands around the first of the
// words if that is further on.
func excerpt(s string, terms []string) string {
	head, _ := text.Bound(s, documentShown, text.CutEnd)
	start := 0
	if list := found(head, terms, 1); len(list) > 0 && list[0].from > 2*before {
		start = list[0].from - before
		for start > 0 && !utf8.RuneStart(head[start]) {
			start--
		}
		if i := strings.IndexByte(head[start:list[0].from], ' '); i >= 0 {
			start += i + 1
		}
	}
	cut, _ := text.Bound(head[start:], previewBytes, text.CutEnd)
	cut = text.Clean(cut)
	if start > 0 {
		cut = "..." + cut
	}
	return cut
}
