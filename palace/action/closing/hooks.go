package closing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"castellan/palace/action"
)

// Hooks are MemPalace's automatic saves, hooks.auto_save of its configuration.
// (MEMPALACE_HOOKS_AUTO_SAVE in the environment of a hook beats the file.)
type Hooks struct {
	// File is MemPalace's config.json.
	File string
	// StateDir is Castellan's own directory of state; what was set before is
	// kept beneath it.
	StateDir string
}

// HooksError says why automatic saves were not switched.
type HooksError struct {
	File   string
	Reason string
	Next   string
	Err    error // what lies beneath; nil = nothing
}

func (e *HooksError) Error() string { return e.File + ": " + e.Reason + "; " + e.Next }

// Unwrap is what lies beneath.
func (e *HooksError) Unwrap() error { return e.Err }

// ErrNotPaused: Castellan has not switched the automatic saves off.
var ErrNotPaused = errors.New("automatic saves were not paused by Castellan")

func hooksRefusal(err error) *action.RefusedError {
	r := &action.RefusedError{Kind: HooksUnusable, Reason: err.Error(), Next: "see to that, or close without --pause-hooks", Err: err}
	var h *HooksError
	if errors.As(err, &h) {
		r.Subject, r.Reason, r.Next = h.File, h.Reason, h.Next
	}
	return r
}

// former is what Castellan remembers of the setting it replaced.
type former struct {
	File string `json:"file"`
	// AutoSave is the former value as it was spelled; nil = there was none.
	AutoSave *string `json:"auto_save"`
	// Section is whether there was an object "hooks", and Hooks what stood in
	// its place otherwise; nil = nothing.
	Section bool    `json:"section"`
	Hooks   *string `json:"hooks"`
	// Made: there was no file.
	Made bool `json:"made"`
}

// check finds out whether Pause can do it; it changes nothing.
func (h *Hooks) check() error {
	_, _, _, err := h.paused()
	return err
}

// paused reads the file and makes what it becomes; the same bytes where
// automatic saves are off already.
func (h *Hooks) paused() (f *configFile, s *setting, next []byte, err error) {
	if f, s, err = h.read(); err != nil {
		return nil, nil, nil, err
	}
	if s.autoSave != nil && s.autoSave.value == "false" {
		return f, s, f.raw, nil
	}
	return f, s, f.withJSON(s.off()), nil
}

func (h *Hooks) read() (*configFile, *setting, error) {
	f, err := readConfigFile(h.File)
	if err != nil {
		return nil, nil, err
	}
	s, err := parseSetting(f.json())
	if err != nil {
		return nil, nil, f.unusable(err)
	}
	return f, s, nil
}

// Pause switches automatic saves off, and remembers what was set before. It
// tells whether anything changed. Where there is no configuration directory it
// fails rather than make one: MemPalace takes its being there for being in use.
func (h *Hooks) Pause() (changed bool, err error) {
	f, s, next, err := h.paused()
	if err != nil || bytes.Equal(f.raw, next) {
		return false, err
	}
	// What was set before is safe before it is replaced. A program that dies
	// between the two leaves a memory of what is still set.
	if err := h.remember(s.former(f)); err != nil {
		return false, err
	}
	return true, f.replace(next)
}

// Resume puts back what Pause replaced, and tells whether anything changed:
// what somebody else has set since is left as it is. Without a Pause before it
// the error is ErrNotPaused.
func (h *Hooks) Resume() (changed bool, err error) {
	was, err := h.recall()
	if err != nil {
		return false, err
	}
	f, s, err := h.read()
	if err != nil {
		return false, err
	}
	if f.missing || s.autoSave == nil || s.autoSave.value != "false" {
		return false, h.forget()
	}
	next := s.restored(was)
	if was.Made && isEmptyObject(next) {
		err = f.remove()
	} else {
		err = f.replace(f.withJSON(next))
	}
	if err != nil {
		return false, err
	}
	return true, h.forget()
}

// notePath is where the former setting of this very file is remembered.
func (h *Hooks) notePath() string {
	path := h.File
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(h.StateDir, "hooks", hex.EncodeToString(sum[:8])+".json")
}

func (h *Hooks) remember(was former) error {
	was.File = h.File
	path := h.notePath()
	note, err := json.MarshalIndent(was, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = writeWhole(path, append(note, '\n'), 0o600, nil)
	}
	if err != nil {
		return &HooksError{File: path, Reason: "what was set before cannot be remembered: " + err.Error(), Next: "nothing was changed; make the directory writable", Err: err}
	}
	return nil
}

func (h *Hooks) recall() (was former, err error) {
	path := h.notePath()
	note, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, &HooksError{File: h.File, Reason: ErrNotPaused.Error(), Next: "there is nothing to put back", Err: ErrNotPaused}
	}
	if err == nil {
		err = json.Unmarshal(note, &was)
	}
	if err == nil && (!isJSON(was.AutoSave) || !isJSON(was.Hooks)) {
		err = errors.New("it does not hold a setting")
	}
	if err != nil {
		return was, &HooksError{File: path, Reason: "what was set before cannot be read: " + err.Error(), Next: fmt.Sprintf("set hooks.auto_save in %s by hand, then remove this file", h.File), Err: err}
	}
	return was, nil
}

// isJSON keeps a note that was tampered with from spoiling the configuration.
func isJSON(value *string) bool { return value == nil || json.Valid([]byte(*value)) }

func (h *Hooks) forget() error {
	if err := os.Remove(h.notePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
