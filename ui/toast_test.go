package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"castellan/theme"
	"castellan/ui/uitest"
)

func newToasts() (*Toasts, *Log, *uitest.Clock) {
	clock := uitest.NewClock()
	log := NewLog(100, clock.Now)
	return NewToasts(log), log, clock
}

func TestToastsGoButErrorsStayUntilAKey(t *testing.T) {
	t.Parallel()
	ts, log, _ := newToasts()
	if ts.View(uitest.Plain(), 80) != "" || ts.KeyPressed() {
		t.Error("something is said though nothing happened")
	}
	if ts.Show(theme.Good, "Copied id.") == nil {
		t.Error("a message stays for ever")
	}
	if ts.Show(theme.Fail, "Repair failed.") != nil {
		t.Error("an error goes by itself")
	}
	ts.Show(theme.Note, "Read again.")
	if got := strings.TrimRight(ts.View(uitest.ASCII(), 80), " "); got != " [x] Repair failed. (2 more)" {
		t.Errorf("%q", got)
	}
	ts.Expire(ToastExpiredMsg{1})
	ts.Expire(ToastExpiredMsg{1}) // late, and again
	if !ts.KeyPressed() || ts.Current() != "Read again." {
		t.Errorf("after a key %q is shown", ts.Current())
	}
	if ts.KeyPressed() {
		t.Error("a key takes away what goes by itself")
	}
	ts.Expire(ToastExpiredMsg{3})
	if ts.Current() != "" {
		t.Errorf("%q stays", ts.Current())
	}
	if n := len(log.Lines()); n != 3 {
		t.Errorf("%d of 3 messages are in the log", n)
	}
}

func TestRepeatedToastsAreCounted(t *testing.T) {
	t.Parallel()
	ts, _, _ := newToasts()
	for range 3 {
		ts.Show(theme.Warn, "The palace is held.")
	}
	if got := strings.TrimRight(ts.View(uitest.ASCII(), 80), " "); got != " [!] The palace is held. (3 times)" {
		t.Errorf("%q", got)
	}
	ts.Expire(ToastExpiredMsg{2}) // the timer of an earlier showing
	if ts.Current() == "" {
		t.Error("the first timer takes the third showing away")
	}
	for i := range 1000 {
		ts.Show(theme.Fail, fmt.Sprint(i))
	}
	if len(ts.list) > toastLimit {
		t.Errorf("%d toasts wait", len(ts.list))
	}
}

func TestToastsStayThreeToSixSeconds(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]time.Duration{"": 3 * time.Second, strings.Repeat("x", 50): 4500 * time.Millisecond, strings.Repeat("x", 999): 6 * time.Second} {
		if got := toastTime(theme.Note, msg); got != want {
			t.Errorf("%d characters stay %v, want %v", len(msg), got, want)
		}
	}
}

func TestLogKeepsTheLatest(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	l := NewLog(5, clock.Now)
	l.SetSize(2)
	for i := range 8 {
		l.Add(theme.Note, fmt.Sprintf("line %d", i))
	}
	if lines := l.Lines(); len(lines) != 5 || lines[0].Text != "line 3" || lines[4].Text != "line 7" {
		t.Errorf("%v", lines)
	}
	if v := l.View(uitest.ASCII(), 40); !strings.Contains(v, "line 6") || !strings.Contains(v, "line 7") {
		t.Errorf("the end is out of sight:\n%s", v)
	}
	l.Scroll(-1)
	was := l.View(uitest.ASCII(), 40)
	l.Add(theme.Fail, "line 8")
	if v := l.View(uitest.ASCII(), 40); v != was {
		t.Errorf("a new line moves what one reads:\n%s\nwas\n%s", v, was)
	}
	l.Scroll(99)
	if v := l.View(uitest.ASCII(), 40); !strings.Contains(v, "[x]  line 8") {
		t.Errorf("%s", v)
	}
	if s := l.String(); !strings.Contains(s, "2026-11-30 16:12:00 error line 8\n") {
		t.Errorf("%q", s)
	}
}

func TestLogTakesWhatChildProgramsWrite(t *testing.T) {
	t.Parallel()
	l := NewLog(50, uitest.NewClock().Now)
	l.SetSize(40)
	l.Add(theme.Note, "Staged 1\rStaged 2\r\nStaged \x1b[32m3\x1b[0m\n")
	l.Add(theme.Note, strings.Repeat("x", 1<<20))
	for _, s := range uitest.Hostile() {
		l.Add(theme.Warn, s)
	}
	var texts []string
	for _, x := range l.Lines() {
		texts = append(texts, x.Text)
		if len(x.Text) > logLineLimit {
			t.Errorf("a line of %d bytes is kept", len(x.Text))
		}
	}
	if got := strings.Join(texts[:3], "|"); got != "Staged 1|Staged 2|Staged 3" {
		t.Errorf("%q", got)
	}
	for w := range 30 {
		uitest.Check(t, l.View(uitest.Color(), w), w, 40)
	}
}

func TestMessageFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "messages", func(th theme.Theme, w, h int) string {
		ts, log, clock := newToasts()
		log.SetSize(6)
		for s := theme.Good; s <= theme.Peril; s++ {
			clock.Advance(7 * time.Second)
			ts.Show(s, "This is "+s.Word()+", told in a sentence that is longer than a small window is wide.")
		}
		return ts.View(th, w) + "\n" + log.View(th, w)
	})
}
