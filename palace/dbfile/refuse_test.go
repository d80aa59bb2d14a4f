//go:build unix

package dbfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPathsThatAreNoDatabaseAreNamedAndRefused would hang, not fail, if anything opened a FIFO to read.
func TestPathsThatAreNoDatabaseAreNamedAndRefused(t *testing.T) {
	page := func(t *testing.T) []byte {
		path := filepath.Join(t.TempDir(), "good.sqlite3")
		build(t, path, 10)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	changed := func(t *testing.T, path string, at int, to byte) {
		b := page(t)
		b[at] = to
		write(t, path, b)
	}
	must := func(t *testing.T, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name    string
		make    func(t *testing.T, path string)
		problem Problem
		is      error
	}{
		{"missing", func(t *testing.T, path string) {}, Missing, fs.ErrNotExist},
		{"dangling link", func(t *testing.T, path string) { must(t, os.Symlink("gone", path)) }, DanglingLink, fs.ErrNotExist},
		{"link to itself", func(t *testing.T, path string) { must(t, os.Symlink(filepath.Base(path), path)) }, LinkLoop, nil},
		{"directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, Directory, nil},
		{"named pipe", func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }, Pipe, nil},
		{"socket", func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { l.Close() })
		}, Socket, nil},
		{"device", func(t *testing.T, path string) { must(t, os.Symlink("/dev/null", path)) }, Device, nil},
		{"zero bytes", func(t *testing.T, path string) { write(t, path, nil) }, Empty, nil},
		{"header zeroed", func(t *testing.T, path string) {
			b := page(t)
			clear(b[:100])
			write(t, path, b)
		}, NotDatabase, ErrNotDatabase},
		{"text", func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("hello ", 1000))) }, NotDatabase, ErrNotDatabase},
		{"seven bytes of text", func(t *testing.T, path string) { write(t, path, []byte("garbage")) }, NotDatabase, ErrNotDatabase},
		{"cut within the magic", func(t *testing.T, path string) { write(t, path, page(t)[:7]) }, Truncated, nil},
		{"cut within the header", func(t *testing.T, path string) { write(t, path, page(t)[:99]) }, Truncated, nil},
		{"cut within the first page", func(t *testing.T, path string) { write(t, path, page(t)[:4095]) }, Truncated, nil},
		{"page size 3", func(t *testing.T, path string) { changed(t, path, 17, 3) }, NotDatabase, ErrNotDatabase},
		{"read version 9", func(t *testing.T, path string) { changed(t, path, 19, 9) }, NotDatabase, ErrNotDatabase},
		{"payload fraction", func(t *testing.T, path string) { changed(t, path, 21, 1) }, NotDatabase, ErrNotDatabase},
		{"a file in the way", func(t *testing.T, path string) {
			write(t, path, nil)
		}, Missing, fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "chroma.sqlite3")
			tt.make(t, path)
			if tt.name == "a file in the way" {
				path = filepath.Join(path, "chroma.sqlite3")
			}
			before := stateOf(t, dir, tt.problem != Pipe)
			_, ierr := Inspect(t.Context(), path)
			db, oerr := Open(t.Context(), path, Options{})
			if db != nil {
				t.Fatal("opened")
			}
			for _, err := range []error{ierr, oerr} {
				var e *FileError
				if !errors.As(err, &e) {
					t.Fatalf("got %v, want a FileError", err)
				}
				if e.Problem != tt.problem || e.Path != path || e.Next() == "" {
					t.Errorf("got %+v, want %q of %q", e, tt.problem, path)
				}
				if tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("%v does not match %v", err, tt.is)
				}
			}
			untouched(t, dir, before, tt.problem != Pipe)
		})
	}
}

// TestSidecarsThatAreNoFilesAreRefused: SQLite itself would open a -journal of any kind and wait for ever on a FIFO.
func TestSidecarsThatAreNoFilesAreRefused(t *testing.T) {
	kinds := map[Problem]func(name string) error{
		Pipe:         func(name string) error { return syscall.Mkfifo(name, 0o600) },
		Directory:    func(name string) error { return os.Mkdir(name, 0o700) },
		SymbolicLink: func(name string) error { return os.Symlink("elsewhere", name) },
	}
	for problem, make := range kinds {
		for _, suffix := range []string{"-journal", "-wal", "-shm"} {
			t.Run(string(problem)+suffix, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "chroma.sqlite3")
				build(t, path, 10)
				db := mustOpen(t, path, Options{})
				if err := make(path + suffix); err != nil {
					t.Fatal(err)
				}
				_, ierr := Inspect(t.Context(), path)
				_, oerr := Open(t.Context(), path, Options{})
				verr := db.View(t.Context(), func(*Tx) error { return nil })
				for _, err := range []error{ierr, oerr, verr} {
					var e *FileError
					if !errors.As(err, &e) || e.Problem != problem || e.Path != path+suffix {
						t.Errorf("got %v, want %q of %q", err, problem, path+suffix)
					}
				}
			})
		}
	}
}

func TestAwkwardPathsReachTheFileTheyName(t *testing.T) {
	for _, name := range []string{"a?b#c%41&d=e.sqlite3", "with space+plus;semi.sqlite3", "ünïcödé-宮殿.sqlite3", "\xff\xfe.sqlite3", "file:x?mode=memory", "'quote\"\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		build(t, filepath.Join(dir, "plain"), 7)
		if err := os.Rename(filepath.Join(dir, "plain"), path); err != nil {
			t.Fatal(err)
		}
		before := stateOf(t, dir, true)
		db := mustOpen(t, path, Options{})
		if got := count(t, db); got != 7 {
			t.Errorf("%q: %d rows", name, got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		untouched(t, dir, before, true)
	}
}

func TestTwoSpellingsHaveOneIdentityAndANewFileHasAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 10)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	a, err := Identify(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Identify(link)
	if err != nil || a != b || a == (FileID{}) {
		t.Errorf("%v %v %v", a, b, err)
	}
	facts, err := Inspect(t.Context(), link)
	if err != nil || facts.ID != a || facts.RealPath != path || facts.Path != link {
		t.Errorf("%+v %v", facts, err)
	}
	build(t, filepath.Join(dir, "other"), 1)
	if c, err := Identify(filepath.Join(dir, "other")); err != nil || c == a {
		t.Errorf("%v %v", c, err)
	}
	var e *FileError
	if _, err := Identify(filepath.Join(dir, "none")); !errors.As(err, &e) || e.Problem != Missing {
		t.Errorf("got %v", err)
	}
}

// TestSidecarsLieBesideTheRealFile: SQLite follows links first, so a hot journal beside the link would be nobody's.
func TestSidecarsLieBesideTheRealFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	makeHot(t, path)
	link := filepath.Join(t.TempDir(), "link.sqlite3")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	facts, err := Inspect(t.Context(), link)
	if err != nil || !facts.Hot {
		t.Errorf("hot %v, %v", facts.Hot, err)
	}
	db := mustOpen(t, link, Options{CopyDir: t.TempDir()})
	if got := count(t, db); got != 5000 {
		t.Errorf("%d rows", got)
	}
}
