package search

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"castellan/palace/backend"
)

// memory is a collection in memory, in pages of three or a quarter of it.
type memory struct {
	info    backend.CollectionInfo
	records []backend.Record
	// broken fails every question, asked counts them.
	broken error
	asked  int
}

func (m *memory) Info() backend.CollectionInfo { return m.info }

func (m *memory) matching(f backend.Filter) []backend.Record {
	var list []backend.Record
	for _, r := range m.records {
		if (f.IDs == nil || slices.Contains(f.IDs, r.ID)) && f.Match(r) {
			list = append(list, r)
		}
	}
	return list
}

func (m *memory) Count(_ context.Context, f backend.Filter) (int64, error) {
	return int64(len(m.matching(f))), m.broken
}

func (m *memory) Get(ctx context.Context, q backend.Query) (backend.Page, error) {
	m.asked++
	if err := ctx.Err(); err != nil {
		return backend.Page{}, err
	}
	if m.broken != nil {
		return backend.Page{}, m.broken
	}
	list := m.matching(q.Filter)
	from, _ := strconv.Atoi(q.After)
	list = list[min(from, len(list)):]
	page := backend.Page{}
	if n := min(max(3, len(m.records)/4), max(q.Limit, 1)); len(list) > n {
		list = list[:n]
		page.Next = strconv.Itoa(from + n)
	}
	for _, r := range list {
		if !q.Include.Has(backend.Documents) {
			r.Document = nil
		}
		if !q.Include.Has(backend.Metadatas) {
			r.Metadata = nil
		}
		if !q.Include.Has(backend.Embeddings) {
			r.Embedding = nil
		}
		page.Records = append(page.Records, r)
	}
	return page, nil
}

// collection makes a memory of vectors; ids are a0, a1, ...
func collection(space string, vectors ...[]float32) *memory {
	m := &memory{info: backend.CollectionInfo{Name: "drawers", Space: space}}
	for i, v := range vectors {
		if m.info.Dimension == nil && v != nil {
			d := len(v)
			m.info.Dimension = &d
		}
		doc := "document " + strconv.Itoa(i)
		m.records = append(m.records, backend.Record{ID: "a" + strconv.Itoa(i), Document: &doc, Metadata: backend.Metadata{}, Embedding: v})
	}
	return m
}

func ids(hits []Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, h.ID)
	}
	return list
}

func sameIDs(t *testing.T, hits []Hit, want ...string) {
	t.Helper()
	if got := ids(hits); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixed is an embedder that knows some words.
type fixed struct {
	identity string
	vectors  map[string][]float32
	err      error
}

func (f fixed) Identity() string { return f.identity }

func (f fixed) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return f.vectors[text], f.err
}
