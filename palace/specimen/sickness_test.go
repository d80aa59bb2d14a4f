package specimen

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// made is a fresh specimen.
func made(t *testing.T, s Sickness) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "palace")
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // some forbid their own removal
	if err := s.Make(t.Context(), samples, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEverySpecimenIsTheSameEachTimeAndStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	var names []string
	for i, s := range All() {
		if testing.Short() && i%16 != 0 {
			continue
		}
		names = append(names, s.Name)
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first, second := made(t, s), made(t, s)
			a, b := sums(t, first), sums(t, second)
			if d := cmp.Diff(a, b); d != "" {
				t.Errorf("made twice, not the same:\n%s", d)
			}
			for _, dir := range []string{first, second} {
				entries, err := os.ReadDir(filepath.Dir(dir))
				if err != nil {
					t.Fatal(err)
				}
				if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "palace" {
					t.Errorf("beside the palace lies %v", entries)
				}
			}
			for p := range a {
				if strings.HasPrefix(p, Database+"-") && !strings.Contains("hot-journal wal-orphaned shm-alone journal-cold", s.Name) {
					t.Errorf("%s was left behind", p)
				}
			}
		})
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(n) {
			t.Errorf("%q is no name, or the name of two", n)
		}
		seen[n] = true
	}
}

// sums are a tree's hashes, without what SQLite salts.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return nil
	}
	// Two of them cannot be read until they are given back.
	database := filepath.Join(dir, Database)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(database); err == nil && info.Mode() == 0 {
		if err := os.Chmod(database, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for p, e := range tree {
		m[p] = e.Mode.String() + " " + e.Sum
		if strings.HasSuffix(p, "-journal") || strings.HasSuffix(p, "-wal") {
			m[p] = e.Mode.String()
		}
	}
	return m
}
