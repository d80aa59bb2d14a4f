package action

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestStateHasOnePlaceOnEverySystem(t *testing.T) {
	t.Parallel()
	root := "/"
	if runtime.GOOS == "windows" {
		root = `C:\`
	}
	abs := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	home, xdg, local := abs("home", "u"), abs("xdg"), abs("local")
	for _, c := range []struct {
		goos, home, xdg, local, want string
	}{
		{"linux", home, "", "", filepath.Join(home, ".local", "state", "castellan")},
		{"freebsd", home, "", "", filepath.Join(home, ".local", "state", "castellan")},
		{"darwin", home, "", "", filepath.Join(home, "Library", "Application Support", "castellan", "state")},
		{"windows", home, "", local, filepath.Join(local, "castellan", "state")},
		{"linux", home, xdg, "", filepath.Join(xdg, "castellan")},
		{"darwin", home, xdg, "", filepath.Join(xdg, "castellan")},
		{"windows", home, xdg, local, filepath.Join(xdg, "castellan")},
		{"linux", home, "relative", "", filepath.Join(home, ".local", "state", "castellan")},
		{"linux", "", "", local, ""},
		{"linux", "relative", "", "", ""},
		{"windows", home, "", "", ""},
	} {
		got := stateDir(c.goos, c.home, func(name string) string {
			return map[string]string{"XDG_STATE_HOME": c.xdg, "LocalAppData": c.local}[name]
		})
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestStateDirReadsTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	got, err := StateDir()
	if err != nil || got != filepath.Join(dir, "castellan") {
		t.Errorf("%q, %v", got, err)
	}
}
