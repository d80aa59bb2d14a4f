package embed

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tiny is a model of two layers with random weights; golden.json is what
// chromadb's embedding function answered with it.
var tiny = filepath.Join("testdata", "tiny")

type golden struct {
	Text   string    `json:"text"`
	IDs    []int32   `json:"ids"`
	Vector []float32 `json:"vector"`
}

func goldens(t testing.TB) (list []golden) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(tiny, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func load(t testing.TB, dir string) *Model {
	t.Helper()
	m, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// copyModel copies the tiny model without the files named.
func copyModel(t *testing.T, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{configFile, tokenizerName, onnxFile, safetensorsFile} {
		if slices.Contains(without, name) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVectorsAreThoseOfChroma(t *testing.T) {
	t.Parallel()
	for _, m := range []*Model{load(t, tiny), load(t, copyModel(t, onnxFile))} {
		for _, g := range goldens(t) {
			if ids := m.Tokenizer().Encode(g.Text); !slices.Equal(ids, g.IDs) {
				t.Errorf("%.20q: tokens %v, the reference has %v", g.Text, ids, g.IDs)
			}
			v, err := m.EmbedQuery(t.Context(), g.Text)
			if err != nil {
				t.Fatal(err)
			}
			if len(v) != len(g.Vector) {
				t.Fatalf("%d floats, the reference has %d", len(v), len(g.Vector))
			}
			for i := range v {
				if d := math.Abs(float64(v[i] - g.Vector[i])); d > 2e-6 {
					t.Errorf("%s, %.20q: float %d is %v, the reference has %v", filepath.Base(m.Weights()), g.Text, i, v[i], g.Vector[i])
					break
				}
			}
		}
	}
}

func TestABatchIsWhatOneByOneGives(t *testing.T) {
	t.Parallel()
	m := load(t, tiny)
	var texts []string
	for range 5 {
		for _, g := range goldens(t) {
			texts = append(texts, g.Text)
		}
	}
	all, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		one, err := m.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all[i], one) {
			t.Errorf("%.20q differs in a batch", text)
		}
	}
}
