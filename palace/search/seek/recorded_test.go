package seek_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace/embed"
	"castellan/palace/search"
	"castellan/palace/search/seek"
)

// flat says that everything means the same.
type flat struct{}

func (flat) Identity() string { return embed.MiniLM }

func (flat) EmbedQuery(context.Context, string) ([]float32, error) {
	v := make([]float32, 384)
	for i := range v {
		v[i] = 1
	}
	return v, nil
}

// MemPalace records its models beside the database, and both of them have 384
// floats: only that record keeps a question from being compared with vectors it
// has nothing in common with.
func TestTheRecordBesideTheDatabaseIsBelieved(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		`{"mempalace_drawers": {"model_name": "minilm", "dimension": 384}}`:         "",
		`{"mempalace_drawers": {"model_name": "embeddinggemma", "dimension": 384}}`: "embeddinggemma cannot be run here",
		`{"other": {"model_name": "embeddinggemma"}}`:                               "",
		`not JSON`: "",
	} {
		dir := sample(t, "healthy")
		if err := os.WriteFile(filepath.Join(dir, "mempalace_embedder.json"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		p := open(t, dir)
		s, err := seek.Open(t.Context(), p, drawers, seek.Options{Embedder: flat{}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Search(t.Context(), search.Question{Words: "copper", Results: 1})
		if err != nil {
			t.Fatal(err)
		}
		if a.Degraded != (want != "") || !strings.Contains(a.Reason, want) {
			t.Errorf("%s: %s", record, a.Reason)
		}
	}
}
