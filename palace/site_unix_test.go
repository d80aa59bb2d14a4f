//go:build unix

package palace

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"castellan/palace/backend"
)

func TestWhatIsNoDirectoryIsNamedForWhatItIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, syscall.Mkfifo(h.path("fifo"), 0o600))
	h.write("file", "x")
	l, err := net.Listen("unix", h.path("sock"))
	must(t, err)
	defer l.Close()
	must(t, os.Symlink(h.path("fifo"), h.path("tofifo")))
	for path, kind := range map[string]string{
		h.path("fifo"): "a FIFO", h.path("tofifo"): "a FIFO", h.path("sock"): "a socket",
		h.path("file"): "a regular file", h.path("file/palace"): "a regular file", "/dev/null": "a character device",
	} {
		s := h.examine(path)
		var wrong *WrongKindError
		if s.State != Unreadable || !errors.As(s.Err, &wrong) || wrong.Got != kind {
			t.Errorf("%s: %s, %v, want %s", path, s.State, s.Err, kind)
		}
	}
}

func TestLinksThatLeadNowhereAreNamed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, os.Symlink(h.path("unmounted/palace"), h.path("dangling")))
	must(t, os.Symlink(h.path("b"), h.path("a")))
	must(t, os.Symlink(h.path("a"), h.path("b")))
	for _, p := range []string{"dangling", "dangling/inside"} {
		s := h.examine(h.path(p))
		var d *DanglingLinkError
		if s.State != Unreadable || !errors.As(s.Err, &d) || d.Path != h.path("dangling") || d.Target != h.path("unmounted/palace") {
			t.Errorf("%s: %s, %v", p, s.State, s.Err)
		}
	}
	s := h.examine(h.path("a/palace"))
	var loop *LinkLoopError
	if s.State != Unreadable || !errors.As(s.Err, &loop) {
		t.Errorf("loop: %s, %v", s.State, s.Err)
	}
}

// A program that opens a FIFO waits until somebody writes to it.
func TestAFifoInAnyPlaceStopsNobody(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("d/p", "fresh")
	for _, name := range []string{
		".mempalace/config.json", ".mempalace/server/x/serverinfo.json", "d/sibling",
		"d/p/mempalace_embedder.json", "d/p/corrupt_ids.txt", "d/p/cc3ed7bc-7cbd-4961-8625-206fb0dbc9a7",
		"d/p.backup", "d/tunnels.json", "d/p/sqlite_exact.sqlite3", "d/p/qdrant_backend.json",
	} {
		must(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o700))
		must(t, syscall.Mkfifo(h.path(name), 0o600))
	}
	d := h.discover(p)
	if !hasNote(d.Notes, NoteConfig) {
		t.Errorf("a FIFO for a configuration is not pointed out: %v", d.Notes)
	}
	s := h.examine(p)
	if s.State != OK || s.Ref.Kind != backend.Chroma || s.Layout.EmbeddersErr == nil {
		t.Errorf("%s %s %v", s.State, s.Ref.Kind, s.Err)
	}
	must(t, os.Remove(filepath.Join(p, "chroma.sqlite3")))
	must(t, syscall.Mkfifo(filepath.Join(p, "chroma.sqlite3"), 0o600))
	if s := h.examine(p); s.State != Unreadable || s.Err == nil {
		t.Errorf("a FIFO for a database: %s, %v", s.State, s.Err)
	}
}

func TestSparseFilesShowBothSizes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("p", "fresh")
	const size = 20 << 30
	bin := filepath.Join(p, "cc3ed7bc-7cbd-4961-8625-206fb0dbc9a6", "link_lists.bin")
	must(t, os.Truncate(bin, size))
	s := h.examine(p)
	if s.Size.Apparent < size || s.Size.Allocated > 1<<30 {
		t.Errorf("size %+v", s.Size)
	}
	if got := s.Layout.Segments[0].Files["link_lists.bin"]; got.Apparent != size || got.Allocated > 1<<20 {
		t.Errorf("link_lists.bin %+v", got)
	}
}

// asNobody runs the rest of the calling test once more as a user without
// rights, in a directory that root has prepared. It reports whether this is
// that run.
func asNobody(t *testing.T, prepare func(dir string)) (dir string, here bool) {
	t.Helper()
	if dir := os.Getenv("CASTELLAN_TEST_NOBODY"); dir != "" {
		return dir, true
	}
	if os.Getuid() != 0 {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		prepare(dir)
		return dir, true
	}
	dir, err := os.MkdirTemp("", "castellan-nobody-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	prepare(dir)
	// The build's own directory is closed to others, who may run this link all
	// the same. A copy would be busy while any other test forks.
	if err := os.Chmod("/proc/self/exe", 0o755); err != nil {
		t.Skip("no way to run this program as another user here")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CASTELLAN_TEST_NOBODY="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return dir, false
}

func TestPermissionDeniedNamesOwnerAndModeAndIsNothingElse(t *testing.T) {
	dir, here := asNobody(t, func(dir string) {
		h := &fakeHome{t: t, dir: dir}
		for name, mode := range map[string]fs.FileMode{"closed": 0, "unlisted": 0o711, "unsearchable": 0o744} {
			must(t, os.Chmod(h.palace(name, "fresh"), mode))
		}
		must(t, os.Chmod(h.palace("file", "fresh"), 0o755))
		must(t, os.Chmod(h.path("file/chroma.sqlite3"), 0o600))
		h.palace("above/p", "fresh")
		must(t, os.Chmod(h.path("above"), 0o700))
		h.mkdir("readonly")
		must(t, os.Chmod(h.path("readonly"), 0o755))
	})
	if !here {
		return
	}
	if os.Getuid() != 65534 && os.Getuid() != 0 {
		t.Skip("owned by this very user: modes do not bind it in the same way")
	}
	h := &fakeHome{t: t, dir: dir, work: dir, env: map[string]string{}}
	for _, tt := range []struct{ path, refuses string }{
		{"closed", "closed"}, {"unlisted", "unlisted"}, {"unsearchable", "unsearchable"},
		{"file", "file/chroma.sqlite3"}, {"above/p", "above"},
	} {
		s := h.examine(h.path(tt.path))
		var denied *NotPermittedError
		if s.State != Unreadable || !errors.As(s.Err, &denied) || !errors.Is(s.Err, fs.ErrPermission) {
			t.Errorf("%s: %s, %v", tt.path, s.State, s.Err)
			continue
		}
		if denied.Path != h.path(tt.refuses) || denied.Owner != "root" {
			t.Errorf("%s: blames %s of %s, want %s of root", tt.path, denied.Path, denied.Owner, h.path(tt.refuses))
		}
		info, err := os.Stat(denied.Path)
		must(t, err)
		if denied.Mode != info.Mode() {
			t.Errorf("%s: mode %v, want %v", tt.path, denied.Mode, info.Mode())
		}
	}
	if s := h.examine(h.path("readonly")); !s.ReadOnly || !hasNote(s.Notes, NoteReadOnly) || s.State != Empty {
		t.Errorf("readonly: %s, %+v", s.State, s.Notes)
	}
}

func TestAConfigThatMayNotBeReadIsNotNone(t *testing.T) {
	dir, here := asNobody(t, func(dir string) {
		h := &fakeHome{t: t, dir: dir}
		h.write(".mempalace/config.json", "{}")
		must(t, os.Chmod(h.path(".mempalace"), 0o755))
		must(t, os.Chmod(h.path(".mempalace/config.json"), 0))
	})
	if !here {
		return
	}
	h := &fakeHome{t: t, dir: dir, work: dir, env: map[string]string{}}
	c := h.manager().Config()
	if !c.Exists || len(c.Notes) != 1 || !errors.Is(c.Notes[0].Err, fs.ErrPermission) {
		t.Errorf("%+v", c)
	}
}

// withMounts runs the rest of the calling test once more where it may mount,
// in a home that prepare has filled.
func withMounts(t *testing.T, prepare func(*fakeHome)) (h *fakeHome, here bool) {
	t.Helper()
	if dir := os.Getenv("CASTELLAN_TEST_MOUNT"); dir != "" {
		return &fakeHome{t: t, dir: dir, work: dir, env: map[string]string{}}, true
	}
	attr := ownMounts()
	if attr == nil || os.Getuid() != 0 {
		t.Skip("wants root and a mount name space of its own")
	}
	h = newHome(t)
	prepare(h)
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "CASTELLAN_TEST_MOUNT="+h.dir)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no mount name spaces here")
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return h, false
}

func TestEveryLockPathOfABindMountIsKnown(t *testing.T) {
	h, here := withMounts(t, func(h *fakeHome) {
		h.palace("data/p", "fresh")
		h.mkdir("mirror with space")
	})
	if !here {
		return
	}
	must(t, bindMount(h.path("data"), h.path("mirror with space"), false))
	s := h.examine(h.path("data/p"))
	other := h.path("mirror with space/p")
	if !slices.Contains(s.Aliases, other) || !slices.Contains(s.LockPaths(), other) {
		t.Errorf("aliases %q, lock paths %q, want %q among both", s.Aliases, s.LockPaths(), other)
	}
	d := h.discover(other)
	if len(d.Palaces) != 1 || !slices.Contains(d.Palaces[0].LockPaths(), h.path("data/p")) {
		t.Errorf("found %v, lock paths %q", paths(d.Palaces), d.Palaces[0].LockPaths())
	}
	m := closing(t, h.manager())
	if h.open(m, other) != h.open(m, h.path("data/p")) {
		t.Error("a bind mount gets a handle of its own")
	}
}

func TestReadOnlyMediaAreReadAndSaidToBe(t *testing.T) {
	samples := map[string]int64{"fresh": 5, "exact": 71}
	h, here := withMounts(t, func(h *fakeHome) {
		for sample := range samples {
			h.palace("data/"+sample, sample)
		}
	})
	if !here {
		return
	}
	must(t, bindMount(h.path("data"), h.path("data"), true))
	m := closing(t, h.manager())
	for sample, want := range samples {
		s := h.examine(h.path("data/" + sample))
		if s.State != OK || !s.ReadOnly || !hasNote(s.Notes, NoteReadOnly) {
			t.Errorf("%s: %s, %+v", sample, s.State, s.Notes)
		}
		if n := rows(t, h.open(m, s.Ref.Path)); n != want {
			t.Errorf("%s: %d rows, want %d", sample, n, want)
		}
	}
}
