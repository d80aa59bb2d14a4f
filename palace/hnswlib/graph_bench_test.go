package hnswlib_test

import (
	"context"
	"path/filepath"
	"testing"

	"castellan/palace/hnswlib"
)

// The peer for these is testdata/bench/index.py.
func BenchmarkIndexOf10k(b *testing.B) {
	if testing.Short() {
		b.Skip("builds an index of 10,000 vectors")
	}
	all := clustered(10_000, 384, 100)
	o := hnswlib.BuildOptions{Space: hnswlib.Cosine}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			built(b, o, all)
		}
	})
	g := built(b, o, all)
	ctx, qs := context.Background(), jittered(all, 100)
	b.Run("search", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := g.Search(ctx, qs[i%len(qs)], 10, 50, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	dir := filepath.Join(b.TempDir(), "segment")
	must(b, g.Write(ctx, dir))
	r := open(b, dir)
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hnswlib.Load(ctx, r, hnswlib.Cosine, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
