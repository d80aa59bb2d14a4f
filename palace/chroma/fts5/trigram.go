package fts5

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// folder maps letters that differ in case only to one of them: the first of
// their orbit. The tokenizer of SQLite folds with tables of its own, an older
// Unicode's; whatever it makes of a letter is in that letter's orbit, so the
// two meet here.
type folder struct {
	ascii [utf8.RuneSelf]rune
	cache [1 << 12]struct{ from, to rune }
}

func newFolder() *folder {
	f := &folder{}
	for c := range f.ascii {
		f.ascii[c] = orbit(rune(c))
	}
	return f
}

func orbit(c rune) rune {
	least := c
	for o := unicode.SimpleFold(c); o != c; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	return least
}

func (f *folder) fold(c rune) rune {
	if c < utf8.RuneSelf {
		return f.ascii[c]
	}
	e := &f.cache[uint32(c)%uint32(len(f.cache))]
	if e.from != c {
		to := orbit(c)
		if c&^1 == 0xFFFE {
			to = utf8.RuneError // as SQLite reads these two
		}
		e.from, e.to = c, to
	}
	return e.to
}

// trigram is three folded letters, 21 bits each.
type trigram uint64

const trigramMask = 1<<63 - 1

func (t trigram) then(c rune) trigram { return (t<<21 | trigram(c)) & trigramMask }

// hash spreads a trigram; at spreads one of its positions. Both only need to be
// so good that sums do not agree by accident.
func (t trigram) hash() uint64 {
	hi, lo := bits.Mul64(uint64(t)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func at(hash uint64, position uint32) uint64 {
	hi, lo := bits.Mul64(hash^uint64(position)*0x9e3779b97f4a7c15, 0xa0761d6478bd642f)
	return hi ^ lo
}

// sum adds up all trigrams of a text by their positions. It is not ok for texts
// that are no UTF-8 or hold a NUL, which versions of SQLite read differently.
func (f *folder) sum(text []byte) (sum uint64, tokens uint32, ok bool) {
	if !utf8.Valid(text) {
		return 0, 0, false
	}
	var t trigram
	seen := 0
	for i := 0; i < len(text); {
		c, n := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(text[i:])
		} else if c == 0 {
			return 0, 0, false
		}
		i += n
		t = t.then(f.fold(c))
		if seen++; seen >= 3 {
			sum += at(t.hash(), tokens)
			tokens++
		}
	}
	return sum, tokens, true
}

// term reads a term of the main index: its first byte says so, the rest is three
// letters.
func (f *folder) term(b []byte) (t trigram, ok bool) {
	if len(b) < 4 || b[0] != '0' || !utf8.Valid(b) {
		return 0, false
	}
	n := 0
	for b = b[1:]; len(b) > 0; n++ {
		c, size := utf8.DecodeRune(b)
		t, b = t.then(f.fold(c)), b[size:]
	}
	return t, n == 3
}
