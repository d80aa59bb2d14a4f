package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"castellan/palace/search"
)

// What is printed of a hit: a person looks for the passage, --json has all.
const (
	searchLines = 6
	searchBytes = 32 << 10
)

// printSearch prints hits for people, best first.
func (a *app) printSearch(q search.Question, answer search.Answer) {
	for i, h := range answer.Hits {
		if i > 0 {
			a.gap()
		}
		a.printHit(i+1, h)
	}
	if len(answer.Hits) > 0 {
		a.gap()
	} else {
		what := "Nothing found for: " + clean(q.Words)
		if q.Like != "" {
			what = "Nothing else is there to be like " + clean(q.Like)
		}
		a.paragraph("", "", what)
	}
	a.paragraph("", "", "By "+answer.Reason+".")
}

func (a *app) printHit(n int, h search.Hit) {
	place := valueWords(value(h.Metadata["wing"]), "(no wing)") + " / " + valueWords(value(h.Metadata["room"]), "(no room)")
	writeLine(a.out, fmt.Sprintf("%d. %s  %s", n, a.ink.bold(place), hitFigures(h)))
	source := valueWords(value(h.Metadata["source_file"]), "")
	if from := valueWords(value(h.Metadata["line_start"]), ""); from != "" && source != "" {
		source += ", lines " + from + "-" + valueWords(value(h.Metadata["line_end"]), from)
	}
	for _, s := range []string{source, clean(h.ID)} {
		if s != "" {
			writeLine(a.out, "   "+a.ink.faint(a.cut(s, 3)))
		}
	}
	if len(h.AlsoIn) > 0 {
		also := "also in " + clean(h.AlsoIn[0].Source)
		if more := len(h.AlsoIn) - 1; more > 0 {
			also += fmt.Sprintf(" and %d more", more)
		}
		writeLine(a.out, "   "+a.ink.faint(a.cut(also, 3)))
	}
	text := h.Text
	if len(text) > searchBytes {
		text = text[:searchBytes]
		for !utf8.ValidString(text[len(text)-min(4, len(text)):]) && len(text) > searchBytes-4 {
			text = text[:len(text)-1]
		}
	}
	shown := 0
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if shown == searchLines {
			writeLine(a.out, "   "+a.ink.faint("..."))
			break
		}
		if line = clean(strings.TrimRight(line, "\r\n")); strings.TrimSpace(line) != "" {
			a.paragraph("   | ", "   | ", line)
			shown++
		}
	}
	if h.Document == nil {
		writeLine(a.out, "   (no text)")
	}
}

// hitFigures are what a hit was ranked by.
func hitFigures(h search.Hit) string {
	s := fmt.Sprintf("score %.3f", h.Score)
	if h.Distance != nil {
		s += fmt.Sprintf(", distance %.4f", *h.Distance)
	}
	if h.BM25 != nil {
		s += fmt.Sprintf(", bm25 %.3f", *h.BM25)
	}
	return s
}
