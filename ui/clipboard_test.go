package ui

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

func env(kv ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(k string) string { return m[k] }
}

func TestOSC52CarriesTheTextAndNothingElse(t *testing.T) {
	t.Parallel()
	s := "id\x1b]0;evil\x07漢字"
	seq, err := OSC52(s, env())
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := strings.CutPrefix(seq, "\x1b]52;c;")
	payload, ok2 := strings.CutSuffix(payload, "\x07")
	got, err := base64.StdEncoding.DecodeString(payload)
	if !ok || !ok2 || err != nil || string(got) != s {
		t.Errorf("%q", seq)
	}
	if seq, _ := OSC52("x", env("STY", "1")); !strings.HasPrefix(seq, "\x1bP\x1b]52") || !strings.HasSuffix(seq, "\x1b\\") {
		t.Errorf("in GNU screen: %q", seq)
	}
	var long *TooLongError
	if _, err := OSC52(strings.Repeat("x", osc52Limit+1), env()); !errors.As(err, &long) || long.Bytes != osc52Limit+1 {
		t.Errorf("%v", err)
	}
	if seq, err := OSC52(strings.Repeat("x", osc52Limit), env()); err != nil || len(seq) > 100_000 {
		t.Errorf("%d bytes, %v", len(seq), err)
	}
}

func TestCopyReportsWhatItDid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", osc52Limit+1)
	broken := func(string) error { return errors.New("no display") }
	for _, c := range []struct {
		what           string
		env            func(string) string
		local          func(string) error
		text           string
		tool, terminal bool
		say            string
	}{
		{"both", env(), func(string) error { return nil }, "abc", true, true, "Copied id, 3 bytes."},
		{"no tool", env(), broken, "abc", false, true, "If it does not arrive"},
		{"over ssh", env("SSH_TTY", "/dev/pts/1"), func(string) error { panic("the tool ran") }, "abc", false, true, "terminal's clipboard"},
		{"over ssh without a terminal", env("SSH_CONNECTION", "a b"), func(string) error { panic("the tool ran") }, "abc", false, true, ""},
		{"too long for the terminal", env(), func(string) error { return nil }, long, true, false, "Copied id, 74,001 bytes."},
		{"neither", env(), broken, long, false, false, "id was not copied: the clipboard tool: no display"},
	} {
		var out strings.Builder
		cb := NewClipboard(&out, c.env)
		cb.local = c.local
		m := cb.Copy("id", c.text)().(CopiedMsg)
		if m.Tool != c.tool || m.Terminal != c.terminal || (m.Err != nil) == (c.tool || c.terminal) || !strings.Contains(m.String(), c.say) {
			t.Errorf("%s: %+v, %s", c.what, m, m)
		}
		if strings.HasPrefix(out.String(), "\x1b]52;") != c.terminal {
			t.Errorf("%s: the terminal got %q", c.what, out.String())
		}
	}
}

func TestAHangingToolIsNotStartedTwice(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	cb := NewClipboard(&out, env())
	cb.patience = time.Millisecond
	started := make(chan struct{}, 10)
	release := make(chan struct{})
	cb.local = func(string) error {
		started <- struct{}{}
		<-release
		return nil
	}
	for range 3 {
		if m := cb.Copy("id", "x")().(CopiedMsg); m.Tool || !m.Terminal {
			t.Errorf("%+v", m)
		}
	}
	<-started // on a busy machine not before the three have lost patience
	if len(started) != 0 {
		t.Errorf("%d more tools hang", len(started))
	}
	close(release)
	cb.patience = time.Minute
	for !cb.Copy("id", "x")().(CopiedMsg).Tool {
		time.Sleep(time.Millisecond)
	}
}
