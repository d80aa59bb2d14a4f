package chroma

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/dbfile"

	"github.com/google/go-cmp/cmp"
)

func TestStoredTextComesBackByteForByte(t *testing.T) {
	dir := sample(t, "fresh")
	text := "a\x00b\xff\xfe\r\n\u2028 日本"
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"UPDATE embedding_metadata SET string_value = ? WHERE id = 1 AND key IN ('chroma:document', 'wing')",
		"UPDATE embeddings SET embedding_id = ? WHERE id = 1",
	} {
		if _, err := db.Exec(q, text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("INSERT INTO embedding_metadata (id, key, string_value) VALUES (1, ?, ?)", text, text); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := collection(t, open(t, dir), "mempalace_drawers")
	list := walk(t, c, backend.Query{Filter: backend.Filter{Where: backend.Equal("wing", text)}, Include: backend.Documents | backend.Metadatas})
	if len(list) != 1 || list[0].ID != text || *list[0].Document != text || list[0].Metadata[text] != text {
		t.Fatalf("%+v", list)
	}
	if list := walk(t, c, backend.Query{Filter: backend.Filter{IDs: []string{text}}}); len(list) != 1 {
		t.Error("not found by its id")
	}
}

func TestRecordsWithoutAnyMetadataCountAndList(t *testing.T) {
	dir := sample(t, "fresh")
	alter(t, dir, "DELETE FROM embedding_metadata WHERE id = 2")
	c := collection(t, open(t, dir), "mempalace_drawers")
	list := walk(t, c, backend.Query{Include: everyPart})
	if len(list) != 5 || list[1].Document != nil || list[1].Metadata != nil || list[1].Embedding == nil {
		t.Fatalf("%+v", list[1])
	}
	if n, err := c.Count(t.Context(), parse(t, `{"wing":{"$ne":"nothing"}}`, `{"$not_contains":"zzz"}`)); err != nil || n != 5 {
		t.Error(n, err)
	}
}

// Chroma leaves the list rows of a deleted collection behind, and a record
// that gets a dead one's number shows its list; that is what Chroma answers.
func TestAListLeftByADeadRecordShowsAsInChroma(t *testing.T) {
	dir := sample(t, "fresh")
	alter(t, dir,
		"INSERT INTO embedding_metadata_array (id, key, string_value) VALUES (1, 'tags', 'b'), (1, 'tags', 'a')",
		"INSERT INTO embedding_metadata_array (id, key, int_value) VALUES (1, 'mixed', 1)",
		"INSERT INTO embedding_metadata_array (id, key, string_value) VALUES (1, 'mixed', 'x'), (1, 'mixed', 'y'), (77, 'tags', 'dead')",
		"INSERT INTO embedding_metadata_array (id, key, bool_value) VALUES (1, 'wing', 1)",
	)
	c := collection(t, open(t, dir), "mempalace_drawers")
	m := walk(t, c, backend.Query{Include: backend.Metadatas})[0].Metadata
	for key, want := range map[string]any{"tags": []string{"b", "a"}, "mixed": []string{"x", "y"}, "wing": []bool{true}} {
		if d := cmp.Diff(want, m[key]); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
	for where, want := range map[string]int64{`{"tags":{"$contains":"a"}}`: 1, `{"tags":{"$contains":"dead"}}`: 0, `{"tags":{"$not_contains":"a"}}`: 4} {
		if n, err := c.Count(t.Context(), parse(t, where, "")); err != nil || n != want {
			t.Errorf("%s: %d, %v", where, n, err)
		}
	}
}

func TestSequenceNumbersStoredAs8BytesAreNoObstacle(t *testing.T) {
	dir := sample(t, "fresh")
	alter(t, dir, "UPDATE embeddings SET seq_id = CAST(x'00000000000000' || CAST(char(seq_id) AS BLOB) AS BLOB)",
		"UPDATE embeddings SET seq_id = x'07' WHERE id = 5")
	want := walk(t, collection(t, open(t, sample(t, "fresh")), "mempalace_drawers"), backend.Query{Include: everyPart})
	if d := cmp.Diff(want, walk(t, collection(t, open(t, dir), "mempalace_drawers"), backend.Query{Include: everyPart})); d != "" {
		t.Error(d)
	}
}

// The index over the records is the b-tree SQLite likes to count by
// (MemPalace #1362). Counting and paging do not need it.
func TestADamagedIndexOverTheRecordsHidesNothing(t *testing.T) {
	dir := sample(t, "healthy")
	path := filepath.Join(dir, DatabaseFile)
	var page int64
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_embeddings_1'").Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	junk := make([]byte, 60)
	for i := range junk {
		junk[i] = 0xff
	}
	if _, err := f.WriteAt(junk, (page-1)*4096+12); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c := collection(t, open(t, dir), "mempalace_drawers")
	if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != 1500 {
		t.Errorf("%d records, %v", n, err)
	}
	if list := walk(t, c, backend.Query{Include: everyPart}); len(list) != 1500 {
		t.Errorf("%d in pages", len(list))
	}
	facets, err := c.Facets(t.Context(), backend.Filter{}, "wing")
	if err != nil {
		t.Fatal(err)
	}
	sameFacets(t, []string{"wing"}, tallyByHand(t, c, backend.Filter{}, []string{"wing"}), facets)
	_, err = c.Get(t.Context(), backend.Query{Filter: backend.Filter{IDs: []string{"x"}}})
	var damaged *backend.DamagedError
	if !errors.As(err, &damaged) || !errors.Is(err, dbfile.ErrCorrupt) || !strings.Contains(damaged.Part, "embeddings") {
		t.Errorf("damage that matters is not named: %v", err)
	}
}

// The full-text index is what breaks most (MemPalace #1238, #1517). Documents
// are found without it.
func TestDocumentsAreFoundWithoutTheFullTextIndex(t *testing.T) {
	dir := sample(t, "healthy")
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	f := parse(t, "", `{"$contains":"kernel"}`)
	want, err := c.Count(t.Context(), f)
	if err != nil || want == 0 {
		t.Fatal(want, err)
	}
	alter(t, dir, "PRAGMA writable_schema = ON", "DROP TABLE embedding_fulltext_search")
	if got, err := collection(t, open(t, dir), "mempalace_drawers").Count(t.Context(), f); err != nil || got != want {
		t.Errorf("%d, want %d, %v", got, want, err)
	}
}

// A palace of Chroma 0.4: no lists, no booleans, no indexes on values.
func TestRecordsOfChroma04AreRead(t *testing.T) {
	dir := sample(t, "fresh")
	want := walk(t, collection(t, open(t, sample(t, "fresh")), "mempalace_drawers"), backend.Query{Include: everyPart})
	alter(t, dir,
		"DROP TABLE embedding_metadata_array",
		"ALTER TABLE embedding_metadata DROP COLUMN bool_value",
		"ALTER TABLE collection_metadata DROP COLUMN bool_value",
		"DROP INDEX embedding_metadata_int_value", "DROP INDEX embedding_metadata_float_value", "DROP INDEX embedding_metadata_string_value",
		"ALTER TABLE collections DROP COLUMN schema_str", "ALTER TABLE collections DROP COLUMN config_json_str",
	)
	c := collection(t, open(t, dir), "mempalace_drawers")
	if d := cmp.Diff(want, walk(t, c, backend.Query{Include: everyPart})); d != "" {
		t.Error(d)
	}
	for where, n := range map[string]int64{`{"b":true}`: 0, `{"b":{"$ne":true}}`: 5, `{"l":{"$contains":1}}`: 0, `{"l":{"$not_contains":1}}`: 5} {
		if got, err := c.Count(t.Context(), parse(t, where, "")); err != nil || got != n {
			t.Errorf("%s: %d, %v", where, got, err)
		}
	}
	facets, err := c.Facets(t.Context(), backend.Filter{}, "wing")
	if err != nil {
		t.Fatal(err)
	}
	sameFacets(t, []string{"wing"}, tallyByHand(t, c, backend.Filter{}, []string{"wing"}), facets)
}

func TestFiltersAsWideAsPeopleMakeThem(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	in := backend.Compare{Key: "wing", Op: backend.In}
	var or backend.Or
	for i := range 5000 {
		in.Values = append(in.Values, fmt.Sprint("wing", i))
		or = append(or, backend.Equal("wing", fmt.Sprint("wing", i)))
	}
	in.Values = append(in.Values, "wing_code")
	want, err := c.Count(t.Context(), backend.Filter{Where: backend.Equal("wing", "wing_code")})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Count(t.Context(), backend.Filter{Where: in}); err != nil || got != want {
		t.Errorf("a list of 5000: %d, %v", got, err)
	}
	if got, err := c.Count(t.Context(), backend.Filter{Where: append(or[:1500:1500], backend.Equal("wing", "wing_code"))}); err != nil || got != want {
		t.Errorf("1500 alternatives: %d, %v", got, err)
	}
	for range 7 {
		in.Values = append(in.Values, in.Values...)
	}
	var refused *backend.UnsupportedFilterError
	if _, err := c.Count(t.Context(), backend.Filter{Where: in}); !errors.As(err, &refused) {
		t.Errorf("more than SQLite takes: %v", err)
	}
	long := parse(t, "", fmt.Sprintf(`{"$or":[{"$contains":%q},{"$contains":"kernel"}]}`, strings.Repeat("x", 60_000)))
	if got, err := c.Count(t.Context(), long); err != nil || got == 0 {
		t.Errorf("a text longer than SQLite's patterns: %d, %v", got, err)
	}
}

func TestAFilterOfUnknownFormIsRefused(t *testing.T) {
	c := collection(t, open(t, sample(t, "fresh")), "mempalace_drawers")
	for _, f := range []backend.Filter{
		{Where: backend.Compare{Key: "a", Op: "$like", Value: "x"}},
		{Where: backend.Compare{Key: "a", Op: backend.Gt, Value: "x"}},
		{Where: backend.Compare{Key: "a", Op: backend.Eq, Value: []string{"x"}}},
		{Where: backend.Compare{Key: "a", Op: backend.Eq}},
		{WhereDocument: backend.TextMatch{Op: "$like", Text: "x"}},
		{WhereDocument: backend.TextMatch{Op: backend.Regex, Text: "("}},
	} {
		var refused *backend.UnsupportedFilterError
		if _, err := c.Count(t.Context(), f); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", f, err)
		}
		if _, err := c.Get(t.Context(), backend.Query{Filter: f}); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestManyReadersAtOnceSeeTheSame(t *testing.T) {
	p := open(t, sample(t, "synced"))
	c := collection(t, p, "mempalace_drawers")
	f := parse(t, `{"wing":"wing_code"}`, "")
	want := idsOf(walk(t, c, backend.Query{Filter: f, Limit: 50}))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			list := walk(t, c, backend.Query{Filter: f, Limit: 50 + i, Include: everyPart})
			if d := cmp.Diff(want, idsOf(list)); d != "" {
				t.Error(d)
			}
			if _, err := c.Facets(t.Context(), f, "room"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestACancelledQuestionEnds(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Count(ctx, backend.Filter{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Get(ctx, backend.Query{Include: everyPart}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
