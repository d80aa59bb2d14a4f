package exact

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace/backend"
)

func benchPalace(b *testing.B, rows int) *Writer {
	b.Helper()
	p, err := Create(b.Context(), filepath.Join(b.TempDir(), "palace"), Options{}, Writing{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	c, err := p.CreateCollection(b.Context(), backend.NewCollection{Name: "mempalace_drawers"})
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; n < rows; n += 1000 {
		if err := c.Upsert(b.Context(), benchRecords(n)); err != nil {
			b.Fatal(err)
		}
	}
	return c.(*Writer)
}

func benchRecords(from int) []backend.Record {
	r := rand.New(rand.NewPCG(uint64(from), 1))
	list := make([]backend.Record, 1000)
	for i := range list {
		v := make([]float32, 384)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		list[i] = record(fmt.Sprintf("drawer_%08d", from+i), strings.Repeat(fmt.Sprintf("word%d ", r.IntN(5000)), 80), v...)
	}
	return list
}

// BenchmarkUpsert files 10,000 records of 384 floats in batches of 1,000.
func BenchmarkUpsert(b *testing.B) {
	for b.Loop() {
		benchPalace(b, 10_000)
	}
}

func BenchmarkSearch10k(b *testing.B) {
	w := benchPalace(b, 10_000)
	q := benchRecords(0)[0].Embedding
	for b.Loop() {
		if got, err := w.Search(b.Context(), q, 10, backend.Filter{}, backend.Documents); err != nil || len(got) != 10 {
			b.Fatal(got, err)
		}
	}
}
