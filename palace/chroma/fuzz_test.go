package chroma

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/backend"
)

// FuzzOpen writes bytes over a palace's files and asks everything. Any answer
// and any error is right; a panic, a hang or a write is not.
func FuzzOpen(f *testing.F) {
	f.Add(uint32(0), []byte("SQLite format 3\x00"), uint8(0))
	f.Add(uint32(18), []byte{2, 2}, uint8(0))
	f.Add(uint32(100), []byte{0, 0, 0, 255}, uint8(0))
	f.Add(uint32(4096*3), []byte{13, 255, 255, 255, 255}, uint8(0))
	f.Add(uint32(4096*20+12), []byte{255, 255, 255}, uint8(0))
	f.Add(uint32(12), []byte{255, 255, 255, 255, 255, 255, 255, 255}, uint8(1))
	f.Add(uint32(2), []byte{255}, uint8(2))
	f.Add(uint32(1668), []byte{0, 0}, uint8(3))
	files := []string{DatabaseFile, "header.bin", "index_metadata.pickle", "data_level0.bin"}
	f.Fuzz(func(t *testing.T, at uint32, data []byte, which uint8) {
		if len(data) > 4096 {
			return
		}
		dir := sample(t, []string{"fresh", "synced"}[min(int(which)%len(files), 1)])
		name := files[int(which)%len(files)]
		path := filepath.Join(dir, name)
		if name != DatabaseFile {
			path = filepath.Join(dir, "ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35", name)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(data, int64(at)%info.Size()); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		askEverything(ctx, dir)
		if ctx.Err() != nil {
			t.Fatal("no answer within two minutes")
		}
	})
}

func askEverything(ctx context.Context, dir string) {
	p, err := Open(ctx, dir, Options{})
	if err != nil {
		return
	}
	defer p.Close()
	rows, err := p.Catalog(ctx)
	if err != nil {
		return
	}
	where := backend.Or{
		backend.Equal("wing", "wing_code"),
		backend.Compare{Key: "chunk_index", Op: backend.Gte, Value: int64(3)},
		backend.Compare{Key: "tags", Op: backend.Contains, Value: "x"},
	}
	for _, r := range rows {
		c, err := p.newCollection(r)
		if err != nil {
			continue
		}
		for _, f := range []backend.Filter{
			{}, {Where: where}, {IDs: []string{"a"}},
			{WhereDocument: backend.TextMatch{Op: backend.Regex, Text: "a.*b"}},
			{WhereDocument: backend.TextMatch{Op: backend.NotContains, Text: "harbor"}},
		} {
			c.Count(ctx, f)
			c.Facets(ctx, f, "wing")
			c.Facets(ctx, f, "wing", "room")
			c.Get(ctx, backend.Query{Filter: f, Include: everyPart, Limit: 100, Offset: 3})
			c.Get(ctx, backend.Query{Filter: f, Include: everyPart})
		}
		c.EachVector(ctx, func(string, []float32) error { return nil })
		c.QueueFaults(ctx)
		p.RecentWrites(ctx, r.Name, 5)
	}
}
