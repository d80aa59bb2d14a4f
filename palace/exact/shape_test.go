package exact

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// change alters a copy of a palace that nothing has open yet.
func change(t *testing.T, dir string, statements ...string) string {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return dir
}

// beforeLoci brings a palace to the shape that MemPalace 3.4 to 3.7 made: no
// generated columns, no index over them.
var beforeLoci = []string{
	"DROP INDEX idx_documents_coll_wing_room_hall", "DROP INDEX idx_documents_coll_source_file",
	"ALTER TABLE documents DROP COLUMN wing", "ALTER TABLE documents DROP COLUMN room", "ALTER TABLE documents DROP COLUMN hall",
}

func TestOlderAndNewerShapesGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	type answer struct {
		Infos  []backend.CollectionInfo
		Rows   []backend.Record
		Home   []string
		Facets []backend.Facet
	}
	ask := func(dir string) answer {
		p := open(t, dir)
		var a answer
		var err error
		a.Infos, err = p.Collections(t.Context())
		must(t, err)
		c := drawers(t, p)
		a.Rows = collect(t, c, backend.Query{Include: backend.Documents | backend.Metadatas | backend.Embeddings})
		a.Home = ids(collect(t, c, backend.Query{Filter: backend.Filter{Where: backend.Equal("wing", "home")}, Limit: 3}))
		a.Facets, err = c.Facets(t.Context(), backend.Filter{}, "wing", "room")
		must(t, err)
		return a
	}
	want := ask(sample(t))
	for name, statements := range map[string][]string{
		"before the generated columns": beforeLoci,
		"before the dimension column":  append([]string{"DELETE FROM collections WHERE name = 'unused'", "ALTER TABLE collections DROP COLUMN dimension"}, beforeLoci...),
		"columns of tomorrow":          {"ALTER TABLE documents ADD COLUMN tenant TEXT", "ALTER TABLE collections ADD COLUMN space TEXT DEFAULT 'cosine'"},
	} {
		got := ask(change(t, sample(t), statements...))
		if name == "before the dimension column" {
			want := want
			want.Infos = slices.DeleteFunc(slices.Clone(want.Infos), func(i backend.CollectionInfo) bool { return i.Name == "unused" })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestVectorOfTheWrongSizeIsNoneAndTheRecordStays(t *testing.T) {
	t.Parallel()
	dir := change(t, sample(t),
		"UPDATE documents SET embedding = x'00112233' WHERE id = 'flags'",
		"UPDATE documents SET embedding = zeroblob(0) WHERE id = 'big'",
		"UPDATE documents SET embedding = 'text' WHERE id = 'lists'",
		"UPDATE documents SET embedding = zeroblob(100000) WHERE id = 'nested'")
	c := drawers(t, open(t, dir))
	rows := collect(t, c, backend.Query{Include: backend.Embeddings})
	if len(rows) != 70 {
		t.Fatalf("%d records, want 70", len(rows))
	}
	for _, r := range rows {
		wrong := slices.Contains([]string{"flags", "big", "lists", "nested"}, r.ID)
		if (r.Embedding == nil) != wrong || !wrong && len(r.Embedding) != 16 {
			t.Errorf("%s: %d floats", r.ID, len(r.Embedding))
		}
	}
}

func TestMetadataThatIsNoObjectIsNone(t *testing.T) {
	t.Parallel()
	dir := change(t, sample(t), append(slices.Clone(beforeLoci),
		`UPDATE documents SET metadata_json = '{"wing": ' WHERE id = 'flags'`,
		`UPDATE documents SET metadata_json = '["wing"]' WHERE id = 'big'`,
		`UPDATE documents SET metadata_json = '' WHERE id = 'lists'`,
		`UPDATE documents SET metadata_json = x'ff00' WHERE id = 'nested'`)...)
	c := drawers(t, open(t, dir))
	odd := []string{"flags", "big", "lists", "nested"}
	for _, r := range collect(t, c, backend.Query{Filter: backend.Filter{IDs: odd}, Include: backend.Metadatas}) {
		if len(r.Metadata) != 0 {
			t.Errorf("%s: %v", r.ID, r.Metadata)
		}
	}
	n, err := c.Count(t.Context(), backend.Filter{Where: backend.Compare{Key: "wing", Op: backend.Ne, Value: "home"}, IDs: odd})
	must(t, err)
	if n != 4 {
		t.Errorf("%d of them have another wing than home, want all 4", n)
	}
}

func TestDatabaseOfAnotherProgramIsRefusedAndAnEmptyOneIsEmpty(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"no documents":  {"DROP TABLE documents"},
		"no collection": {"DROP TABLE collections"},
		"no metadata":   {"ALTER TABLE documents RENAME COLUMN document TO body"},
	} {
		p := open(t, change(t, sample(t), statements...))
		var schema *backend.SchemaError
		if _, err := p.Collections(t.Context()); !errors.As(err, &schema) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	p := open(t, change(t, dir, "CREATE TABLE x (y)", "DROP TABLE x"))
	if list, err := p.Collections(t.Context()); len(list) != 0 || err != nil {
		t.Errorf("empty database: %v, %v", list, err)
	}
}

func TestAWriterThatComesAndGoesIsSeen(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	p := open(t, dir)
	c := drawers(t, p)
	count := func(want int64) {
		t.Helper()
		n, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		if n != want {
			t.Errorf("%d rows, want %d (%s)", n, want, p.DB().Access())
		}
	}
	count(70)
	if a := p.DB().Access(); a != dbfile.AccessImmutable {
		t.Fatalf("without a writer it is opened as %s", a)
	}
	path := filepath.Join(dir, DatabaseFile)
	release, err := dbfile.Hold(t.Context(), path)
	must(t, err)
	writer, err := sql.Open("sqlite", path)
	must(t, err)
	writer.SetMaxOpenConns(1)
	_, err = writer.Exec("DELETE FROM documents WHERE id = 'flags'")
	must(t, err)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatal("the writer keeps no log:", err)
	}
	count(69)
	_, err = writer.Exec("DELETE FROM documents WHERE id = 'big'")
	must(t, err)
	count(68)
	must(t, writer.Close())
	release()
	count(68)
}

func TestAnotherFileAtThePathIsNotReadOn(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	p := open(t, dir)
	c := drawers(t, p)
	other := sample(t)
	must(t, os.Rename(filepath.Join(other, DatabaseFile), filepath.Join(dir, DatabaseFile)))
	_, err := c.Count(context.Background(), backend.Filter{})
	var stale *dbfile.StaleError
	if !errors.As(err, &stale) {
		t.Errorf("%v, want a StaleError", err)
	}
}

func TestDamageIsNamedAndNotTakenForEmptiness(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	var root, page int64
	must(t, db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").Scan(&root))
	must(t, db.QueryRow("PRAGMA page_size").Scan(&page))
	must(t, db.Close())
	f, err := os.OpenFile(filepath.Join(dir, DatabaseFile), os.O_WRONLY, 0)
	must(t, err)
	// The root's header: no b-tree page has the type 0xff.
	_, err = f.WriteAt([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, (root-1)*page)
	must(t, errors.Join(err, f.Close()))
	c := drawers(t, open(t, dir))
	var damaged *backend.DamagedError
	if page, err := c.Get(t.Context(), backend.Query{Include: backend.Documents}); !errors.As(err, &damaged) {
		t.Errorf("%d records, %v, want a DamagedError", len(page.Records), err)
	}
}
