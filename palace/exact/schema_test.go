package exact

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

// schema is what SQLite keeps of every table and index, with one space for any
// number of them.
func schema(t *testing.T, dir string) (list []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, DatabaseFile)+"?mode=ro")
	must(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var kind, name, text string
		must(t, rows.Scan(&kind, &name, &text))
		text = strings.Join(strings.Fields(text), " ")
		text = strings.NewReplacer("( ", "(", " )", ")").Replace(text)
		list = append(list, kind+" "+name+": "+text)
	}
	must(t, rows.Err())
	return list
}

func TestANewPalaceHasTheTablesThatMemPalaceMakes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "palace")
	p, err := Create(t.Context(), dir, Options{}, Writing{})
	must(t, err)
	must(t, p.Close())
	recorded := sample(t)
	if diff := cmp.Diff(schema(t, recorded), schema(t, dir)); diff != "" {
		t.Error(diff)
	}
	for _, question := range []string{
		"SELECT value FROM meta WHERE key = 'fts5_available'", "PRAGMA journal_mode", "PRAGMA user_version", "PRAGMA page_size", "PRAGMA encoding", "PRAGMA auto_vacuum",
	} {
		if got, want := ask(t, dir, question), ask(t, recorded, question); got != want {
			t.Errorf("%s: %s, MemPalace has %s", question, got, want)
		}
	}
}

func TestANewPalaceIsClosedToOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	dir := filepath.Join(t.TempDir(), "palace")
	must(t, os.Mkdir(dir, 0o755))
	w := create(t, dir)
	seen := 0
	err := w.to.write(t.Context(), func(tx *writeTx, _ query) error {
		must(t, tx.setMeta("k", "v"))
		return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			must(t, err)
			info, err := d.Info()
			must(t, err)
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s: %v", path, info.Mode())
			}
			seen++
			return nil
		})
	})
	must(t, err)
	if seen != 4 {
		t.Errorf("%d entries, want the directory, the database and its two sidecars", seen)
	}
	again, err := Create(t.Context(), dir, Options{}, Writing{})
	must(t, err)
	defer again.Close()
	if _, err := again.Collection(t.Context(), "mempalace_drawers"); err != nil {
		t.Errorf("making it again: %v", err)
	}
}

func TestTheFirstWriteBringsOlderFilesUpToDate(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"before the generated columns": beforeLoci,
		"before the dimension column":  append([]string{"ALTER TABLE collections DROP COLUMN dimension"}, beforeLoci...),
		"without full text":            {"DROP TABLE docs_fts", "UPDATE meta SET value = '0'"},
		"in rollback mode":             {"PRAGMA journal_mode = DELETE"},
		"columns of tomorrow":          {"ALTER TABLE documents ADD COLUMN tenant TEXT", "ALTER TABLE collections ADD COLUMN space TEXT DEFAULT 'cosine'"},
		"dimension never filled":       {"UPDATE collections SET dimension = NULL"},
	} {
		dir := change(t, sample(t), statements...)
		w := writer(t, dir, Writing{})
		short := record("new", "words", 1, 2)
		var mismatch *DimensionMismatchError
		if err := w.Add(t.Context(), []backend.Record{short}); !errors.As(err, &mismatch) || mismatch.Want != 16 {
			t.Errorf("%s: another dimension: %v", name, err)
		}
		if name != "in rollback mode" {
			if got := ask(t, dir, "SELECT count(*) FROM documents WHERE id = 'new'"); got != "0" {
				t.Errorf("%s: a refused write left %s documents", name, got)
			}
		}
		long := short
		long.Embedding = make([]float32, 16)
		must(t, w.Add(t.Context(), []backend.Record{long}))
		got := collect(t, w, backend.Query{Filter: backend.Filter{IDs: []string{"new"}}, Include: everything})
		if diff := cmp.Diff([]backend.Record{long}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		have := schema(t, dir)
		for _, want := range schema(t, sample(t)) {
			object, _, _ := strings.Cut(want, ":")
			if !slices.ContainsFunc(have, func(s string) bool { return strings.HasPrefix(s, object+":") }) {
				t.Errorf("%s: no %s", name, object)
			}
		}
		if mode := ask(t, dir, "PRAGMA journal_mode"); mode != "wal" {
			t.Errorf("%s: journal mode %s", name, mode)
		}
		if d := ask(t, dir, "SELECT dimension FROM collections WHERE name = 'mempalace_drawers'"); d != "16" {
			t.Errorf("%s: dimension %s", name, d)
		}
		sound(t, dir)
	}
}

func TestADatabaseOfAnotherShapeIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"of another program": {"DROP TABLE docs_fts", "DROP TABLE documents", "DROP TABLE collections", "DROP TABLE meta", "CREATE TABLE other (x)"},
		"without vectors":    {"ALTER TABLE documents DROP COLUMN embedding"},
		"without times":      {"ALTER TABLE documents DROP COLUMN updated_at"},
	} {
		dir := change(t, sample(t), statements...)
		before := schema(t, dir)
		w := open(t, dir).Writable(Writing{})
		_, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "new"})
		var shape *backend.SchemaError
		if !errors.As(err, &shape) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, schema(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCollectionsAreMadeAndRemovedWhole(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	w := open(t, dir).Writable(Writing{})
	made, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "new", Dimension: 2, Embedder: "minilm", Space: "cosine"})
	must(t, err)
	if i := made.Info(); i.Embedder != "minilm" || i.Dimension == nil || *i.Dimension != 2 {
		t.Errorf("%+v", i)
	}
	must(t, made.Add(t.Context(), []backend.Record{record("flags", "the same id elsewhere", 1, 2)}))
	var exists *backend.ExistsError
	if _, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "new"}); !errors.As(err, &exists) {
		t.Errorf("twice: %v", err)
	}
	others := ask(t, dir, "SELECT count(*) FROM documents WHERE collection_id <> (SELECT id FROM collections WHERE name = 'new')")
	must(t, w.DeleteCollection(t.Context(), "new"))
	if left := ask(t, dir, "SELECT count(*) FROM documents"); left != others {
		t.Errorf("%s documents left, want %s", left, others)
	}
	sound(t, dir)
	var missing *backend.CollectionNotFoundError
	for what, err := range map[string]error{
		"deleting again":       w.DeleteCollection(t.Context(), "new"),
		"writing to it":        made.Add(t.Context(), []backend.Record{record("a", "", 1, 2)}),
		"writing nothing to":   made.Add(t.Context(), nil),
		"reading of it":        second(made.Count(t.Context(), backend.Filter{})),
		"opening":              second(w.Collection(t.Context(), "new")),
		"opening to write":     second(w.Writer(t.Context(), "new")),
		"deleting of it":       second(made.Delete(t.Context(), backend.Filter{IDs: []string{"a"}})),
		"updating it":          made.Update(t.Context(), []backend.Change{{ID: "a", Unset: []string{"x"}}}),
		"naming its embedder":  made.(*Writer).SetEmbedder(t.Context(), "minilm"),
		"searching it":         second(made.(*Writer).Search(t.Context(), []float32{1, 2}, 1, backend.Filter{}, 0)),
		"searching for a word": second(made.(*Writer).LexicalSearch(t.Context(), "word", 1, nil)),
	} {
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWhatTheFormatCannotKeepIsRefused(t *testing.T) {
	t.Parallel()
	w := fresh(t).to
	m := 16
	for _, c := range []backend.NewCollection{
		{Name: "c", Space: "l2"}, {Name: "c", HNSW: backend.HNSWParams{M: &m}}, {Name: "c", Metadata: backend.Metadata{"k": "v"}},
		{Name: ""}, {Name: "\xff"}, {Name: "c", Dimension: -1}, {Name: "c", Dimension: 1 << 30},
	} {
		_, err := w.CreateCollection(t.Context(), c)
		var kept *NotKeptError
		if err == nil || errors.As(err, &kept) != (c.Name == "c" && c.Dimension == 0) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if list, err := w.Collections(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", fmt.Sprint(list), err)
	}
}
