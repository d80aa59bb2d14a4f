package locks

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTextOfOthersCannotReachTheTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"mempalace mine /x":            "mempalace mine /x",
		"\x1b[31mred\x1b[0m":           "red",
		"a\x1b]0;title\x07b":           "a]0;titleb",
		"\x1b[999999":                  "[999999",
		"\x1b[1;2\x1bX":                "[1;2X",
		"one\ntwo\tthree\r":            "one two three",
		"\u202egnp.exe":                "gnp.exe",
		"a\u0000b\u007fc\u009bd":       "abcd",
		"bad\xffbytes":                 "bad\ufffdbytes",
		"宮殿 é 🏛":                       "宮殿 é 🏛",
		"":                             "",
		"\x1b":                         "",
		"\u2066left\u2069\u200b right": "left right",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := clean(strings.Repeat("宮", 10_000)); len(got) > maxText+len("…") || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes kept", len(got))
	}
}

func FuzzCleanLeavesOneSafeLine(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b[", "\x1b]0;\x07", "\xff\xfe", "a\u202eb", strings.Repeat("é", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || len(got) > maxText+len("…") {
			t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q is left in %q", r, got)
			}
		}
	})
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"mempalace serve --token abc --port 8765":                     "mempalace serve --token *** --port 8765",
		"mempalace serve --token=abc":                                 "mempalace serve --token=***",
		"mempalace init /x --llm-api-key k --yes":                     "mempalace init /x --llm-api-key *** --yes",
		"env OPENAI_API_KEY=k MEMPALACE_MCP_HTTP_TOKEN=t mempalace":   "env OPENAI_API_KEY=*** MEMPALACE_MCP_HTTP_TOKEN=*** mempalace",
		"psql postgresql://u:p4ss@localhost:5432/mempalace":           "psql postgresql://u:***@localhost:5432/mempalace",
		"curl -H Authorization: Bearer abc.def":                       "curl -H Authorization: Bearer ***",
		"tool sk-abcdefghijklmnop ghp_0123456789abcdef":               "tool *** ***",
		"mempalace serve --tls-key /k.pem --tls-cert /c.pem":          "mempalace serve --tls-key /k.pem --tls-cert /c.pem",
		"mempalace serve --token-file /t --max-tokens 5":              "mempalace serve --token-file /t --max-tokens 5",
		"mempalace mine --token --wing w":                             "mempalace mine --token --wing w",
		"mempalace search token secret --results 5":                   "mempalace search token secret --results 5",
		"x --password p --db.passwd q --pgvector_dsn postgresql://u@": "x --password *** --db.passwd *** --pgvector_dsn ***",
	} {
		if got := commandLine(strings.Split(in, " ")); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
	if got := commandLine([]string{"curl", "-H", "Authorization: Bearer abc.def"}); strings.Contains(got, "abc") {
		t.Errorf("a header in one argument: %q", got)
	}
}
