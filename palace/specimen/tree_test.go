package specimen

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var samples = os.DirFS("../../testdata/palaces")

func TestACopyIsPrivateAndEqual(t *testing.T) {
	t.Parallel()
	dst := filepath.Join(t.TempDir(), "copy")
	if err := CopyFS(samples, "synced", dst); err != nil {
		t.Fatal(err)
	}
	want, err := HashTree("../../testdata/palaces/synced/palace")
	if err != nil {
		t.Fatal(err)
	}
	got, err := HashTree(dst)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(got) < 7 {
		t.Fatalf("copied %d paths of %d", len(got), len(want))
	}
	for p, w := range want {
		g := got[p]
		if g.Sum != w.Sum || g.Size != w.Size {
			t.Errorf("%s differs from the sample", p)
		}
		mode := fs.FileMode(0o600)
		if g.Mode.IsDir() {
			mode = 0o700
		}
		if g.Mode.Perm() != mode && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %v", p, g.Mode)
		}
	}
}

func TestACopyNeverLandsOnAnotherPalace(t *testing.T) {
	t.Parallel()
	dst := t.TempDir()
	if err := os.WriteFile(filepath.Join(dst, Database), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CopyFS(samples, "fresh", dst); err == nil {
		t.Fatal("copied over a file")
	}
	if b, _ := os.ReadFile(filepath.Join(dst, Database)); string(b) != "mine" {
		t.Fatalf("the file is now %q", b)
	}
	if err := CopyFS(samples, "no such sample", filepath.Join(dst, "x")); err == nil {
		t.Fatal("copied a sample that is not there")
	}
	odd := fstest.MapFS{"odd/palace/link": {Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}}
	if err := CopyFS(odd, "odd", filepath.Join(dst, "y")); err == nil {
		t.Fatal("copied a link")
	}
}

func TestATreeTellsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(dir string) error
		want   []string
	}{
		"nothing": {func(string) error { return nil }, nil},
		"reading": {func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "f")); return err }, nil},
		"byte": {func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("abd"), 0o600); err != nil {
				return err
			}
			return os.Chtimes(filepath.Join(dir, "f"), old, old)
		}, []string{"f: other bytes, same size"}},
		"time": {func(dir string) error { return os.Chtimes(filepath.Join(dir, "f"), old, old.Add(time.Second)) },
			[]string{"f: modified 2026-01-02T03:04:06Z, was 2026-01-02T03:04:05Z"}},
		"length": {func(dir string) error {
			if err := os.Truncate(filepath.Join(dir, "f"), 2); err != nil {
				return err
			}
			return os.Chtimes(filepath.Join(dir, "f"), old, old)
		}, []string{"f: 2 bytes, was 3"}},
		"mode": {func(dir string) error { return os.Chmod(filepath.Join(dir, "f"), 0o400) },
			[]string{"f: mode -r--------, was -rw-------"}},
		"gone": {func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "f")); err != nil {
				return err
			}
			return os.Chtimes(dir, old, old)
		}, []string{"f: gone"}},
		"new": {func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "g"), nil, 0o600); err != nil {
				return err
			}
			return os.Chtimes(dir, old, old)
		}, []string{"g: new"}},
		"came and went": {func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "g"), nil, 0o600); err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(dir, "g")); err != nil {
				return err
			}
			return os.Chtimes(dir, old, old.Add(time.Minute))
		}, []string{".: modified 2026-01-02T03:05:05Z, was 2026-01-02T03:04:05Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f := filepath.Join(dir, "f")
			if err := os.WriteFile(f, []byte("abc"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{f, dir} {
				if err := os.Chtimes(p, old, old); err != nil {
					t.Fatal(err)
				}
			}
			before, err := HashTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			after, err := HashTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			for p, e := range after { // the wanted lines speak UTC
				e.ModTime = e.ModTime.UTC()
				after[p] = e
			}
			for p, e := range before {
				e.ModTime = e.ModTime.UTC()
				before[p] = e
			}
			if d := cmp.Diff(c.want, Diff(before, after)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A 20 GB file of holes is hashed by what it holds, and a byte written far
// inside it is still noticed.
func TestASparseFileIsHashedByWhatItHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "link_lists.bin")
	if err := growSparse(name, 20<<30); err != nil {
		t.Fatal(err)
	}
	empty, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{7}, 13<<30+5); err != nil {
		t.Fatal(err)
	}
	one, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if empty["link_lists.bin"].Sum == one["link_lists.bin"].Sum {
		t.Error("a byte at 13 GiB went unnoticed")
	}
	if _, err := f.WriteAt([]byte{0}, 13<<30+5); err != nil {
		t.Fatal(err)
	}
	// The block is stored now, but holds zeros again.
	back, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if empty["link_lists.bin"].Sum != back["link_lists.bin"].Sum {
		t.Error("how the zeros are stored changed the sum")
	}
}
