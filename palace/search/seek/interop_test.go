//go:build interop

package seek_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"testing"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/search"
)

type wordsAsked struct {
	Query string `json:"query"`
	N     int    `json:"n"`
	Wing  string `json:"wing,omitempty"`
	Room  string `json:"room,omitempty"`
}

// peers asks MemPalace and chromadb, on a copy of the palace.
func peers(t *testing.T, name string, words []wordsAsked, vectors [][]float32, n int) (answer struct {
	Words [][]struct {
		ID   string
		BM25 float64
	}
	Vectors []struct {
		IDs       []string
		Distances []float64
	}
}) {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no python with mempalace and chromadb")
	}
	in, err := json.Marshal(map[string]any{"palace": sample(t, name), "collection": drawers, "words": words, "vectors": vectors, "n": n})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/interop.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False", "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// someVectors are stored ones, a little shifted: each has an order without
// ties.
func someVectors(t *testing.T, p *palace.Palace) [][]float32 {
	t.Helper()
	c, err := p.Collection(t.Context(), drawers)
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Get(t.Context(), backend.Query{Include: backend.Embeddings, Limit: 400})
	if err != nil {
		t.Fatal(err)
	}
	var list [][]float32
	for i := 0; i < len(page.Records); i += 40 {
		v := page.Records[i].Embedding
		for j := range v {
			v[j] += float32(math.Sin(float64(i+j))) * 0.02
		}
		list = append(list, v)
	}
	return list
}

func TestSearchesFindWhatMemPalaceAndChromaFind(t *testing.T) {
	words := []wordsAsked{
		{Query: "naïve café", N: 10}, {Query: "chunk 1499", N: 20}, {Query: "mutex ledger copper", N: 15},
		{Query: "copper harbor", N: 10, Wing: "wing_code"}, {Query: "quoted \"break\"", N: 10, Wing: "wing_people", Room: "general"},
		{Query: "ranch", N: 30}, {Query: "xyzzy", N: 5},
	}
	const n = 10
	for _, name := range []string{"healthy", "synced"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sample(t, name))
			vectors := someVectors(t, p)
			want := peers(t, name, words, vectors, n)
			for i, w := range words {
				q := search.Question{Words: w.Query, Results: w.N, Engine: search.Keyword}
				var where []backend.Where
				if w.Wing != "" {
					where = append(where, backend.Equal("wing", w.Wing))
				}
				if w.Room != "" {
					where = append(where, backend.Equal("room", w.Room))
				}
				q.Filter.Where = backend.AllOf(where...)
				got := ask(t, p, q)
				if len(got.Hits) != len(want.Words[i]) {
					t.Errorf("%+v: %d hits, MemPalace has %d", w, len(got.Hits), len(want.Words[i]))
					continue
				}
				// The logarithms of Go and of Python differ in their last bit, so of
				// scores that are the same but for that, either may come first.
				const rounding = 0.00051
				score := map[string]float64{}
				for _, peer := range want.Words[i] {
					score[peer.ID] = peer.BM25
				}
				last := want.Words[i]
				for j, h := range got.Hits {
					theirs, ok := score[h.ID]
					if math.Abs(*h.BM25-want.Words[i][j].BM25) > rounding || ok && math.Abs(*h.BM25-theirs) > rounding ||
						!ok && math.Abs(*h.BM25-last[len(last)-1].BM25) > rounding {
						t.Errorf("%+v: hit %d is %s with %.3f, MemPalace has %s with %.3f", w, j, h.ID, *h.BM25, want.Words[i][j].ID, want.Words[i][j].BM25)
						break
					}
				}
			}
			c, err := p.Collection(t.Context(), drawers)
			if err != nil {
				t.Fatal(err)
			}
			missed := 0
			for i, v := range vectors {
				found, err := search.NewExactScan(c).Search(t.Context(), search.Query{Vector: v, K: n})
				if err != nil {
					t.Fatal(err)
				}
				at := map[string]float64{}
				for _, h := range found.Hits {
					at[h.ID] = *h.Distance
				}
				last := *found.Hits[n-1].Distance
				for j, id := range want.Vectors[i].IDs {
					d, ok := at[id]
					switch {
					case ok && math.Abs(d-want.Vectors[i].Distances[j]) > 1e-5:
						t.Errorf("%s is at %g, for Chroma at %g", id, d, want.Vectors[i].Distances[j])
					case !ok && want.Vectors[i].Distances[j] < last-1e-5:
						t.Errorf("Chroma finds %s at %g, which the scan has not found", id, want.Vectors[i].Distances[j])
					case !ok:
						missed++ // Chroma has missed a nearer one
					}
					if id == found.Hits[j].ID || !ok {
						continue
					}
					if math.Abs(*found.Hits[j].Distance-want.Vectors[i].Distances[j]) > 1e-5 && missed == 0 {
						t.Errorf("place %d has %s, for Chroma %s", j, found.Hits[j].ID, id)
					}
				}
			}
			if missed > n*len(vectors)/20 {
				t.Errorf("Chroma missed %d of %d", missed, n*len(vectors))
			}
		})
	}
}
