package palace

import (
	"context"
	"errors"
	"testing"

	"castellan/palace/backend"
)

func TestTheWriteRoutingForbidsDirectWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config, env string
		source            string // "" = writes are allowed; "file" = config.json
		routing           string
	}{
		{name: "no configuration"},
		{name: "prefer", config: `{"write_routing": {"cli": "prefer"}}`},
		{name: "hooks only", config: `{"write_routing": {"hooks": "require"}}`},
		{name: "require", config: `{"write_routing": {"default": "require"}}`, source: "file", routing: "require"},
		{name: "required for commands", config: `{"write_routing": {"cli": "Require", "default": "direct"}}`, source: "file", routing: "require"},
		{name: "misspelt", config: `{"write_routing": {"cli": "requier"}}`, source: "file"},
		{name: "of another type", config: `{"write_routing": "require"}`, source: "file"},
		{name: "by environment", env: "require", source: "MEMPALACE_WRITE_ROUTING", routing: "require"},
		{name: "environment overrides", config: `{"write_routing": {"cli": "require"}}`, env: "direct"},
	} {
		h := newHome(t)
		var file string
		if c.config != "" {
			file = h.write(".mempalace/config.json", c.config)
		}
		h.env["MEMPALACE_WRITE_ROUTING"] = c.env
		f := &fakeStore{}
		wrote := 0
		f.write = func(context.Context, string) error { wrote++; return nil }
		p, w := h.store(f, func(m *Manager) {
			m.makers = map[backend.Kind]maker{backend.Chroma: func(context.Context, string) error { wrote++; return errors.New("stop here") }}
		})
		errs := everyWrite(t.Context(), p, w)
		if c.source == "" {
			for what, err := range errs {
				if err != nil {
					t.Errorf("%s: %s: %v", c.name, what, err)
				}
			}
			continue
		}
		errs["new palace"] = second(p.manager.Create(t.Context(), h.path("new"), backend.Chroma))
		for what, err := range errs {
			var routing *RoutingError
			if !errors.As(err, &routing) {
				t.Errorf("%s: %s: %v, want a RoutingError", c.name, what, err)
				continue
			}
			want := c.source
			if want == "file" {
				want = file
			}
			if routing.Source != want || routing.Routing != c.routing {
				t.Errorf("%s: %s: %+v, want %s %q", c.name, what, routing, want, c.routing)
			}
		}
		if wrote > 0 {
			t.Errorf("%s: %d writes reached the engine", c.name, wrote)
		}
		for what, err := range everyRead(t.Context(), w) {
			if err != nil {
				t.Errorf("%s: %s: %v", c.name, what, err)
			}
		}
	}
}
