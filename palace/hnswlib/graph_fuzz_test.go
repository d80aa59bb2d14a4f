package hnswlib_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/hnswlib"
)

// Whatever the four files hold, a graph is made of it or refused, and searching
// it ends with answers that are in it, each once.
func FuzzLoad(f *testing.F) {
	for _, n := range []int{0, 3, 40} {
		_, files := written(f, built(f, hnswlib.BuildOptions{Space: hnswlib.Cosine, Dimension: 3, M: 2}, clustered(n, 3, 4)))
		const size = 2*2*4 + 4 + 3*4 + 8
		f.Add(files[hnswlib.HeaderFile], files[hnswlib.Level0File][:n*size], files[hnswlib.LengthFile][:n*4], files[hnswlib.LinksFile])
	}
	f.Fuzz(func(t *testing.T, header, level0, length, links []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{
			hnswlib.HeaderFile: header, hnswlib.Level0File: level0, hnswlib.LengthFile: length, hnswlib.LinksFile: links,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := hnswlib.Open(dir)
		if err != nil {
			return
		}
		defer r.Close()
		ctx := context.Background()
		const limit = 64 << 20
		for _, space := range []hnswlib.Space{hnswlib.L2, hnswlib.Cosine} {
			g, err := hnswlib.Load(ctx, r, space, limit)
			var large *hnswlib.TooLargeError
			if errors.As(err, &large) && large.Need > limit {
				continue
			}
			if err != nil {
				t.Fatalf("nothing is wrong with the disk: %v", err)
			}
			q := make([]float32, g.Dimension())
			q[0] = 1
			seen := make(map[uint64]int)
			hits, err := g.Search(ctx, q, g.Len(), g.Len(), nil)
			if err != nil || len(hits) > g.Live() {
				t.Fatalf("%d answers of %d: %v", len(hits), g.Live(), err)
			}
			labels := make(map[uint64]int)
			_ = r.Labels(ctx, func(_ int, label uint64, deleted bool) error { labels[label]++; return nil })
			for i, h := range hits {
				if seen[h.Label]++; seen[h.Label] > labels[h.Label] || i > 0 && hits[i-1].Distance > h.Distance {
					t.Fatalf("answer %d of %v", i, hits)
				}
			}
			if n := g.Unreachable(); n < 0 || n > g.Len() {
				t.Fatalf("%d of %d cannot be reached", n, g.Len())
			}
			again := filepath.Join(t.TempDir(), "again")
			if err := g.Write(ctx, again); err != nil {
				t.Fatal(err)
			}
		}
	})
}
