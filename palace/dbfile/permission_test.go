//go:build unix

package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

// dropRoot runs the calling test once more as a user without rights, if this is root, and reports whether it did.
// root reads and writes what it likes, so nothing about permissions can be tested as root.
func dropRoot(t *testing.T, dir string) (elsewhere bool) {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	// /proc/self/exe: the test binary lies in a directory that nobody else may enter.
	if err := os.Chmod("/proc/self/exe", 0o755); err != nil { // the build goes by the umask
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "DBFILE_DIR="+dir, "TMPDIR="+dir+"/tmp")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as uid %d: %v\n%s", nobody, err, out)
	}
	return true
}

// sharedDir is a directory that another user can reach, with a tmp in it that he may write.
func sharedDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("DBFILE_DIR"); dir != "" {
		return dir
	}
	dir, err := os.MkdirTemp("", "dbfile")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, mode := range map[string]fs.FileMode{dir: 0o755, filepath.Join(dir, "tmp"): 0o777} {
		if name != dir {
			if err := os.Mkdir(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadOnlyMediaAreReadable: file and directory may not be written, in every state that a medium can freeze.
func TestReadOnlyMediaAreReadable(t *testing.T) {
	dir := sharedDir(t)
	media := []struct {
		name   string
		make   func(t *testing.T, path string)
		access Access
		rows   int
	}{
		{"clean", func(t *testing.T, path string) { build(t, path, 500) }, AccessRO, 500},
		{"wal", func(t *testing.T, path string) { build(t, path, 500, "PRAGMA journal_mode = WAL") }, AccessImmutable, 500},
		{"killed", func(t *testing.T, path string) { orphan(t, path) }, AccessWAL, 503},
		{"unread", func(t *testing.T, path string) { orphan(t, path); remove(t, path+"-shm") }, AccessCopy, 503},
		{"hot", makeHot, AccessCopy, 5000},
	}
	again := os.Getenv("DBFILE_DIR") != ""
	for _, m := range media {
		palace := filepath.Join(dir, m.name)
		path := filepath.Join(palace, "chroma.sqlite3")
		if !again {
			if err := os.Mkdir(palace, 0o755); err != nil {
				t.Fatal(err)
			}
			m.make(t, path)
			for name := range stateOf(t, palace, false) {
				if err := os.Chmod(filepath.Join(palace, name), 0o444); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(palace, 0o555); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(palace, 0o755) })
		}
	}
	if !again && dropRoot(t, dir) {
		return
	}
	for _, m := range media {
		palace := filepath.Join(dir, m.name)
		path := filepath.Join(palace, "chroma.sqlite3")
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			f.Close()
			t.Fatal("the file can be written: this tests nothing")
		}
		before := stateOf(t, palace, true)
		db, err := Open(t.Context(), path, Options{CopyDir: filepath.Join(dir, "tmp")})
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if got := count(t, db); db.Access() != m.access || got != m.rows {
			t.Errorf("%s: read as %q, %d rows; want %q, %d", m.name, db.Access(), got, m.access, m.rows)
		}
		snap, err := db.Snapshot(t.Context(), filepath.Join(dir, "tmp"))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		} else if err := snap.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		untouched(t, palace, before, true)
	}
}

func TestWhatMayNotBeReadIsTold(t *testing.T) {
	dir := sharedDir(t)
	closed := filepath.Join(dir, "closed")
	cases := map[string]string{ // what is opened, and what is named
		filepath.Join(dir, "secret.sqlite3"):    filepath.Join(dir, "secret.sqlite3"),
		filepath.Join(closed, "chroma.sqlite3"): filepath.Join(closed, "chroma.sqlite3"),
		filepath.Join(dir, "hot.sqlite3"):       filepath.Join(dir, "hot.sqlite3-journal"),
		filepath.Join(dir, "wal.sqlite3"):       filepath.Join(dir, "wal.sqlite3-wal"),
	}
	if os.Getenv("DBFILE_DIR") == "" {
		if err := os.Mkdir(closed, 0o700); err != nil {
			t.Fatal(err)
		}
		build(t, filepath.Join(closed, "chroma.sqlite3"), 10)
		build(t, filepath.Join(dir, "secret.sqlite3"), 10)
		makeHot(t, filepath.Join(dir, "hot.sqlite3"))
		orphan(t, filepath.Join(dir, "wal.sqlite3"))
		remove(t, filepath.Join(dir, "wal.sqlite3-shm"))
		for _, name := range []string{"secret.sqlite3", "hot.sqlite3-journal", "wal.sqlite3-wal"} {
			if err := os.Chmod(filepath.Join(dir, name), 0o000); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(closed, 0o000); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(closed, 0o700) })
		if dropRoot(t, dir) {
			return
		}
	}
	for path, named := range cases {
		_, ierr := Inspect(t.Context(), path)
		_, oerr := Open(t.Context(), path, Options{CopyDir: filepath.Join(dir, "tmp")})
		for _, err := range []error{ierr, oerr} {
			var e *FileError
			if !errors.As(err, &e) || e.Problem != Denied || e.Path != named || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: got %v, want permission denied on %s", path, err, named)
			}
		}
	}
}
