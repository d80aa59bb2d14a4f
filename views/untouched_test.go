package views

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace/specimen"
	"castellan/ui/uitest"
)

func TestLookingAtEveryScreenChangesNothing(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "quarantine-holds-more", "exact", "not-a-database", "hot-journal", "wal-orphaned", "directory-empty")
	before, err := specimen.HashTree(site.home)
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	for range d.app.house.palaces {
		for _, keys := range screens {
			d.keys(keys)
			d.keys("j z z ? q : esc r R y esc")
			for len(d.app.stack) > 1 {
				d.app.pop()
			}
		}
		d.keys("f d q d /")
		d.typing("winter")
		for len(d.app.stack) > 1 {
			d.app.pop()
		}
		d.keys("esc j")
	}
	plainSession(t, site, "1", "2", "1", "3", "b", "b", "3", "d", "1", "b", "b", "p")
	if err := site.manager.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := specimen.HashTree(site.home)
	if err != nil {
		t.Fatal(err)
	}
	if diff := specimen.Diff(before, after); len(diff) > 0 {
		t.Errorf("looking changed:\n%s", strings.Join(diff, "\n"))
	}
}

func TestAHugeDocumentIsShownInPart(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fresh")
	setMetadata(t, site.path("fresh"), "chroma:document", strings.Repeat("words without end, ", 1<<19)) // 10 MB
	setMetadata(t, site.path("fresh"), "added_by", strings.Repeat("x", 1<<20))
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	d.keys("d")
	d.shows("words without end")
	d.keys("enter G")
	uitest.Check(t, d.frame(), 80, 24)
	d.keys("z / f i r s t enter")
	d.shows("The first 66 kB are shown", "castellan export has all")
	s := d.app.top().(*drawers)
	for _, page := range s.shown.kept {
		for _, row := range page {
			if len(row.preview) > previewBytes {
				t.Errorf("the list keeps %d bytes of a document", len(row.preview))
			}
		}
	}
}

func TestACollectionThatGoesAwayIsTold(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, site, uitest.Plain(), 80, 24)
	d.keys("d")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(site.path("healthy"), specimen.Database))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(context.Background(), "UPDATE collections SET name = 'other' WHERE name = 'mempalace_drawers'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d.wait(refreshPace)
	d.shows("Chunk 1499", "the collection is not in the palace any more") // the old rows, and why they are old
	d.keys("q enter")
	d.shows("other")
}
