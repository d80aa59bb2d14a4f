package text

import (
	"strings"
	"testing"

	"castellan/ui/uitest"

	"github.com/charmbracelet/x/ansi"
)

func TestWidthCountsCells(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "👩‍👩‍👧": 2, "🇩🇪": 2, "…": 1,
		"क्षत्रिय": 6, // most terminals advance for each letter and spacing sign
	} {
		if got := (Ruler{}).Width(s); got != want {
			t.Errorf("%q is %d cells, want %d", s, got, want)
		}
	}
	if got := (Ruler{Wide: true}).Width("…─a"); got != 5 {
		t.Errorf("ambiguous characters in a wide terminal: %d cells, want 5", got)
	}
}

func TestTruncateKeepsTheEndThatMatters(t *testing.T) {
	t.Parallel()
	r := Ruler{Tail: "…"}
	ascii := Ruler{Tail: "..."}
	for _, c := range []struct {
		r    Ruler
		s    string
		w    int
		cut  Cut
		want string
	}{
		{r, "wing_code", 9, CutEnd, "wing_code"},
		{r, "wing_code", 8, CutEnd, "wing_co…"},
		{r, "wing_code", 1, CutEnd, "…"},
		{r, "wing_code", 0, CutEnd, ""},
		{r, "wing_code", -3, CutEnd, ""},
		{r, "~/code/notes", 8, CutStart, "…e/notes"},
		{r, "9f1c0d3e-55e2", 7, CutMiddle, "9f1…5e2"},
		{r, "9f1c0d3e-55e2", 8, CutMiddle, "9f1c…5e2"},
		{r, "漢字漢字", 7, CutEnd, "漢字漢…"},
		{r, "漢字漢字", 6, CutEnd, "漢字…"}, // never half a character
		{r, "漢字漢字", 6, CutStart, "…漢字"},
		{r, "漢字漢字", 1, CutEnd, "…"},
		{r, "ae\u0301io", 3, CutEnd, "ae\u0301…"},
		{r, "aie\u0301o", 3, CutStart, "…e\u0301o"},
		{ascii, "wing_code", 8, CutEnd, "wing_..."},
		{ascii, "wing_code", 5, CutEnd, "wing~"},
		{ascii, "wing_code", 1, CutEnd, "~"},
		{Ruler{}, "wing_code", 4, CutEnd, "wing"},
	} {
		if got := c.r.Truncate(c.s, c.w, c.cut); got != c.want {
			t.Errorf("Truncate(%q, %d, %d) = %q, want %q", c.s, c.w, c.cut, got, c.want)
		}
	}
}

func TestFitAlwaysFillsItsColumn(t *testing.T) {
	t.Parallel()
	for _, r := range []Ruler{{Tail: "…"}, {Tail: "..."}, {}, {Wide: true, Tail: "..."}} {
		for _, s := range uitest.Hostile() {
			for w := range 40 {
				for _, cut := range []Cut{CutEnd, CutStart, CutMiddle} {
					got := r.Fit(s, w, cut, Right)
					if r.Width(got) != w {
						t.Fatalf("%+v: %q at %d cells is %q, %d cells", r, s, w, got, r.Width(got))
					}
				}
			}
		}
	}
}

func TestFitMarksACutThatCleaningHid(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("\x1b[0m", 2000) + "the text"
	if got := (Ruler{Tail: "…"}).Fit(s, 8, CutEnd, Left); !strings.Contains(got, "…") {
		t.Errorf("%q does not tell that there is more", got)
	}
}

func TestBoundKeepsWholeCharacters(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("漢", 10)
	for limit := range len(s) {
		for _, cut := range []Cut{CutEnd, CutStart, CutMiddle} {
			got, short := Bound(s, limit, cut)
			if !short || len(got) > limit || strings.Trim(got, "漢") != "" {
				t.Fatalf("limit %d: %q", limit, got)
			}
		}
	}
	garbage := strings.Repeat("\x80", 100)
	if got, _ := Bound(garbage, 10, CutEnd); len(got) > 10 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestPreviewTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	shown, left := Preview("a\tb\n"+strings.Repeat("x", 100), 10)
	if shown != "a    b\nxxxxxx" || left != 94 {
		t.Errorf("%q, %d left", shown, left)
	}
}

func TestSliceCutsPaintedLines(t *testing.T) {
	t.Parallel()
	r := Ruler{}
	red := "\x1b[31mab漢cd\x1b[0mef"
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 8, "\x1b[31mab漢cd\x1b[0mef"},
		{1, 3, "\x1b[31mb \x1b[0m"},
		{3, 5, "\x1b[31m c\x1b[0m"},
		{6, 10, "ef  "},
		{2, 2, ""},
		{20, 23, "   "},
	} {
		if got := r.Slice(red, c.from, c.to); got != c.want {
			t.Errorf("[%d,%d) is %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := r.Slice("\x1b[31mab\x1b[0m", 2, 4); strings.Contains(got, "\x1b[31m") {
		t.Errorf("blanks are painted: %q", got)
	}
}

func FuzzTruncate(f *testing.F) {
	for _, s := range uitest.Hostile() {
		f.Add(s, 7, uint8(0))
		f.Add(s, 1, uint8(1))
		f.Add(s, 12, uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, w int, mode uint8) {
		w = min(max(w, -1), 200)
		for _, r := range []Ruler{{Tail: "…"}, {Tail: "...", Wide: true}} {
			clean := Clean(s)
			got := r.Truncate(clean, w, Cut(mode%3))
			if n := r.Width(got); n > max(w, 0) {
				t.Fatalf("%q cut to %d is %q, %d cells", clean, w, got, n)
			}
			// Bubble Tea's own measure must agree that it fits.
			if n := ansi.StringWidth(got); n > max(w, 0) {
				t.Fatalf("%q cut to %d is %q, %d cells for Bubble Tea", clean, w, got, n)
			}
			if got != clean && w > 0 && r.Width(clean) <= w {
				t.Fatalf("%q fits into %d and became %q", clean, w, got)
			}
			if fit := r.Fit(s, w, Cut(mode%3), Left); r.Width(fit) != max(w, 0) {
				t.Fatalf("%q fitted to %d is %q", s, w, fit)
			}
			if sl := r.Slice(clean, 2, 2+w); r.Width(sl) > max(w, 0) || ansi.StringWidth(sl) > max(w, 0) {
				t.Fatalf("%q sliced to %d is %q", clean, w, sl)
			}
		}
	})
}
