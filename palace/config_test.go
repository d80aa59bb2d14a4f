package palace

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigDirectoryFollowsMemPalace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files []string
		env   map[string]string
		want  string
	}{
		{name: "nothing anywhere", want: ".mempalace"},
		{name: "used before 3.10", files: []string{".mempalace/config.json", ".config/mempalace/config.json"}, want: ".mempalace"},
		{name: "used before 3.10, known by its people", files: []string{".mempalace/people_map.json", ".config/mempalace/config.json"}, want: ".mempalace"},
		{name: "used before 3.10, known by its palace", files: []string{".mempalace/palace/chroma.sqlite3", ".config/mempalace/config.json"}, want: ".mempalace"},
		{name: "locks alone are no installation", files: []string{".mempalace/locks/x.lock", ".config/mempalace/config.json"}, want: ".config/mempalace"},
		{name: "new installation", files: []string{".config/mempalace/config.json"}, want: ".config/mempalace"},
		{name: "XDG", files: []string{"xdg/mempalace/config.json"}, env: map[string]string{"XDG_CONFIG_HOME": "~/xdg"}, want: "xdg/mempalace"},
		{name: "relative XDG is void", files: []string{".config/mempalace/config.json"}, env: map[string]string{"XDG_CONFIG_HOME": "xdg"}, want: ".config/mempalace"},
		{name: "explicit", files: []string{".mempalace/config.json"}, env: map[string]string{"MEMPALACE_CONFIG_DIR": "~/mine"}, want: "mine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for _, f := range tt.files {
				h.write(f, "{}")
			}
			h.env = tt.env
			if got := h.manager().Config().Dir; got != h.path(tt.want) {
				t.Errorf("Dir = %s, want %s", got, h.path(tt.want))
			}
		})
	}
}

func TestConfigValuesAndTheirPrecedence(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(".mempalace/config.json", "\ufeff"+`{
		"palace_path": "~/elsewhere/../here", "collection_name": "mine", "backend": " SQLite_Exact ",
		"embedding_model": "EmbeddingGemma", "hooks": {"auto_save": false, "daemon": true},
		"write_routing": {"default": "Prefer", "cli": "require"},
		"palaces": {"work": "~/work", "home": {"path": "/srv/home"}}, "default_palace": "work", "unknown": [1]
	}`)
	h.env["MEMPALACE_EMBEDDING_MODEL"] = "minilm"
	h.env["MEMPALACE_BACKEND"] = "chroma"
	c := h.manager().Config()
	want := Config{
		Dir: h.path(".mempalace"), File: h.path(".mempalace/config.json"), Exists: true,
		PalacePath: h.path("here"), CollectionName: "mine", Backend: "sqlite_exact", EmbeddingModel: "minilm",
		Palaces:       []NamedPath{{"home", filepath.FromSlash("/srv/home")}, {"work", h.path("work")}},
		DefaultPalace: h.path("work"), AutoSave: false, HookRouting: "prefer", CLIRouting: "require",
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	h.env["MEMPALACE_BACKEND_EXPLICIT"] = "qdrant"
	h.env["MEMPALACE_HOOKS_AUTO_SAVE"] = "yes"
	h.env["MEMPALACE_WRITE_ROUTING"] = "direct"
	c = h.manager().Config()
	if c.Backend != "qdrant" || !c.AutoSave || c.HookRouting != "direct" || c.CLIRouting != "direct" {
		t.Errorf("the environment does not win: %+v", c)
	}
}

func TestConfigWithoutFileIsAllDefaults(t *testing.T) {
	t.Parallel()
	c := newHome(t).manager().Config()
	want := Config{Dir: c.Dir, File: c.File, CollectionName: "mempalace_drawers", EmbeddingModel: "minilm",
		AutoSave: true, HookRouting: "direct", CLIRouting: "direct"}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestUnusableConfigIsANoteAndNeverACrash(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"truncated", `{"palace_path": "/x"`, "is not JSON"},
		{"empty", "", "is not JSON"},
		{"two values", `{} {}`, "is not JSON"},
		{"a list", `[]`, "a list where an object"},
		{"null", `null`, "null where an object"},
		{"not UTF-8", "{\"palace_path\": \"\xff\"}", "is not UTF-8"},
		{"number for a path", `{"palace_path": 7}`, "palace_path is a number"},
		{"empty path", `{"palace_path": " "}`, "palace_path is empty"},
		{"NUL in a path", `{"palace_path": "/x\u0000y"}`, "palace_path contains a NUL"},
		{"text for a switch", `{"hooks": {"auto_save": "false"}}`, "hooks.auto_save is a text"},
		{"list for a section", `{"hooks": []}`, "hooks is a list"},
		{"unknown routing", `{"write_routing": {"default": "requier"}}`, "write_routing.default is none of"},
		{"text for routing", `{"write_routing": "direct"}`, "write_routing is a text"},
		{"palaces without path", `{"palaces": [{"name": "x"}]}`, "without a path"},
		{"unknown default", `{"palaces": {"a": "/a"}, "default_palace": "b"}`, "names none"},
		{"deeply nested", strings.Repeat("[", 20_000), "is not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.write(".mempalace/config.json", tt.text)
			c := h.manager().Config()
			if len(c.Notes) == 0 || !strings.Contains(c.Notes[0].Text, tt.want) {
				t.Fatalf("notes %+v, want one with %q", c.Notes, tt.want)
			}
			var ce *ConfigError
			if !errors.As(c.Notes[0].Err, &ce) || ce.File != c.File {
				t.Errorf("the note's error is %v, want a ConfigError naming the file", c.Notes[0].Err)
			}
			if c.CollectionName != "mempalace_drawers" || c.PalacePath != "" && strings.Contains(tt.name, "path") {
				t.Errorf("defaults do not apply: %+v", c)
			}
			if !c.Exists {
				t.Error("a file that is there counts as none")
			}
		})
	}
}

func TestMisspeltRoutingDoesNotBecomeDirect(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(".mempalace/config.json", `{"write_routing": {"default": "requier"}}`)
	if c := h.manager().Config(); c.HookRouting != "" || c.CLIRouting != "" {
		t.Errorf("routing is %q and %q, want none", c.HookRouting, c.CLIRouting)
	}
}

func TestHugeConfigIsRefusedUnread(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(".mempalace/config.json", strings.Repeat(" ", smallFileLimit)+"{}")
	if c := h.manager().Config(); len(c.Notes) != 1 || !errors.Is(c.Notes[0].Err, errTooLarge) {
		t.Errorf("notes %+v", c.Notes)
	}
}
