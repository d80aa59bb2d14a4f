package search

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// tokenizer splits text as MemPalace does: \w{2,} of the text in small letters,
// both as Python has them. Lower-casing depends on what stands around a letter
// (the Greek final sigma), so a tokenizer must not be shared by goroutines.
type tokenizer struct{ lower cases.Caser }

func newTokenizer() tokenizer { return tokenizer{cases.Lower(language.Und)} }

func (t tokenizer) small(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return t.lower.String(text)
		}
	}
	return strings.ToLower(text)
}

// tokens are the words of a text, in order.
func (t tokenizer) tokens(text string) []string {
	var list []string
	for _, w := range strings.FieldsFunc(t.small(text), notWord) {
		if !single(w) {
			list = append(list, w)
		}
	}
	return list
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' }

// single tells whether a text is one character.
func single(w string) bool { return length(w, 2) < 2 }

// length counts characters, up to most of them.
func length(w string, most int) int {
	n := 0
	for range w {
		if n++; n == most {
			break
		}
	}
	return n
}

// Terms are the words of a question that hits are marked by.
func Terms(words string) []string { return distinct(newTokenizer().tokens(words)) }

func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	var out []string
	for _, w := range list {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
