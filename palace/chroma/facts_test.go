package chroma

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// samplePalace copies one of the recorded palaces.
func samplePalace(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "palaces", name, "palace"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func factsOf(t *testing.T, dir string, depth Depth) *Facts {
	t.Helper()
	p, err := Open(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Facts(context.Background(), depth)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFactsOfTheRecordedPalaces(t *testing.T) {
	for _, tc := range []struct {
		name       string
		collection int
		want       Coverage
	}{
		{"fresh", 0, Coverage{Live: 5, Queued: 5, Searchable: 5}},
		{"healthy", 0, Coverage{Live: 100, Queued: 100, Searchable: 100}},
		{"healthy", 1, Coverage{Live: 1500, Queued: 1500, Searchable: 1500}},
		// 2380 ids in the index; the tail adds 20 and deletes 5 of them, and
		// updates some with a new vector.
		{"synced", 0, Coverage{Live: 2395, Indexed: 2380, Searchable: 2395}},
	} {
		for _, depth := range []Depth{Sampled, Full} {
			f := factsOf(t, samplePalace(t, tc.name), depth)
			got := *f.Collections[tc.collection].Coverage
			if tc.name == "synced" {
				if got.Queued < 20 || got.Queued > 31 {
					t.Errorf("synced: %d vectors in the queue", got.Queued)
				}
				got.Queued = 0
			}
			if got.Live != tc.want.Live || got.Indexed != tc.want.Indexed || got.Queued != tc.want.Queued ||
				got.Searchable != tc.want.Searchable || got.Missing != 0 || got.Stale != 0 {
				t.Errorf("%s/%d depth %d: %+v", tc.name, tc.collection, depth, got)
			}
			if !f.Schema.Known() || len(f.Schema.MissingTables) != 0 || len(f.Unread) != 0 || f.Queue.FaultCount != 0 {
				t.Errorf("%s: %+v %+v %+v", tc.name, f.Schema, f.Unread, f.Queue)
			}
			if *f.Queue.Highest < f.HighestPosition {
				t.Errorf("%s: queue top %d below %d", tc.name, *f.Queue.Highest, f.HighestPosition)
			}
		}
	}
}
