package palace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

func TestDefaultPalaceByPrecedence(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"MEMPALACE_PALACE_PATH": "~/first", "MEMPALACE_PALACE": "~/short", "MEMPAL_PALACE_PATH": "~/legacy",
	}
	without := func(names ...string) map[string]string {
		env := map[string]string{}
		for k, v := range all {
			if !slices.Contains(names, k) {
				env[k] = v
			}
		}
		return env
	}
	tests := []struct {
		name, flag, config string
		env                map[string]string
		want               string
		source             Source
		detail             string
	}{
		{"flag beats everything", "~/flagged", `{"palace_path": "~/configured"}`, all, "flagged", SourceFlag, "--palace"},
		{"first variable", "", `{"palace_path": "~/configured"}`, all, "first", SourceEnv, "MEMPALACE_PALACE_PATH"},
		{"short variable", "", `{"palace_path": "~/configured"}`, without("MEMPALACE_PALACE_PATH"), "short", SourceEnv, "MEMPALACE_PALACE"},
		{"legacy variable", "", `{"palace_path": "~/configured"}`, without("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE"), "legacy", SourceEnv, "MEMPAL_PALACE_PATH"},
		{"configuration", "", `{"palace_path": "~/configured"}`, nil, "configured", SourceConfig, "palace_path in "},
		{"a fork's default", "", `{"palaces": {"a": "~/forked"}, "default_palace": "a"}`, nil, "forked", SourceConfig, "default_palace in "},
		{"default", "", `{}`, nil, ".mempalace/palace", SourceDefault, "the default place"},
		{"unusable configuration", "", `{`, nil, ".mempalace/palace", SourceDefault, "the default place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.env = tt.env
			h.write(".mempalace/config.json", tt.config)
			d := h.discover(tt.flag)
			f := d.Default()
			if f.Ref.Path != h.path(tt.want) || f.Source != tt.source || !f.Default {
				t.Errorf("default palace %+v, want %s from %s", f, h.path(tt.want), tt.source)
			}
			if got := f.Detail[0]; got != tt.detail && got != tt.detail+d.Config.File {
				t.Errorf("detail %q, want %q", got, tt.detail)
			}
		})
	}
}

func TestNewInstallationKeepsItsPalaceInTheXDGDirectory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(".config/mempalace/config.json", "{}")
	d := h.discover("")
	if got := d.Default().Ref.Path; got != h.path(".config/mempalace/palace") {
		t.Errorf("default palace %s", got)
	}
}

func TestRelativePathsStartAtTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := h.discover("some/../p/.")
	if got, want := d.Default().Ref.Path, filepath.Join(h.work, "p"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLookingLeavesAMissingHomeMissing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := h.discover("")
	m := h.manager()
	for _, f := range d.Palaces {
		m.Examine(t.Context(), f.Ref.Path)
	}
	entries, err := os.ReadDir(h.dir)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("%v came into being", entries)
	}
}

func TestEverythingElseIsFoundOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.palace(".mempalace/palace", "fresh")
	h.palace(".mempalace/work", "fresh")
	h.palace(".mempalace/work.backup", "fresh")
	h.palace(".mempalace/work.pre-rebuild-20260101-120000", "fresh")
	h.palace(".mempalace/work.pre-migrate.20260101_120000", "fresh")
	h.palace(".mempalace/work.old", "fresh")
	h.palace("hub/palace", "fresh")
	h.palace("daemon/palace", "fresh")
	h.palace("named/palace", "fresh")
	h.mkdir(".mempalace/empty")
	h.write(".mempalace/aborted/chroma.sqlite3", "")
	h.write(".mempalace/server/0123/serverinfo.json", fmt.Sprintf(`{"pid": 1, "palace_path": %q}`, h.path("hub/palace")))
	h.write(".mempalace/server/4567/serverinfo.json", fmt.Sprintf(`{"pid": 1, "palace_path": %q}`, h.path("gone")))
	h.write(".mempalace/server/89ab/serverinfo.json", `[]`)
	h.write(".mempalace/daemon/0123/endpoint.json", fmt.Sprintf(`{"palace_path": %q}`, h.path("daemon/palace")))
	h.write(".mempalace/config.json", `{"palaces": ["~/named/palace", "~/lost/palace"]}`)
	unchanged(t, h.dir)
	want := []string{
		h.path(".mempalace/palace"), h.path("named/palace"), h.path("lost/palace"),
		h.path("hub/palace"), h.path("daemon/palace"), h.path(".mempalace/work"),
	}
	d := h.discover("")
	if diff := cmp.Diff(want, paths(d.Palaces)); diff != "" {
		t.Error(diff)
	}
	for _, f := range d.Palaces[3:] {
		if f.Source != SourceFound || f.Default {
			t.Errorf("%s: source %s", f.Ref.Path, f.Source)
		}
	}
}

func TestTwoSpellingsAndALinkAreOnePalaceWithAliases(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	real := h.palace("data/palace", "fresh")
	link := h.path("link")
	must(t, os.Symlink(real, link))
	h.env["MEMPALACE_PALACE_PATH"] = link
	h.env["MEMPAL_PALACE_PATH"] = real + "/../palace/."
	h.write(".mempalace/config.json", fmt.Sprintf(`{"palace_path": %q}`, h.path("data/./palace")))
	d := h.discover("")
	if len(d.Palaces) != 1 {
		t.Fatalf("found %v, want one palace", paths(d.Palaces))
	}
	f := d.Default()
	if f.Ref.Path != link || f.Ref.Real != real || f.Ref.ID.IsZero() {
		t.Errorf("ref %+v", f.Ref)
	}
	if len(f.Detail) != 3 {
		t.Errorf("named by %q, want three places", f.Detail)
	}
	if diff := cmp.Diff([]string{real, link}, f.LockPaths()); diff != "" {
		t.Error(diff)
	}
}

func TestServerModeMakesTheServerTheDefault(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.palace(".mempalace/palace", "fresh")
	h.env["MEMPALACE_CHROMA_MODE"] = " HTTP "
	h.env["CHROMA_PORT"] = "many"
	d := h.discover("")
	f := d.Default()
	if f.Ref.Kind != backend.ChromaHTTP || f.Ref.Path != "http://127.0.0.1:8801" || f.LockPaths() != nil {
		t.Errorf("default %+v", f)
	}
	if !hasNote(d.Notes, NoteServer) {
		t.Errorf("the bad port is not pointed out: %v", d.Notes)
	}
	if len(d.Palaces) != 2 || !hasNote(d.Palaces[1].Notes, NoteServer) {
		t.Errorf("the directory the server may own is not pointed out: %+v", d.Palaces)
	}
	if d := h.discover("~/.mempalace/palace"); d.Default().Source != SourceFlag || d.Palaces[1].Ref.Kind != backend.ChromaHTTP {
		t.Errorf("a path on the command line does not win: %+v", d.Palaces)
	}
}

func TestLiteralTildeIsPointedOut(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	lost := filepath.Join(h.work, "~", ".mempalace", "palace")
	h.palace("../work/~/.mempalace/palace", "fresh")
	d := h.discover("")
	if !hasNote(d.Notes, NoteLiteralTilde) {
		t.Errorf("notes %v", d.Notes)
	}
	if got := paths(d.Palaces); !slices.Contains(got, lost) {
		t.Errorf("found %v, want %s among them", got, lost)
	}
}

func TestADirectoryOneLevelOffIsPointedOut(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	palace := h.palace(".mempalace/palace", "healthy")
	tests := []struct {
		flag    string
		kind    NoteKind
		related string
	}{
		{h.path(".mempalace"), NoteTooShallow, palace},
		{filepath.Join(palace, "adc144cf-4c5b-40f3-ac90-5e3b70902c5b"), NoteTooDeep, palace},
		{palace + ".backup", NoteBackup, palace},
	}
	for _, tt := range tests {
		f := h.discover(tt.flag).Palaces[0]
		i := slices.IndexFunc(f.Notes, func(n Note) bool { return n.Kind == tt.kind })
		if i < 0 || !slices.Contains(f.Notes[i].Related, tt.related) {
			t.Errorf("%s: notes %+v, want %s naming %s", tt.flag, f.Notes, tt.kind, tt.related)
		}
	}
}

func TestPalacesOfOneDirectoryShareItsSidecars(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	a, b := h.palace("projects/a", "fresh"), h.palace("projects/b", "fresh")
	alone := h.palace("alone/p", "fresh")
	h.write("projects/tunnels.json", "[]")
	h.write("alone/tunnels.json", "[]")
	h.write(".mempalace/config.json", fmt.Sprintf(`{"palaces": [%q, %q]}`, a, alone))
	d := h.discover(a)
	for _, f := range d.Palaces {
		if want := f.Ref.Path == a || f.Ref.Path == b; hasNote(f.Notes, NoteSharedSidecar) != want {
			t.Errorf("%s: notes %+v, want shared %v", f.Ref.Path, f.Notes, want)
		}
	}
	if !slices.Contains(paths(d.Palaces), b) {
		t.Errorf("found %v, want the sibling %s", paths(d.Palaces), b)
	}
}

func TestDiscoveryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.manager().Discover(ctx, ""); err == nil {
		t.Error("no error")
	}
}
