package text

import (
	"strings"
	"testing"

	"castellan/ui/uitest"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestCleanShowsTextAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, line, block string }{
		{"plain", "drawer 1", "drawer 1", "drawer 1"},
		{"empty", "", "", ""},
		{"line breaks", "a\nb\r\nc\rd", "a b c d", "a\nb\nc\nd"},
		{"other breaks", "a\vb\fc\u0085d\u2028e\u2029f", "a b c d e f", "a\nb\nc\nd\ne\nf"},
		{"tab", "a\tb", "a b", "a    b"},
		{"colour", "\x1b[31;1mred\x1b[0m", "red", "red"},
		{"a clipboard write", "x\x1b]52;c;ZXZpbA==\x07y", "xy", "xy"},
		{"the same ended by ST", "x\x1b]52;c;ZXZpbA==\x1b\\y", "xy", "xy"},
		{"the same in C1", "x\u009d52;c;ZXZpbA==\u009cy", "xy", "xy"},
		{"CSI in C1", "x\u009b2Jy", "xy", "xy"},
		{"a device control string", "x\x1bPq#0;2;0\x1b\\y", "xy", "xy"},
		{"reset", "x\x1bcy", "xy", "xy"},
		{"character set", "x\x1b(0y", "xy", "xy"},
		{"a lone escape at the end", "x\x1b", "x", "x"},
		{"an unfinished CSI", "x\x1b[31", "x31", "x31"},
		{"bell, backspace, delete, NUL", "x\a\b\x7f\x00y", "xy", "xy"},
		{"other C1", "x\u0084y", "xy", "xy"},
		{"invalid UTF-8, once a run", "x\xff\xfe\xfdy\xc3", "x\ufffdy\ufffd", "x\ufffdy\ufffd"},
		{"raw C1 bytes are invalid UTF-8", "x\x9b31my", "x\ufffd31my", "x\ufffd31my"},
		{"bidi overrides", "evil\u202egnp.exe\u202c \u2066a\u2069\u200f\u200e\u061c", "evilgnp.exe a", "evilgnp.exe a"},
		{"byte order mark, soft hyphen, word joiner", "\ufeffa\u00adb\u2060c", "abc", "abc"},
		{"right to left text stays", "שלום عليكم", "שלום عليكم", "שלום عليكم"},
		{"joiners stay", "می\u200cخواهم 👩\u200d👩\u200d👧", "می\u200cخواهم 👩\u200d👩\u200d👧", "می\u200cخواهم 👩\u200d👩\u200d👧"},
		{"a flag of tags stays", "🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"},
		{"combining marks stay", "e\u0301 a\u0308", "e\u0301 a\u0308", "e\u0301 a\u0308"},
	} {
		if got := Clean(c.in); got != c.line {
			t.Errorf("%s: Clean gives %q, want %q", c.name, got, c.line)
		}
		if got := Block(c.in); got != c.block {
			t.Errorf("%s: Block gives %q, want %q", c.name, got, c.block)
		}
	}
}

// One introducer without an end must not hide the rest of a drawer.
func TestAnUnfinishedSequenceHidesNothing(t *testing.T) {
	t.Parallel()
	for _, intro := range []string{"\x1b]", "\x1bP", "\x1b_", "\u009d"} {
		if got := Clean("before " + intro + " after"); got != "before  after" {
			t.Errorf("%q: %q", intro, got)
		}
	}
}

func TestOneCharacterIsNeverALongText(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"marks":   "e" + strings.Repeat("\u0301", 10_000),
		"joiners": strings.Repeat("👩\u200d", 10_000) + "👩",
	} {
		got := Clean(s)
		if Clean(got) != got {
			t.Errorf("%s: cleaning twice differs", name)
		}
		if cut := (Ruler{}).Truncate(got, 5, CutEnd); len(cut) > 5*maxCluster {
			t.Errorf("%s: five cells take %d bytes", name, len(cut))
		}
	}
}

// Introducers without a terminator were once searched for to the end each:
// 2 MB of them took minutes. Linear work is done long before this deadline.
func TestCleaningIsLinear(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Clean(strings.Repeat("\x1b]", 1<<20))
		Clean(strings.Repeat("\x1b[1;2;3", 1<<18))
		Clean(strings.Repeat("\x1b   ", 1<<18))
		Clean("e" + strings.Repeat("\u0301", 1<<20))
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("cleaning 8 MB is not done after a minute")
	}
}

func dirty(s string, block bool) (rune, bool) {
	for _, r := range s {
		if r == '\n' && block || r == '\u200c' || r == '\u200d' || r >= 0xe0020 && r <= 0xe007f {
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return r, true
		}
	}
	return 0, false
}

func FuzzClean(f *testing.F) {
	for _, s := range uitest.Hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, block := range []bool{false, true} {
			got := clean(s, block)
			if r, bad := dirty(got, block); bad {
				t.Fatalf("%q keeps %U: %q", s, r, got)
			}
			if !utf8.ValidString(got) {
				t.Fatalf("%q gives invalid UTF-8 %q", s, got)
			}
			if again := clean(got, block); again != got {
				t.Fatalf("cleaning %q again changes %q into %q", s, got, again)
			}
		}
	})
}

func BenchmarkCleanASCII(b *testing.B) {
	s := strings.Repeat("plain text ", 8)
	for b.Loop() {
		Clean(s)
	}
}

func BenchmarkCleanMixedMegabyte(b *testing.B) {
	s := strings.Repeat("grün 漢字 \x1b[31mred\x1b[0m 👩‍👩‍👧 text\n", 1<<14)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Block(s)
	}
}
