package exact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

func record(id, document string, vector ...float32) backend.Record {
	return backend.Record{ID: id, Document: &document, Embedding: vector, Metadata: backend.Metadata{"wing": "home"}}
}

// create makes a palace with an empty collection of drawers.
func create(t *testing.T, dir string) *Writer {
	t.Helper()
	p, err := Create(t.Context(), dir, Options{}, Writing{})
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	w, err := p.CreateCollection(t.Context(), backend.NewCollection{Name: "mempalace_drawers"})
	must(t, err)
	return w.(*Writer)
}

func fresh(t *testing.T) *Writer {
	t.Helper()
	return create(t, filepath.Join(t.TempDir(), "palace"))
}

// writer opens the drawers of a copy of the recorded palace.
func writer(t *testing.T, dir string, w Writing) *Writer {
	t.Helper()
	c, err := open(t, dir).Writable(w).Writer(t.Context(), "mempalace_drawers")
	must(t, err)
	return c
}

// ask runs a question of one text on the file, by a connection of its own.
func ask(t *testing.T, dir, question string, args ...any) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, DatabaseFile)+"?mode=ro")
	must(t, err)
	defer db.Close()
	var v any
	must(t, db.QueryRow(question, args...).Scan(&v))
	return fmt.Sprint(v)
}

const everything = backend.Documents | backend.Metadatas | backend.Embeddings

func TestWhatIsFiledIsReadBack(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	a, b := record("a", "first", 1, 0), record("b", "second", 0, 1)
	b.Metadata = backend.Metadata{
		"text": "Straße \u2028 <b>", "int": int64(9007199254740993), "float": 3.0, "yes": true,
		"texts": []string{"x", ""}, "ints": []int64{-1}, "floats": []float64{0.5}, "flags": []bool{false}, "": "no key",
	}
	c := record("c", "", 0, 0)
	c.Metadata = nil
	must(t, w.Add(t.Context(), []backend.Record{a, b, c}))
	c.Metadata = backend.Metadata{}
	if diff := cmp.Diff([]backend.Record{a, b, c}, collect(t, w, backend.Query{Include: everything})); diff != "" {
		t.Error(diff)
	}
	info, err := w.to.Collection(t.Context(), "mempalace_drawers")
	must(t, err)
	if d := info.Info().Dimension; d == nil || *d != 2 {
		t.Errorf("dimension %v, want that of the first write", d)
	}
	sound(t, w.to.dir)
}

func TestAddRefusesAKnownIDAndTheWholeCall(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	must(t, w.Add(t.Context(), []backend.Record{record("a", "first", 1, 0)}))
	err := w.Add(t.Context(), []backend.Record{record("new", "x", 1, 0), record("a", "again", 0, 1)})
	var invalid *backend.InvalidRecordError
	if !errors.As(err, &invalid) || invalid.ID != "a" || invalid.Index != 1 {
		t.Errorf("%v", err)
	}
	if got := collect(t, w, backend.Query{Include: backend.Documents}); len(got) != 1 || *got[0].Document != "first" {
		t.Errorf("%v", got)
	}
	sound(t, w.to.dir)
}

func TestUpsertReplacesAndKeepsPlaceAndCreation(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	early := time.Date(2026, 1, 2, 3, 4, 5, 600_000_999, time.FixedZone("", 3600))
	late := early.Add(400 * time.Millisecond) // a whole second, which Python writes without a fraction
	w := writer(t, dir, Writing{Now: func() time.Time { return early }})
	v := make([]float32, 16)
	must(t, w.Upsert(t.Context(), []backend.Record{record("one", "old words", v...), record("two", "stays", v...)}))
	w.to.writing.Now = func() time.Time { return late }
	again := record("one", "new words", v...)
	again.Metadata = backend.Metadata{"room": "attic"}
	must(t, w.Upsert(t.Context(), []backend.Record{again}))
	got := collect(t, w, backend.Query{Filter: backend.Filter{IDs: []string{"two", "one"}}, Include: everything})
	if diff := cmp.Diff([]backend.Record{again, record("two", "stays", v...)}, got); diff != "" {
		t.Error(diff)
	}
	times := ask(t, dir, "SELECT created_at || ' ' || updated_at FROM documents WHERE id = 'one'")
	if times != "2026-01-02T02:04:05.600000+00:00 2026-01-02T02:04:06+00:00" {
		t.Errorf("created and updated %s", times)
	}
	if n := ask(t, dir, "SELECT count(*) FROM docs_fts WHERE docs_fts MATCH 'old'"); n != "0" {
		t.Errorf("%s texts with words that are gone", n)
	}
	sound(t, dir)
}

func TestUpdateMergesAndPassesOverUnknownIDs(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	w := writer(t, dir, Writing{})
	text := "rewritten"
	must(t, w.Update(t.Context(), []backend.Change{
		{ID: "nested", Metadata: backend.Metadata{"room": "attic"}},
		{ID: "nobody", Document: &text, Embedding: make([]float32, 99)}, // a dimension that will not be written
		{ID: "flags", Unset: []string{"on", "nothing"}, Document: &text},
		{ID: "bigger", Metadata: backend.Metadata{"n2": int64(1)}, Unset: []string{"tiny"}},
	}))
	for id, want := range map[string]string{
		"nested": `{"dict":{"a":{"b":[1]}},"room":"attic","wing":"home"}`,
		"flags":  `{"blank":"","half":0.5,"off":false,"one":1,"wing":"home","zero":0}`,
		"bigger": `{"f":1e+16,"n":18446744073709551616,"n2":1,"plain":1234567.0,"wing":"home"}`,
	} {
		if got := ask(t, dir, "SELECT metadata_json FROM documents WHERE id = ?", id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got := ask(t, dir, "SELECT document FROM documents WHERE id = 'flags'"); got != text {
		t.Errorf("document %q", got)
	}
	if n := ask(t, dir, "SELECT count(*) FROM documents"); n != fmt.Sprint(ask(t, sample(t), "SELECT count(*) FROM documents")) {
		t.Errorf("%s documents: an unknown id was filed", n)
	}
	sound(t, dir)
}

func TestUpdateRefusesToReplaceWhatItCannotWriteBack(t *testing.T) {
	t.Parallel()
	dir := change(t, sample(t), `UPDATE documents SET metadata_json = '{"half":"\ud800","fine":"\ufffd"}' WHERE id = 'flags'`)
	w := writer(t, dir, Writing{})
	err := w.Update(t.Context(), []backend.Change{
		{ID: "nested", Metadata: backend.Metadata{"room": "attic"}}, {ID: "flags", Metadata: backend.Metadata{"room": "attic"}},
	})
	var invalid *backend.InvalidRecordError
	if !errors.As(err, &invalid) || invalid.Index != 1 {
		t.Errorf("%v", err)
	}
	if got := ask(t, dir, "SELECT metadata_json FROM documents WHERE id = 'nested'"); strings.Contains(got, "attic") {
		t.Errorf("half of the call was written: %s", got)
	}
}

func TestDeleteRemovesWhatMatchesWithItsText(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	w := writer(t, dir, Writing{})
	all := collect(t, w, backend.Query{Include: everything})
	for _, f := range []backend.Filter{
		{IDs: []string{"flags", "big", "nobody"}},
		{IDs: []string{}},
		{Where: backend.Equal("wing", "日本")},
		{Where: backend.Compare{Key: "chunk_index", Op: backend.Gt, Value: int64(2)}, WhereDocument: backend.TextMatch{Op: backend.Contains, Text: "diary"}},
	} {
		want, err := w.Count(t.Context(), f)
		must(t, err)
		before, err := w.Count(t.Context(), backend.Filter{})
		must(t, err)
		n, err := w.Delete(t.Context(), f)
		must(t, err)
		left, err := w.Count(t.Context(), f)
		must(t, err)
		after, err := w.Count(t.Context(), backend.Filter{})
		must(t, err)
		if n != want || left != 0 || before-after != want || (want == 0) != (f.IDs != nil && len(f.IDs) == 0) {
			t.Errorf("%+v: %d deleted of %d, %d left; %d records before, %d after", f, n, want, left, before, after)
		}
	}
	if _, err := w.Delete(t.Context(), backend.Filter{}); err == nil {
		t.Error("deleted everything without being told so")
	}
	if _, err := w.Delete(t.Context(), backend.Filter{Where: backend.Compare{Key: "a", Op: backend.Regex, Value: "x"}}); err == nil {
		t.Error("took an operator that the engine does not have")
	}
	if left := collect(t, w, backend.Query{}); len(left) == 0 || len(left) >= len(all) {
		t.Errorf("%d of %d left", len(left), len(all))
	}
	sound(t, dir)
}

func TestACancelledWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"Add":    w.Add(ctx, []backend.Record{record("a", "x", 1)}),
		"Upsert": w.Upsert(ctx, []backend.Record{record("a", "x", 1)}),
		"Delete": second(w.Delete(ctx, backend.Filter{IDs: []string{"a"}})),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := w.Count(t.Context(), backend.Filter{}); n != 0 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
}
