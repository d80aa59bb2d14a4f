package text

import (
	"slices"
	"strings"
	"testing"

	"castellan/ui/uitest"
)

func TestWrapBreaksAtBlanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    string
		w    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one  two", 4, []string{"one", "two"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"a\n", 5, []string{"a", ""}},
		{"  indented text here", 12, []string{"  indented", "text here"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"to abcdefghij", 4, []string{"to", "abcd", "efgh", "ij"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"see 漢字漢字", 7, []string{"see 漢", "字漢字"}},
		{"漢", 1, []string{"…"}},
		{"trailing    ", 20, []string{"trailing"}},
		{"      x", 3, []string{"", "x"}},
		{"x", 0, []string{""}},
	} {
		got := Ruler{Tail: "…"}.Wrap(c.s, c.w)
		if !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.s, c.w, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for _, s := range uitest.Hostile() {
		f.Add(s, 7)
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = min(max(w, 1), 200)
		block := Block(s)
		for _, r := range []Ruler{{Tail: "…"}, {Wide: true, Tail: "..."}} {
			for _, line := range r.Wrap(block, w) {
				if r.Width(line) > w {
					t.Fatalf("%q wrapped at %d has %q", block, w, line)
				}
			}
			// Nothing but blanks and line breaks is lost.
			var kept strings.Builder
			for _, sp := range r.Breaks(block, w) {
				kept.WriteString(block[sp.Start:sp.End])
			}
			drop := strings.NewReplacer(" ", "", "\n", "")
			if drop.Replace(kept.String()) != drop.Replace(block) {
				t.Fatalf("%q wrapped at %d lost text: %q", block, w, kept.String())
			}
		}
	})
}

func BenchmarkWrapMegabyte(b *testing.B) {
	s := strings.Repeat("words of prose, one after the other, ", 1<<15)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Ruler{}.Breaks(s, 76)
	}
}
