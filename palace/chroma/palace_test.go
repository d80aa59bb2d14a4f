package chroma

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
	"castellan/palace/specimen"
)

// A palace in WAL mode at rest is read as immutable, so another program's
// write makes the handle stale; the palace opens the file again by itself.
func TestQuestionsGoOnWhenAnotherProgramWrites(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		dir := sample(t, "fresh")
		alter(t, dir, "PRAGMA journal_mode = "+mode)
		p := open(t, dir)
		c := collection(t, p, "mempalace_drawers")
		for want := int64(5); want < 8; want++ {
			if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != want {
				t.Fatalf("%s: %d records, want %d, %v", mode, n, want, err)
			}
			enqueue(t, dir, c.row.Topic(), OpAdd, string(rune('a'+want)), vectorOf(1), "{}")
		}
	}
}

func TestAPalaceIsNotSwappedUnderItsReader(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	other := sample(t, "healthy")
	if err := os.Rename(filepath.Join(other, DatabaseFile), filepath.Join(dir, DatabaseFile)); err != nil {
		t.Fatal(err)
	}
	var stale *dbfile.StaleError
	if n, err := c.Count(t.Context(), backend.Filter{}); !errors.As(err, &stale) {
		t.Fatalf("%d records of another palace, %v", n, err)
	}
}

func TestOpenSaysWhyNot(t *testing.T) {
	for name, content := range map[string]*string{"missing": nil, "empty": new(string)} {
		dir := t.TempDir()
		if content != nil {
			if err := os.WriteFile(filepath.Join(dir, DatabaseFile), []byte(*content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var refused *dbfile.FileError
		if _, err := Open(t.Context(), dir, Options{}); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAskingEverythingChangesNothing(t *testing.T) {
	for _, name := range []string{"empty", "fresh", "healthy", "synced"} {
		dir := sample(t, name)
		before, err := specimen.HashTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		askEverything(t.Context(), dir)
		after, err := specimen.HashTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := specimen.Diff(before, after); len(d) != 0 {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestAPageIsBounded(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	page, err := c.Get(t.Context(), backend.Query{})
	if err != nil || len(page.Records) != defaultPage || page.Next == "" {
		t.Errorf("%d records, next %q, %v", len(page.Records), page.Next, err)
	}
	page, err = c.Get(t.Context(), backend.Query{Limit: 1 << 40})
	if err != nil || len(page.Records) != 1500 || page.Next != "" {
		t.Errorf("%d records, next %q, %v", len(page.Records), page.Next, err)
	}
}
