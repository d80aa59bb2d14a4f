package palace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Defaults of MemPalace's own.
const (
	defaultCollection = "mempalace_drawers"
	defaultModel      = "minilm"
)

// Config is MemPalace's configuration as it takes effect: config.json with the
// environment already applied. It is only ever read.
type Config struct {
	// Dir is the configuration directory and File the config.json in it,
	// whether they exist or not.
	Dir, File string
	// Exists reports that there is a file, also one that cannot be used.
	Exists bool
	// PalacePath is palace_path made absolute; empty when it is not set.
	PalacePath string
	// CollectionName is the name of the drawers' collection.
	CollectionName string
	// Backend is the engine that is asked for; empty when none is.
	Backend string
	// EmbeddingModel is the embedder that new drawers are meant to get.
	EmbeddingModel string
	// Palaces are the named palaces that some forks keep in the file, and
	// DefaultPalace is the path of the one they call their default.
	Palaces       []NamedPath
	DefaultPalace string
	// AutoSave tells whether hooks save by themselves.
	AutoSave bool
	// HookRouting and CLIRouting are direct, prefer or require: whether
	// writes go through the daemon. Empty when the setting is not valid,
	// which MemPalace treats as an error and not as direct.
	HookRouting, CLIRouting string
	// Notes say what could not be used, each with a *ConfigError.
	Notes []Note
}

// NamedPath is one entry of a fork's list of palaces.
type NamedPath struct {
	Name, Path string
}

// ConfigError says why config.json, or one key of it, is not used. MemPalace
// falls back to its defaults then, and so does everything here.
type ConfigError struct {
	File string
	// Key is empty when the file as a whole cannot be used.
	Key    string
	Reason string
	Err    error
}

func (e *ConfigError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("%s: %s %s; the default is used until it is corrected", e.File, e.Key, e.Reason)
	}
	return fmt.Sprintf("%s %s; defaults are used until it is corrected", e.File, e.Reason)
}

// Unwrap is what the operating system or the JSON reader said.
func (e *ConfigError) Unwrap() error { return e.Err }

// loadConfig never fails: a configuration that cannot be used is a note, and
// defaults apply, as they do in MemPalace.
func (s surroundings) loadConfig() Config {
	dir := s.configDir()
	c := Config{Dir: dir, File: filepath.Join(dir, "config.json")}
	r := configReader{surroundings: s, config: &c}
	r.load()
	r.resolve()
	return c
}

// configDir follows MemPalace 3.10 and later: an explicit directory, then a
// ~/.mempalace that is really in use, then the XDG directory. Earlier versions
// know ~/.mempalace only, which therefore is the answer when nothing exists.
func (s surroundings) configDir() string {
	if dir := strings.TrimSpace(s.env("MEMPALACE_CONFIG_DIR")); dir != "" {
		return s.absolute(dir)
	}
	legacy := s.legacyDir()
	for _, mark := range []string{"config.json", "people_map.json", filepath.Join("palace", "chroma.sqlite3")} {
		if _, err := os.Stat(filepath.Join(legacy, mark)); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return legacy
		}
	}
	if xdg := s.xdgDir(); isDir(xdg) {
		return xdg
	}
	return legacy
}

func (s surroundings) legacyDir() string { return filepath.Join(s.home, ".mempalace") }

func (s surroundings) xdgDir() string {
	// A relative XDG_CONFIG_HOME is invalid by its own specification.
	if xdg := s.expandUser(strings.TrimSpace(s.env("XDG_CONFIG_HOME"))); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "mempalace")
	}
	return filepath.Join(s.home, ".config", "mempalace")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

type configReader struct {
	surroundings
	config *Config
	values map[string]any
}

// load reads the file. Only "there is none" counts as none: a file that is
// there and cannot be read is somebody's settings (MemPalace #2356).
func (r *configReader) load() {
	b, err := readSmallFile(r.config.File)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	r.config.Exists = true
	if err != nil {
		r.note("", "cannot be read: "+err.Error(), err)
		return
	}
	// Windows editors leave a byte order mark on otherwise good files.
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		r.note("", "is not UTF-8 text", nil)
		return
	}
	var top any
	if err := json.Unmarshal(b, &top); err != nil {
		r.note("", "is not JSON: "+err.Error(), err)
		return
	}
	values, ok := top.(map[string]any)
	if !ok {
		r.note("", "holds "+jsonKind(top)+" where an object is needed", nil)
		return
	}
	r.values = values
}

func (r *configReader) note(key, reason string, err error) {
	ce := &ConfigError{File: r.config.File, Key: key, Reason: reason, Err: err}
	r.config.Notes = append(r.config.Notes, Note{Kind: NoteConfig, Path: r.config.File, Text: ce.Error(), Err: ce})
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
