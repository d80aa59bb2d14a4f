package closing

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newHooks(t *testing.T, config string) *Hooks {
	t.Helper()
	dir := t.TempDir()
	h := &Hooks{File: filepath.Join(dir, ".mempalace", "config.json"), StateDir: filepath.Join(dir, "state")}
	must(t, os.Mkdir(filepath.Dir(h.File), 0o700))
	if config != "" {
		must(t, os.WriteFile(h.File, []byte(config), 0o640))
	}
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func TestPausingChangesOneWordAndResumingPutsEveryByteBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, paused string }{
		"set": {
			"{\n  \"palace_path\": \"/p\",\n  \"hooks\": {\n    \"auto_save\": true,\n    \"silent_save\": false\n  },\n  \"x\": 1e999\n}\n",
			"{\n  \"palace_path\": \"/p\",\n  \"hooks\": {\n    \"auto_save\": false,\n    \"silent_save\": false\n  },\n  \"x\": 1e999\n}\n"},
		"section without it": {
			"{\n  \"hooks\": {\n    \"daemon\": true\n  }\n}",
			"{\n  \"hooks\": {\n    \"daemon\": true,\n    \"auto_save\": false\n  }\n}"},
		"no section": {
			"{\n  \"wing\": \"Bücher €\",\n  \"n\": 12345678901234567890\n}\n",
			"{\n  \"wing\": \"Bücher €\",\n  \"n\": 12345678901234567890,\n  \"hooks\": {\n    \"auto_save\": false\n  }\n}\n"},
		"one line":          {`{"a":1,"b":[{"hooks":2}]}`, `{"a":1,"b":[{"hooks":2}],"hooks": {"auto_save": false}}`},
		"empty":             {"{}", "{\n  \"hooks\": {\n    \"auto_save\": false\n  }\n}"},
		"empty section":     {`{"hooks":{}}`, `{"hooks":{"auto_save": false}}`},
		"null section":      {`{"hooks": null, "z": 1}`, `{"hooks": {"auto_save": false}, "z": 1}`},
		"odd value":         {`{"hooks":{"auto_save":"yes"}}`, `{"hooks":{"auto_save":false}}`},
		"doubled key":       {`{"hooks":{"auto_save":1},"hooks":{"auto_save":true}}`, `{"hooks":{"auto_save":1},"hooks":{"auto_save":false}}`},
		"byte order mark":   {"\ufeff{\"hooks\":{\"auto_save\":true}}", "\ufeff{\"hooks\":{\"auto_save\":false}}"},
		"carriage returns":  {"{\r\n\t\"a\": 1\r\n}", "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"auto_save\": false\r\n\t}\r\n}"},
		"key spelled oddly": {`{"hooks":{"auto\u005fsave": true}}`, `{"hooks":{"auto\u005fsave": false}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHooks(t, c.before)
			if changed, err := h.Pause(); !changed || err != nil {
				t.Fatalf("paused: %v, %v", changed, err)
			}
			if got := text(t, h.File); got != c.paused {
				t.Errorf("paused:\n%q, want\n%q", got, c.paused)
			}
			// A second pause must not remember the first one's false.
			if changed, err := h.Pause(); changed || err != nil {
				t.Errorf("paused again: %v, %v", changed, err)
			}
			if changed, err := h.Resume(); !changed || err != nil {
				t.Fatalf("resumed: %v, %v", changed, err)
			}
			if got := text(t, h.File); got != c.before {
				t.Errorf("resumed:\n%q, want\n%q", got, c.before)
			}
			if _, err := h.Resume(); !errors.Is(err, ErrNotPaused) {
				t.Errorf("resumed twice: %v", err)
			}
		})
	}
}

func TestPausingGoesThroughALinkAndKeepsTheMode(t *testing.T) {
	t.Parallel()
	h := newHooks(t, "")
	real := filepath.Join(filepath.Dir(filepath.Dir(h.File)), "dotfiles.json")
	must(t, os.WriteFile(real, []byte(`{"a": 1}`), 0o640))
	must(t, os.Symlink(real, h.File))
	_, err := h.Pause()
	must(t, err)
	if info, err := os.Lstat(h.File); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	info, err := os.Stat(real)
	must(t, err)
	if info.Mode().Perm() != 0o640 || !strings.Contains(text(t, real), `"auto_save": false`) {
		t.Errorf("%v %q", info.Mode(), text(t, real))
	}
	note, err := os.Stat(h.notePath())
	must(t, err)
	if note.Mode().Perm() != 0o600 {
		t.Errorf("the note has mode %v", note.Mode())
	}
	for _, dir := range []string{filepath.Dir(real), filepath.Dir(h.File), filepath.Dir(h.notePath())} {
		left, err := filepath.Glob(filepath.Join(dir, ".*castellan*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestAConfigurationThatCannotBeReadIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"cut off": `{"hooks": {"auto_save": tr`, "list": `[1]`, "two": `{} {}`, "comment": "{} // mine",
		"section is a text": `{"hooks": "off"}`, "latin-1": "{\"a\": \"\xe9\"}", "blank": " ",
	} {
		h := newHooks(t, config)
		_, err := h.Pause()
		var e *HooksError
		if !errors.As(err, &e) || e.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
		if got := text(t, h.File); got != config {
			t.Errorf("%s: now %q", name, got)
		}
		if _, err := os.Stat(h.StateDir); err == nil {
			t.Errorf("%s: something is remembered", name)
		}
	}
}

// MemPalace takes the directory's being there for being in use.
func TestPausingMakesNoConfigurationDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := &Hooks{File: filepath.Join(dir, ".mempalace", "config.json"), StateDir: filepath.Join(dir, "state")}
	if _, err := h.Pause(); err == nil {
		t.Error("paused without MemPalace")
	}
	if _, err := h.Resume(); !errors.Is(err, ErrNotPaused) {
		t.Errorf("resumed: %v", err)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

func TestAFileThatPausingMadeGoesWithResuming(t *testing.T) {
	t.Parallel()
	h := newHooks(t, "")
	_, err := h.Pause()
	must(t, err)
	var v map[string]map[string]bool
	must(t, json.Unmarshal([]byte(text(t, h.File)), &v))
	if on, ok := v["hooks"]["auto_save"]; on || !ok {
		t.Errorf("%v", v)
	}
	_, err = h.Resume()
	must(t, err)
	if _, err := os.Stat(h.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func TestResumingLeavesWhatSomebodyElseHasSetSince(t *testing.T) {
	t.Parallel()
	h := newHooks(t, `{"hooks":{"auto_save":"often"}}`)
	_, err := h.Pause()
	must(t, err)
	must(t, os.WriteFile(h.File, []byte(`{"hooks":{"auto_save":true}}`), 0o600))
	if changed, err := h.Resume(); changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if got := text(t, h.File); got != `{"hooks":{"auto_save":true}}` {
		t.Errorf("now %s", got)
	}

	h = newHooks(t, `{"a": 1}`)
	_, err = h.Pause()
	must(t, err)
	must(t, os.WriteFile(h.File, []byte(`{"a": 1, "hooks": {"auto_save": false, "daemon": true}}`), 0o600))
	_, err = h.Resume()
	must(t, err)
	if got := text(t, h.File); got != `{"a": 1, "hooks": {"daemon": true}}` {
		t.Errorf("now %s", got)
	}
}

func TestSavesThatTheirOwnerSwitchedOffStayOff(t *testing.T) {
	t.Parallel()
	h := newHooks(t, `{"hooks":{"auto_save":false}}`)
	if changed, err := h.Pause(); changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if _, err := h.Resume(); !errors.Is(err, ErrNotPaused) {
		t.Errorf("%v", err)
	}
}

func FuzzPauseAndResume(f *testing.F) {
	f.Add(`{"hooks":{"auto_save":true}}`)
	f.Add("{ \"a\" : 1 ,\n\"hooks\" : { \"b\":[] } }")
	f.Add(`{"hooks":null}`)
	f.Fuzz(func(t *testing.T, config string) {
		s, err := parseSetting([]byte(config))
		if err != nil {
			return
		}
		off := s.off()
		again, err := parseSetting(off)
		if err != nil || again.autoSave == nil || again.autoSave.value != "false" {
			t.Fatalf("%q became %q: %v", config, off, err)
		}
		if s.autoSave != nil && s.autoSave.value == "false" {
			return
		}
		back := again.restored(s.former(&configFile{}))
		var was, is any
		must(t, json.Unmarshal([]byte(config), &was))
		must(t, json.Unmarshal(back, &is))
		x, _ := json.Marshal(was)
		y, _ := json.Marshal(is)
		if string(x) != string(y) {
			t.Fatalf("%q became %q and then %q", config, off, back)
		}
	})
}
