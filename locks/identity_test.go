package locks

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestLockFileTextsOfEveryKind(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]identity{
		"\x0025512 /usr/bin/mempalace mine /x": {25512, "/usr/bin/mempalace mine /x"},
		"\x00 25512 mempalace mine\n":          {25512, "mempalace mine"},
		"\x0025512":                            {25512, ""},
		"25512 mempalace mine":                 {25512, "mempalace mine"},
		"X25512 mempalace":                     {25512, "mempalace"},
		"":                                     {},
		"\x00":                                 {},
		"\x00\x00\x00\x00":                     {},
		"\x00mempalace mine":                   {0, "mempalace mine"},
		"\x00-5 x":                             {0, "-5 x"},
		"\x00+5 x":                             {0, "+5 x"},
		"\x000 x":                              {0, "0 x"},
		"\x0099999999999999999999 x":           {0, "99999999999999999999 x"},
		"\x00{\"pid\": 12, \"argv\": [\"mempalace\",\"mcp\"]}": {12, "mempalace mcp"},
		"{\"pid\": \"12\", \"cmdline\": \"mempalace mcp\"}":    {12, "mempalace mcp"},
		"\x00{\"pid\": null}":                                  {},
		"\x00{\"pid\": 1.5e3}":                                 {},
		"\x00{broken":                                          {0, "{broken"},
		"\x00[1]":                                              {0, "[1]"},
		"\x00\xff\xfe\x1b[2J":                                  {0, "\ufffd\ufffd"},
		"\x007 mempalace serve --token=abc":                    {7, "mempalace serve --token=***"},
		"\x0012\tmempalace\n\nmine":                            {12, "mempalace mine"},
	} {
		if got := parseIdentity([]byte(body)); got != want {
			t.Errorf("%q\n got %+v\nwant %+v", body, got, want)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	for _, s := range []string{"\x0025512 mempalace mine", "{\"pid\":1}", "\x00{", "\x00\xff", "1", "\x00 ", "\x00\u2028"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		id := parseIdentity(body)
		if id.pid < 0 || len(id.text) > maxText+len("…") {
			t.Fatalf("%+v", id)
		}
	})
}

func TestAHugeLockFileIsNotReadWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	write(t, path, "\x0012 mempalace"+strings.Repeat(" x", 1<<20))
	id, modified, err := readIdentity(path)
	if err != nil || id.pid != 12 || len(id.text) > maxText+len("…") || modified.IsZero() {
		t.Errorf("pid %d, %d bytes of text, %v", id.pid, len(id.text), err)
	}
}
