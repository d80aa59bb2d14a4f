package uitest

import (
	"fmt"
	"strings"
	"testing"
)

// recorder takes failures down instead of failing.
type recorder struct {
	testing.TB
	errs []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.errs = append(r.errs, fmt.Sprintf(f, a...)) }

func TestCheckSeesWhatBreaksATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, frame, complaint string }{
		{"a good one", "one\n\x1b[1;31mtwo\x1b[0m", ""},
		{"nothing", "", ""},
		{"too many lines", "1\n2\n3\n4", "4 lines"},
		{"too wide", "漢字漢字漢", "10 cells"},
		{"a bell", "a\a", "U+0007"},
		{"a tab", "a\tb", "U+0009"},
		{"C1", "a\u009b", "U+009B"},
		{"an override", "a\u202e", "U+202E"},
		{"a cursor move", "\x1b[2J", "no colour"},
		{"a clipboard write", "\x1b]52;c;eA==\x07", "no colour"},
		{"half a sequence", "abc\x1b[3", "no colour"},
	} {
		rec := &recorder{}
		Check(rec, c.frame, 8, 3)
		if c.complaint == "" && len(rec.errs) > 0 {
			t.Errorf("%s: %q", c.name, rec.errs)
		}
		if !strings.Contains(strings.Join(rec.errs, "\n"), c.complaint) {
			t.Errorf("%s: %q does not mention %q", c.name, rec.errs, c.complaint)
		}
	}
}

func TestKeysHaveTheNamesBubbleTeaGivesThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"j", "G", "enter", "esc", "ctrl+c", "shift+tab", "pgdown", "up", "backspace", "f1"} {
		if got := Key(name).String(); got != name {
			t.Errorf("key %q is called %q", name, got)
		}
	}
	if got := Key("space").String(); got != " " {
		t.Errorf("space is called %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a key that does not exist is made")
		}
	}()
	Key("entre")
}
