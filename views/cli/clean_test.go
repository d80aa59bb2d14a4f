package cli

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestStoredTextCannotDriveTheTerminal(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain", "plain"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\u009b31mred", "red"},
		{"\x1b]52;c;ZXZpbA==\x07after", "after"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1bPq#0\x1b\\sixel", "sixel"},
		{"\x1bcreset", "reset"},
		{"no end \x1b]0;title stays", "no end \uFFFD]0;title stays"},
		{"a\r\nb\tc", "a  b c"},
		{"bell\a back\b del\x7f", "bell\uFFFD back\uFFFD del\uFFFD"},
		{"\u202Egnp.exe", "\uFFFDgnp.exe"},
		{"caf\xc3", "caf\uFFFD"},
		{"日本 🏰", "日本 🏰"},
	} {
		if got := clean(tc.in); got != tc.want {
			t.Errorf("clean(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func FuzzCleanLeavesNoControl(f *testing.F) {
	for _, s := range []string{"", "\x1b[", "\x1b]\x1b]", "\xff\xfe", "a\u2028b", "\x1b\x1b[[0m0m", "\x1b[\x1b[0m1m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || isReordering(r) || r == '\u2028' {
				t.Fatalf("clean(%q) = %q holds %U", s, got, r)
			}
		}
	})
}

func TestPreviewIsShortWholeAndOnOneLine(t *testing.T) {
	long := strings.Repeat("日本語\n\t", 40_000)
	got := preview(long)
	if !utf8.ValidString(got) || utf8.RuneCountInString(got) != previewRunes+1 || strings.ContainsAny(got, "\n\t") || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	if got := preview("  two\n\n  words "); got != "two words" {
		t.Errorf("%q", got)
	}
	// A character that the byte limit would cut in half is left out, not torn.
	torn := strings.Repeat(" ", previewBytes-1) + "é"
	if got := preview(torn); got != "…" {
		t.Errorf("%q", got)
	}
}
