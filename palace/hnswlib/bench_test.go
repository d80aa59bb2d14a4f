package hnswlib_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

const many = 200_000

// large writes 200,000 elements of dimension 384: 335 MB of data_level0.bin.
func large(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "segment")
	// The vectors repeat, which no reader notices: they cost memory here only.
	some := vectors(1000, 384)
	all := make([][]float32, many)
	for i := range all {
		all[i] = some[i%len(some)]
	}
	if err := hnswtest.Write(dir, hnswtest.Segment{Dimension: 384, Cosine: true, Vectors: all, Rough: true}); err != nil {
		b.Fatal(err)
	}
	return dir
}

func BenchmarkSegmentOf200k(b *testing.B) {
	if testing.Short() {
		b.Skip("writes 340 MB")
	}
	dir := large(b)
	r := open(b, dir)
	ctx := context.Background()
	run := func(name string, one func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := one(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("open", func() error {
		r, err := hnswlib.Open(dir)
		if err != nil {
			return err
		}
		return r.Close()
	})
	run("labels", func() error {
		return r.Labels(ctx, func(int, uint64, bool) error { return nil })
	})
	// What Labels is measured against: one small read an element.
	run("labels by small reads", func() error {
		f, err := os.Open(filepath.Join(dir, hnswlib.Level0File))
		if err != nil {
			return err
		}
		defer f.Close()
		var e [12]byte
		for i := int64(0); i < many-1; i++ {
			if _, err := f.ReadAt(e[:], i*1676+1668); err != nil {
				return err
			}
		}
		return nil
	})
	run("glance", func() error { _, err := r.Examine(ctx, 384, 1000); return err })
	run("examine", func() error { _, err := r.Examine(ctx, 384, 0); return err })
	run("links", func() error { _, err := r.WalkLinks(ctx, 0); return err })
	all := make([]int, many)
	for i := range all {
		all[i] = i
	}
	norms := make([]float32, many)
	run("vectors", func() error {
		return r.Vectors(ctx, all, func(int, []float32) error { return nil })
	})
	run("norms", func() error { return r.Norms(ctx, all, norms) })
}
