package chroma

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/specimen"
)

// benchPalace is the palace that CASTELLAN_BENCH_PALACE names, or one of
// CASTELLAN_BENCH_ROWS drawers made for the occasion.
func benchPalace(b *testing.B) *Palace {
	b.Helper()
	dir := os.Getenv("CASTELLAN_BENCH_PALACE")
	if dir == "" {
		rows, err := strconv.Atoi(cmp.Or(os.Getenv("CASTELLAN_BENCH_ROWS"), "5000"))
		if err != nil {
			b.Fatal(err)
		}
		dir = b.TempDir()
		if err := specimen.CopyFS(os.DirFS(samples), "empty", dir); err != nil {
			b.Fatal(err)
		}
		spec := specimen.Spec{Rows: rows, Queued: rows / 100, Closets: rows / 10, SmallWings: 5}
		if err := specimen.Generate(b.Context(), dir, spec); err != nil {
			b.Fatal(err)
		}
	}
	return open(b, dir)
}

func BenchmarkQuestions(b *testing.B) {
	p := benchPalace(b)
	c := collection(b, p, specimen.Drawers)
	total, err := c.Count(b.Context(), backend.Filter{})
	if err != nil {
		b.Fatal(err)
	}
	facets, err := c.Facets(b.Context(), backend.Filter{}, "wing")
	if err != nil {
		b.Fatal(err)
	}
	last, err := c.Get(b.Context(), backend.Query{Offset: int(total) * 9 / 10, Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	wing := backend.Filter{Where: backend.Equal("wing", facets[0].Values[0])}
	text := backend.Filter{WhereDocument: backend.TextMatch{Op: backend.Contains, Text: "no such text"}}
	shown := backend.Documents | backend.Metadatas
	get := func(q backend.Query) func() error {
		return func() error {
			_, err := c.Get(b.Context(), q)
			return err
		}
	}
	cold := func(f func() error) func() error {
		return func() error {
			p.sets = setCache{}
			return f()
		}
	}
	for _, bench := range []struct {
		name string
		ask  func() error
	}{
		{"Count", func() error { _, err := c.Count(b.Context(), backend.Filter{}); return err }},
		{"CountWing", func() error { _, err := c.Count(b.Context(), wing); return err }},
		{"CountText", func() error { _, err := c.Count(b.Context(), text); return err }},
		{"Wings", func() error { _, err := c.Facets(b.Context(), backend.Filter{}, "wing"); return err }},
		{"WingsAndRooms", func() error { _, err := c.Facets(b.Context(), backend.Filter{}, "wing", "room"); return err }},
		{"RoomsOfAWing", func() error { _, err := c.Facets(b.Context(), wing, "room"); return err }},
		{"PageAtTheStart", get(backend.Query{Include: shown, Limit: 100})},
		{"PageFarBehind", get(backend.Query{Include: shown, Limit: 100, After: last.Next})},
		{"PageByOffset", get(backend.Query{Include: shown, Limit: 100, Offset: int(total) / 2})},
		{"PageByOffsetCold", cold(get(backend.Query{Include: shown, Limit: 100, Offset: int(total) / 2}))},
		{"PageOfAWing", get(backend.Query{Include: shown, Limit: 100, Filter: wing})},
		{"PageOfAWingCold", cold(get(backend.Query{Include: shown, Limit: 100, Filter: wing}))},
		{"PageWithVectors", get(backend.Query{Include: shown | backend.Embeddings, Limit: 100, After: last.Next})},
		{"RecentWrites", func() error { _, err := p.RecentWrites(b.Context(), specimen.Drawers, 20); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("EachVector", func(b *testing.B) {
		for b.Loop() {
			if err := c.EachVector(b.Context(), func(string, []float32) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
