package chroma

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
)

const samples = "../../testdata/palaces"

// sample copies a palace that a real Chroma wrote.
func sample(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := specimen.CopyFS(os.DirFS(samples), name, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// alter writes to a palace of the test's own.
func alter(t testing.TB, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func open(t testing.TB, dir string) *Palace {
	t.Helper()
	p, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// expected is what the server answered that wrote a sample.
type expected struct {
	Collections []struct {
		Name, ID, Space string
		Dimension       int
		Count           int64
		First           []string `json:"ids_first5"`
		Last            []string `json:"ids_last5"`
		IDs             string   `json:"sha256_ids_sorted"`
		Vectors         string   `json:"sha256_vectors_by_sorted_id"`
		Collection      struct {
			Metadata json.RawMessage
		}
		Sample struct {
			IDs        []string
			Embeddings [][]float32
			Documents  []*string
			URIs       []*string
			Metadatas  []json.RawMessage
		} `json:"sample_get"`
	}
	Segments []struct{ ID, Type, Scope, Collection string }
	MaxSeqID [][4]any `json:"max_seq_id"`
	Filters  []struct {
		Request struct {
			Where         json.RawMessage
			WhereDocument json.RawMessage `json:"where_document"`
			Limit, Offset int
		}
		Response struct{ IDs []string }
	}
}

func expectedOf(t testing.TB, name string) expected {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(samples, name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheCatalogueIsWhatTheServerAnswered(t *testing.T) {
	for _, name := range []string{"fresh", "healthy", "synced"} {
		want := expectedOf(t, name)
		p := open(t, sample(t, name))
		rows, err := p.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(want.Collections) {
			t.Fatalf("%s: %d collections", name, len(rows))
		}
		seqs := map[string]float64{}
		for _, m := range want.MaxSeqID {
			seqs[m[0].(string)] = m[3].(float64)
		}
		for _, w := range want.Collections {
			row := find(t, rows, w.Name)
			metadata, _, err := backend.ParseMetadata(w.Collection.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			info := row.Info()
			if info.ID != w.ID || info.Space != w.Space || info.Dimension == nil || *info.Dimension != w.Dimension {
				t.Errorf("%s: %+v", name, info)
			}
			if d := cmp.Diff(metadata, info.Metadata); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if row.Config.Source != "schema_str" || info.HNSW.M == nil || *info.HNSW.M != 16 {
				t.Errorf("%s: %+v", name, row.Config)
			}
			if row.Database != "default_database" || row.Tenant != "default_tenant" {
				t.Errorf("%s: %q of %q", name, row.Database, row.Tenant)
			}
			for _, s := range want.Segments {
				if s.Collection != w.ID {
					continue
				}
				got := row.Segment(s.Scope)
				if got == nil || got.ID != s.ID || got.Type != s.Type {
					t.Fatalf("%s: segment %+v", name, got)
				}
				seq, recorded := seqs[s.ID]
				if recorded != (got.MaxSeqID != nil) || recorded && float64(got.MaxSeqID.Value) != seq {
					t.Errorf("%s: %s stands at %v, want %v", name, s.Scope, got.MaxSeqID, seq)
				}
			}
		}
	}
}

func find(t testing.TB, rows []CollectionRow, name string) CollectionRow {
	t.Helper()
	for _, r := range rows {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no collection %s", name)
	return CollectionRow{}
}

func TestAPalaceWithoutCollectionsIsNoError(t *testing.T) {
	list, err := open(t, sample(t, "empty")).Collections(t.Context())
	if err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
}

func TestADatabaseOfAnotherProgramIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	alter(t, dir, "CREATE TABLE notes (id INTEGER PRIMARY KEY)")
	_, err := open(t, dir).Catalog(t.Context())
	var schema *backend.SchemaError
	if !errors.As(err, &schema) {
		t.Fatal(err)
	}
}

// Chroma 0.4 had neither databases nor configurations, and 8-byte sequence
// numbers.
func TestAPalaceOfChroma04IsListed(t *testing.T) {
	dir := t.TempDir()
	alter(t, dir,
		"CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, topic TEXT NOT NULL, dimension INTEGER, UNIQUE (name))",
		"CREATE TABLE collection_metadata (collection_id TEXT, key TEXT NOT NULL, str_value TEXT, int_value INTEGER, float_value REAL, PRIMARY KEY (collection_id, key))",
		"CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, topic TEXT, collection TEXT)",
		"CREATE TABLE segment_metadata (segment_id TEXT, key TEXT NOT NULL, str_value TEXT, int_value INTEGER, float_value REAL, PRIMARY KEY (segment_id, key))",
		"CREATE TABLE max_seq_id (segment_id TEXT PRIMARY KEY, seq_id BLOB NOT NULL)",
		"INSERT INTO collections VALUES ('c', 'mempalace_drawers', 'persistent://default/default/c', 384)",
		"INSERT INTO segments VALUES ('v', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', 't', 'c'), ('m', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 't', 'c')",
		"INSERT INTO collection_metadata (collection_id, key, str_value) VALUES ('c', 'hnsw:space', 'ip')",
		"INSERT INTO segment_metadata (segment_id, key, str_value) VALUES ('v', 'hnsw:space', 'cosine')",
		"INSERT INTO max_seq_id VALUES ('m', x'0000000000010002')",
	)
	rows, err := open(t, dir).Catalog(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	r := rows[0]
	if r.Config.Space != "cosine" || r.Config.Source != "segment_metadata" || *r.Dimension != 384 || r.SchemaStr != nil {
		t.Errorf("%+v", r)
	}
	if s := r.Segment(ScopeMetadata).MaxSeqID; s == nil || *s != (SeqID{65538, "blob"}) {
		t.Errorf("%+v", s)
	}
	if r.Segment(ScopeVector).MaxSeqID != nil {
		t.Error("a position that nobody recorded")
	}
}

func TestTwoDatabasesMayUseOneName(t *testing.T) {
	dir := sample(t, "fresh")
	alter(t, dir,
		"INSERT INTO databases VALUES ('00000000-0000-0000-0000-00000000000a', 'another', 'default_tenant')",
		"INSERT INTO collections (id, name, database_id, config_json_str) VALUES ('00000000-0000-4000-8000-00000000000b', 'mempalace_drawers', '00000000-0000-0000-0000-00000000000a', '{}')",
	)
	rows, err := open(t, dir).Catalog(t.Context())
	if err != nil || len(rows) != 2 || rows[0].Database != "default_database" || rows[1].Database != "another" {
		t.Fatal(rows, err)
	}
}

func TestAClosedPalaceAnswersSo(t *testing.T) {
	p := open(t, sample(t, "fresh"))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Collections(context.Background()); !errors.Is(err, backend.ErrClosed) {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal("closing twice:", err)
	}
}
