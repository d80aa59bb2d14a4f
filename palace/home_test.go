package palace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"castellan/palace/specimen"
)

// fakeHome is a home directory with an environment of its own.
type fakeHome struct {
	t    *testing.T
	dir  string
	env  map[string]string
	work string
}

func newHome(t *testing.T) *fakeHome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &fakeHome{t: t, dir: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), env: map[string]string{}}
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.MkdirAll(h.work, 0o700))
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *fakeHome) manager() *Manager {
	return NewManager(Options{Home: h.dir, WorkDir: h.work, Env: func(k string) string { return h.env[k] }})
}

func (h *fakeHome) path(rel string) string { return filepath.Join(h.dir, filepath.FromSlash(rel)) }

func (h *fakeHome) mkdir(rel string) string {
	h.t.Helper()
	p := h.path(rel)
	must(h.t, os.MkdirAll(p, 0o700))
	return p
}

func (h *fakeHome) write(rel, text string) string {
	h.t.Helper()
	p := h.path(rel)
	must(h.t, os.MkdirAll(filepath.Dir(p), 0o700))
	must(h.t, os.WriteFile(p, []byte(text), 0o600))
	return p
}

// palace puts a copy of a real palace at rel.
func (h *fakeHome) palace(rel, sample string) string {
	h.t.Helper()
	p := h.path(rel)
	must(h.t, os.MkdirAll(filepath.Dir(p), 0o700))
	must(h.t, specimen.CopyFS(os.DirFS("../testdata/palaces"), sample, p))
	return p
}

func (h *fakeHome) discover(flag string) Discovery {
	h.t.Helper()
	d, err := h.manager().Discover(h.t.Context(), flag)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func kinds(notes []Note) []NoteKind {
	var list []NoteKind
	for _, n := range notes {
		list = append(list, n.Kind)
	}
	return list
}

func hasNote(notes []Note, kind NoteKind) bool { return slices.Contains(kinds(notes), kind) }

func paths(list []Found) []string {
	var out []string
	for _, f := range list {
		out = append(out, f.Ref.Path)
	}
	return out
}

// unchanged fails the test when anything under dir differs after it.
func unchanged(t *testing.T, dir string) {
	t.Helper()
	before, err := specimen.HashTree(dir)
	must(t, err)
	t.Cleanup(func() {
		after, err := specimen.HashTree(dir)
		must(t, err)
		for _, line := range specimen.Diff(before, after) {
			t.Errorf("looking changed the tree: %s", line)
		}
	})
}
