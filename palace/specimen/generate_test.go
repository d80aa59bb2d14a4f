package specimen

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// generated makes a palace in a fresh directory.
func generated(t *testing.T, s Spec) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "palace")
	if err := CopyFS(samples, "empty", dir); err != nil {
		t.Fatal(err)
	}
	if err := Generate(t.Context(), dir, s); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lines are the rows that a query gives, each value as text, NULL as <nil>.
func lines(t *testing.T, dir, query string, args ...any) []string {
	t.Helper()
	db, err := openDatabase(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out, err := queryLines(t.Context(), db, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func queryLines(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		var line []string
		for _, v := range values {
			if !v.Valid {
				v.String = "<nil>"
			}
			line = append(line, v.String)
		}
		out = append(out, strings.Join(line, "|"))
	}
	return out, rows.Err()
}

func TestAGeneratedPalaceHoldsWhatWasAsked(t *testing.T) {
	t.Parallel()
	dir := generated(t, Spec{Rows: 1500, Dimension: 32, DocumentChars: 120, Queued: 70, SmallWings: 4, Closets: 30, SyncThreshold: 500})
	for query, want := range map[string][]string{
		"PRAGMA integrity_check": {"ok"},
		"SELECT c.name, c.dimension, count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection GROUP BY 1 ORDER BY 1": {
			"mempalace_closets|32|30", "mempalace_drawers|32|1500"},
		"SELECT c.name, s.scope, m.seq_id, typeof(m.seq_id) FROM segments s JOIN collections c ON c.id = s.collection LEFT JOIN max_seq_id m ON m.segment_id = s.id ORDER BY 1, 2": {
			"mempalace_closets|METADATA|1530|integer", "mempalace_closets|VECTOR|<nil>|null",
			"mempalace_drawers|METADATA|1500|integer", "mempalace_drawers|VECTOR|1430|integer"},
		// One row more than is queued: the last one that the index has seen.
		"SELECT min(seq_id), max(seq_id), count(*), count(DISTINCT topic), min(length(vector)), max(length(vector)), sum(json_valid(metadata)) FROM embeddings_queue": {
			"1430|1530|101|2|128|128|101"},
		"SELECT string_value, count(*) FROM embedding_metadata WHERE key = 'wing' AND string_value LIKE 'small%' GROUP BY 1": {
			"small_00|1", "small_01|2", "small_02|3", "small_03|1"},
		"SELECT count(*) FROM embeddings e JOIN embedding_metadata m ON m.id = e.id AND m.key = 'chroma:document' JOIN embedding_fulltext_search f ON f.rowid = e.id AND f.string_value = m.string_value": {
			"1530"},
		"SELECT DISTINCT typeof(string_value), typeof(int_value), typeof(float_value), typeof(bool_value) FROM embedding_metadata ORDER BY 1, 2": {
			"null|integer|null|null", "null|null|real|null", "text|null|null|null"},
		"SELECT k, v FROM embedding_fulltext_search_config": {"version|4"},
		"SELECT count(*) FROM migrations":                   {"18"},
	} {
		if d := cmp.Diff(want, lines(t, dir, query)); d != "" {
			t.Errorf("%s\n%s", query, d)
		}
	}
	if err := change(t.Context(), dir, func(tx *sql.Tx) error {
		return execEach(t.Context(), tx, "INSERT INTO embedding_fulltext_search(embedding_fulltext_search, rank) VALUES('integrity-check', 1)")
	}); err != nil {
		t.Errorf("full-text index: %v", err)
	}
	for _, doc := range lines(t, dir, "SELECT string_value FROM embedding_metadata WHERE key = 'chroma:document' AND id <= 1500") {
		if n := utf8.RuneCountInString(doc); n != 120 || strings.TrimSpace(doc) != doc {
			t.Fatalf("a document of %d characters: %q", n, doc)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 3 { // the database and two segments: no journal left
		t.Errorf("the palace holds %v", entries)
	}
}

func TestTheSameSpecGivesTheSamePalace(t *testing.T) {
	t.Parallel()
	spec := Spec{Rows: 300, Dimension: 8, DocumentChars: 60, Queued: 20, Closets: 5}
	sums := func(s Spec) map[string]string {
		tree, err := HashTree(generated(t, s))
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]string{}
		for p, e := range tree {
			m[p] = e.Sum
		}
		return m
	}
	first := sums(spec)
	if d := cmp.Diff(first, sums(spec)); d != "" {
		t.Error(d)
	}
	spec.Seed = 9
	if cmp.Equal(first, sums(spec)) {
		t.Error("another seed made the same palace")
	}
}

func TestAnUnflushedPalaceHasEveryVectorInTheQueue(t *testing.T) {
	t.Parallel()
	dir := generated(t, Spec{Rows: 250, Dimension: 8, DocumentChars: 60, Unflushed: true})
	if d := cmp.Diff([]string{"250|1|250"}, lines(t, dir, "SELECT count(*), min(seq_id), max(seq_id) FROM embeddings_queue")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"50000"}, lines(t, dir, "SELECT int_value FROM collection_metadata WHERE key = 'hnsw:sync_threshold'")); d != "" {
		t.Error(d)
	}
	seg := filepath.Join(dir, newCollection(Drawers, 0).vectors)
	for name, size := range map[string]int64{headerFile: 100, level0File: 100 * 172, lengthFile: 400, linksFile: 0} {
		info, err := os.Stat(filepath.Join(seg, name))
		if err != nil || info.Size() != size {
			t.Errorf("%s: %v, %v; a segment that was never flushed has %d bytes", name, info, err, size)
		}
	}
	if _, err := os.Stat(filepath.Join(seg, pickleFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a pickle: %v", err)
	}
}

func TestImpossibleSpecsAreRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []Spec{{Rows: -1}, {Rows: 5, Queued: 6}, {Rows: 2, SmallWings: 2}, {Rows: 1, Dimension: -3}} {
		if err := Generate(t.Context(), t.TempDir(), s); !errors.Is(err, ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestAPalaceWithCollectionsIsNeverGeneratedInto(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	if err := CopyFS(samples, "fresh", dir); err != nil {
		t.Fatal(err)
	}
	before, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Generate(t.Context(), dir, Spec{Rows: 5}); !errors.Is(err, ErrNotEmpty) {
		t.Fatalf("got %v", err)
	}
	after, err := HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(before, after); d != nil {
		t.Error(d)
	}
}

func TestGeneratingStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	if err := CopyFS(samples, "empty", dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Generate(ctx, dir, Spec{Rows: 1 << 30}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// The right ids are MemPalace's own, for the third recipe.
func TestDrawerIDsFollowMemPalacesRecipe(t *testing.T) {
	t.Parallel()
	const want = "drawer_w_r_62820d2f66a349df8ae1ba37"
	if got := drawerID("w", "r", "/home/u/p/a.md", 0); got != want {
		t.Errorf("got %s, MemPalace makes %s", got, want)
	}
}

func TestGeneratedVectorsDoNotDependOnTheOrderOfAsking(t *testing.T) {
	t.Parallel()
	at := func(v *vectors, i int) []float32 {
		dst := make([]float32, 8)
		v.row(i, dst)
		return dst
	}
	jumping, straight := newVectors(1, 8, 5000), newVectors(1, 8, 5000)
	for i := range 4100 {
		want := at(straight, i)
		if i%411 == 0 && !slices.Equal(want, at(jumping, i)) {
			t.Fatalf("row %d differs", i)
		}
	}
	if a := at(jumping, 0); !slices.Equal(a, at(newVectors(1, 8, 5000), 0)) {
		t.Error("row 0 differs when asked for last")
	}
}
