package palace

import (
	"maps"
	"slices"
	"strings"
)

// resolve applies the precedence: environment, file, default. The backend is
// the exception, where the file beats MEMPALACE_BACKEND and only an explicit
// choice beats the file.
func (r *configReader) resolve() {
	c := r.config
	if p := r.text("palace_path"); p != "" {
		c.PalacePath = r.absolute(p)
	}
	c.CollectionName = firstOf(r.env("MEMPALACE_COLLECTION_NAME"), r.text("collection_name"), defaultCollection)
	c.Backend = strings.ToLower(firstOf(r.env("MEMPALACE_BACKEND_EXPLICIT"), r.text("backend"), r.env("MEMPALACE_BACKEND")))
	c.EmbeddingModel = strings.ToLower(firstOf(r.env("MEMPALACE_EMBEDDING_MODEL"), r.text("embedding_model"), defaultModel))
	c.Palaces = r.palaces()
	c.DefaultPalace = r.defaultPalace(c.Palaces)
	hooks, _ := r.section("hooks")
	c.AutoSave = r.autoSave(hooks)
	if writes, ok := r.section("write_routing"); ok {
		c.HookRouting = r.routing(
			r.fromEnv("MEMPALACE_HOOK_WRITE_ROUTING"),
			r.fromEnv("MEMPALACE_WRITE_ROUTING"),
			r.fromEnv("MEMPALACE_HOOKS_DAEMON").orBoolean(),
			setting{source: "write_routing.hooks", value: writes["hooks"]},
			setting{source: "write_routing.default", value: writes["default"]},
			setting{source: "hooks.daemon", value: hooks["daemon"]}.orBoolean())
		c.CLIRouting = r.routing(
			r.fromEnv("MEMPALACE_CLI_WRITE_ROUTING"),
			r.fromEnv("MEMPALACE_WRITE_ROUTING"),
			setting{source: "write_routing.cli", value: writes["cli"]},
			setting{source: "write_routing.default", value: writes["default"]})
	}
}

// firstOf is the first that is more than white space, trimmed.
func firstOf(list ...string) string {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// text reads a string; anything else at that key is a note.
func (r *configReader) text(key string) string {
	v, ok := r.values[key]
	if !ok || v == nil {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		r.note(key, "is "+jsonKind(v)+" where a text is needed", nil)
	case strings.TrimSpace(s) == "":
		r.note(key, "is empty", nil)
		return ""
	case strings.ContainsRune(s, 0):
		r.note(key, "contains a NUL", nil)
		return ""
	}
	return s
}

// section reads an object inside the file; nil when there is none, and not ok
// when something else stands there.
func (r *configReader) section(key string) (m map[string]any, ok bool) {
	v := r.values[key]
	if v == nil {
		return nil, true
	}
	if m, ok = v.(map[string]any); !ok {
		r.note(key, "is "+jsonKind(v)+" where an object is needed", nil)
	}
	return m, ok
}

func (r *configReader) autoSave(hooks map[string]any) bool {
	if v := r.env("MEMPALACE_HOOKS_AUTO_SAVE"); v != "" {
		return !slices.Contains([]string{"false", "0", "no"}, strings.ToLower(v))
	}
	v := hooks["auto_save"]
	if v == nil {
		return true
	}
	on, ok := v.(bool)
	if !ok {
		r.note("hooks.auto_save", "is "+jsonKind(v)+" where true or false is needed", nil)
		return true
	}
	return on
}

// setting is one place where the write routing may be set. Older places hold
// a yes or no: whether the daemon is preferred.
type setting struct {
	source  string
	value   any
	boolean bool
}

func (s setting) orBoolean() setting {
	s.boolean = true
	return s
}

func (r *configReader) fromEnv(name string) setting {
	if v := r.env(name); v != "" {
		return setting{source: name, value: v}
	}
	return setting{source: name}
}

// routing finds the write routing of one scope. The first place that says
// anything decides, and a word it does not know is an error rather than a
// reason to look further: "require" misspelt must not become "direct".
func (r *configReader) routing(places ...setting) string {
	for _, p := range places {
		if p.value == nil {
			continue
		}
		if word := routingWord(p.value, p.boolean); word != "" {
			return word
		}
		r.note(p.source, "is none of direct, prefer, require", nil)
		return ""
	}
	return "direct"
}

func routingWord(v any, boolean bool) string {
	switch v := v.(type) {
	case string:
		word := strings.ToLower(strings.TrimSpace(v))
		switch {
		case word == "direct" || word == "prefer" || word == "require":
			return word
		case boolean && slices.Contains([]string{"1", "true", "yes", "on", "daemon"}, word):
			return "prefer"
		case boolean && slices.Contains([]string{"0", "false", "no", "off"}, word):
			return "direct"
		}
	case bool:
		if boolean && v {
			return "prefer"
		} else if boolean {
			return "direct"
		}
	case float64:
		if boolean && v == 1 {
			return "prefer"
		} else if boolean && v == 0 {
			return "direct"
		}
	}
	return ""
}

// palaces reads the list that some forks keep, in any of the shapes seen:
// {name: path}, {name: {"path": path}}, [path], [{"name": name, "path": path}].
func (r *configReader) palaces() []NamedPath {
	var list []NamedPath
	add := func(name string, v any) {
		path, _ := v.(string)
		if m, ok := v.(map[string]any); ok {
			path, _ = m["path"].(string)
			if path == "" {
				path, _ = m["palace_path"].(string)
			}
			if n, ok := m["name"].(string); ok && name == "" {
				name = n
			}
		}
		if strings.TrimSpace(path) == "" || strings.ContainsRune(path, 0) {
			r.note("palaces", "has an entry without a path", nil)
			return
		}
		list = append(list, NamedPath{Name: name, Path: r.absolute(path)})
	}
	switch v := r.values["palaces"].(type) {
	case nil:
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			add(name, v[name])
		}
	case []any:
		for _, entry := range v {
			add("", entry)
		}
	default:
		r.note("palaces", "is "+jsonKind(v)+" where an object or a list is needed", nil)
	}
	return list
}

// defaultPalace is the name of one of the palaces, or a path.
func (r *configReader) defaultPalace(known []NamedPath) string {
	v := r.text("default_palace")
	if v == "" {
		return ""
	}
	for _, p := range known {
		if p.Name == v {
			return p.Path
		}
	}
	if !strings.ContainsAny(v, `/\~`) {
		r.note("default_palace", "names none of the palaces in the file", nil)
		return ""
	}
	return r.absolute(v)
}
