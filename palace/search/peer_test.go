package search

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"castellan/palace/backend"
)

// recorded is what MemPalace answered, made by testdata/make/search_answers.py.
type recorded struct {
	Drawers, Closets []recordedRow
	Queries          map[string][]float32
	BM25             map[string][]float64
	Cases            []struct {
		Query, Wing, Room string
		N                 int
		Closets           bool
		Results           []struct {
			ID, Text                   string
			Distance, Similarity, BM25 float64
			AlsoIn                     []string `json:"also_in"`
		}
	}
}

type recordedRow struct {
	ID       string
	Document *string
	Metadata map[string]any
	Vector   []float32
}

func readRecorded(t *testing.T) recorded {
	t.Helper()
	b, err := os.ReadFile("testdata/mempalace.json")
	must(t, err)
	var r recorded
	must(t, json.Unmarshal(b, &r))
	if len(r.Cases) < 50 || len(r.Drawers) < 20 {
		t.Fatalf("%d cases of %d drawers are recorded", len(r.Cases), len(r.Drawers))
	}
	return r
}

func memoryOf(name string, rows []recordedRow) *memory {
	m := &memory{info: backend.CollectionInfo{Name: name, Space: "cosine", Embedder: "fixed"}}
	for _, r := range rows {
		for k, v := range r.Metadata {
			if f, ok := v.(float64); ok {
				r.Metadata[k] = int64(f) // chunk_index, an integer where it is stored
			}
		}
		m.records = append(m.records, backend.Record{ID: r.ID, Document: r.Document, Metadata: r.Metadata, Embedding: r.Vector})
	}
	return m
}

func TestTheRankingIsMemPalaces(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	drawers, closets := memoryOf("drawers", r.Drawers), memoryOf("closets", r.Closets)
	for _, c := range r.Cases {
		o := Options{Embedder: fixed{identity: "fixed", vectors: r.Queries}}
		if c.Closets {
			o.Closets = closets
		}
		var where []backend.Where
		if c.Wing != "" {
			where = append(where, backend.Equal("wing", c.Wing))
		}
		if c.Room != "" {
			where = append(where, backend.Equal("room", c.Room))
		}
		answer, err := New(drawers, o).Search(t.Context(), Question{
			Words: c.Query, Results: c.N, Filter: backend.Filter{Where: backend.AllOf(where...)},
		})
		must(t, err)
		if answer.Engine != Exact || answer.Degraded {
			t.Errorf("%q was answered by %s: %s", c.Query, answer.Engine, answer.Reason)
		}
		if len(answer.Hits) != len(c.Results) {
			t.Errorf("%q in %q/%q: %d hits, MemPalace has %d", c.Query, c.Wing, c.Room, len(answer.Hits), len(c.Results))
			continue
		}
		for i, h := range answer.Hits {
			want := c.Results[i]
			var also []string
			for _, a := range h.AlsoIn {
				also = append(also, a.ID)
			}
			switch {
			case h.ID != want.ID:
				t.Errorf("%q in %q/%q, closets %t: hit %d is %s, MemPalace has %s", c.Query, c.Wing, c.Room, c.Closets, i, h.ID, want.ID)
			case math.Abs(*h.Distance-want.Distance) > 1e-4, math.Abs(*h.BM25-want.BM25) > 1e-3:
				t.Errorf("%q: %s has distance %g and BM25 %g, MemPalace has %g and %g", c.Query, h.ID, *h.Distance, *h.BM25, want.Distance, want.BM25)
			case h.Text != want.Text:
				t.Errorf("%q: %s shows %q, MemPalace shows %q", c.Query, h.ID, h.Text, want.Text)
			case !slices.Equal(also, want.AlsoIn):
				t.Errorf("%q: %s is also in %q, MemPalace says %q", c.Query, h.ID, also, want.AlsoIn)
			}
		}
	}
}

func TestBM25IsMemPalacesToTheLastDigits(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	texts := make([]string, len(r.Drawers))
	for i, d := range r.Drawers {
		if d.Document != nil {
			texts[i] = *d.Document
		}
	}
	found := 0
	for words, want := range r.BM25 {
		got := bm25(words, texts)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12*math.Abs(want[i]) {
				t.Errorf("%q: text %d scores %v, MemPalace says %v", words, i, got[i], want[i])
			}
			if want[i] > 0 {
				found++
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d texts hold any of the words: nothing was compared", found)
	}
}

func TestAClosetThatCannotBeReadIsNoReasonNotToAnswer(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	closets := memoryOf("closets", r.Closets)
	closets.broken = os.ErrPermission
	answer, err := New(memoryOf("drawers", r.Drawers), Options{Embedder: fixed{identity: "fixed", vectors: r.Queries}, Closets: closets}).
		Search(context.Background(), Question{Words: "harbor ledger", Results: 3})
	must(t, err)
	if len(answer.Hits) != 3 || answer.Degraded {
		t.Errorf("%d hits: %s", len(answer.Hits), answer.Reason)
	}
}
