package chroma

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// made is a new palace, opened by one who is alone in it.
func made(t testing.TB) *Writable {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "palace")
	must(t, Create(t.Context(), dir))
	return open(t, dir).Writable(answering(true))
}

func TestTheSeedIsWhatChromaMade(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(samples, "empty", "palace", DatabaseFile))
	must(t, err)
	if !bytes.Equal(seed, want) {
		t.Error("the seed is not the recorded palace")
	}
}

func TestANewPalaceIsItsOwnersAlone(t *testing.T) {
	w := made(t)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{w.Dir(): 0o700, filepath.Join(w.Dir(), DatabaseFile): 0o600} {
			info, err := os.Stat(path)
			must(t, err)
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
	}
	if list, err := os.ReadDir(w.Dir()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := w.Collections(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestAPalaceIsNotMadeOverAnother(t *testing.T) {
	for _, name := range []string{DatabaseFile, DatabaseFile + "-journal", DatabaseFile + "-wal", DatabaseFile + "-shm"} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		var refused *RefusedError
		if err := Create(t.Context(), dir); !errors.As(err, &refused) || refused.Reason != RefusedOccupied || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
	// A link that leads nowhere is somebody's palace on a disk that is not mounted.
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "away"), filepath.Join(dir, DatabaseFile)); err == nil {
		if err := Create(t.Context(), dir); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	}
}

func TestOfManyWhoMakeAPalaceOneDoes(t *testing.T) {
	dir := t.TempDir()
	var group errgroup.Group
	results := make([]error, 8)
	for i := range results {
		group.Go(func() error { results[i] = Create(t.Context(), dir); return nil })
	}
	must(t, group.Wait())
	winners := 0
	for _, err := range results {
		if err == nil {
			winners++
		} else if !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	}
	if list, err := os.ReadDir(dir); winners != 1 || err != nil || len(list) != 1 {
		t.Errorf("%d made it; %v, %v", winners, list, err)
	}
}

func TestACollectionIsMadeAsAsked(t *testing.T) {
	w := made(t)
	c, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "mempalace_drawers"})
	must(t, err)
	want := backend.CollectionInfo{
		Name: "mempalace_drawers", ID: c.Info().ID, Space: "cosine", Embedder: "default",
		Metadata: backend.Metadata{"hnsw:space": "cosine", "hnsw:num_threads": int64(1), "hnsw:batch_size": int64(100), "hnsw:sync_threshold": int64(1000)},
		HNSW:     backend.HNSWParams{M: ptr(16), EFConstruction: ptr(100), EFSearch: ptr(100), NumThreads: ptr(1), BatchSize: ptr(100), SyncThreshold: ptr(1000)},
	}
	if d := cmp.Diff(want, c.Info()); d != "" {
		t.Error(d)
	}
	asked := backend.NewCollection{
		Name: "other", Dimension: 4, Space: "ip", Embedder: "embeddinggemma_300m",
		Metadata: backend.Metadata{"s": "x", "i": int64(1 << 60), "f": 3.0, "b": false, "hnsw:space": "stale"},
		HNSW:     backend.HNSWParams{M: ptr(8), EFConstruction: ptr(50), EFSearch: ptr(40), NumThreads: ptr(3), BatchSize: ptr(20), SyncThreshold: ptr(500)},
	}
	c, err = w.CreateCollection(t.Context(), asked)
	must(t, err)
	want = backend.CollectionInfo{
		Name: "other", ID: c.Info().ID, Dimension: ptr(4), Space: "ip", Embedder: "embeddinggemma_300m", HNSW: asked.HNSW,
		Metadata: backend.Metadata{"s": "x", "i": int64(1 << 60), "f": 3.0, "b": false, "hnsw:space": "ip", "hnsw:M": int64(8), "hnsw:construction_ef": int64(50),
			"hnsw:search_ef": int64(40), "hnsw:num_threads": int64(3), "hnsw:batch_size": int64(20), "hnsw:sync_threshold": int64(500)},
	}
	if d := cmp.Diff(want, c.Info()); d != "" {
		t.Error(d)
	}
	var invalid *backend.InvalidRecordError
	if err := c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: []float32{1}}}); !errors.As(err, &invalid) {
		t.Error(err)
	}
	must(t, c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: []float32{1, 2, 3, 4}}}))
	var exists *backend.ExistsError
	if _, err := w.CreateCollection(t.Context(), asked); !errors.As(err, &exists) || exists.Name != "other" {
		t.Error(err)
	}
	soundAfter(t, w.Dir())
}

func TestTheFirstWriteDecidesTheDimension(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		w := made(t)
		_, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "drawers", Embedder: NoEmbedder})
		must(t, err)
		c := writer(t, w.Palace, "drawers", alone)
		must(t, c.Update(t.Context(), []backend.Change{{ID: "unknown"}}))
		var invalid *backend.InvalidRecordError
		err = c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: []float32{1, 2}}, {ID: "b", Embedding: []float32{1}}})
		if !errors.As(err, &invalid) || invalid.ID != "b" {
			t.Fatal(err)
		}
		must(t, c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: []float32{1, 2}}}))
		if d := collection(t, w.Palace, "drawers").row.Dimension; d == nil || *d != 2 {
			t.Errorf("%v", d)
		}
		if err := c.Add(t.Context(), []backend.Record{{ID: "b", Embedding: []float32{1, 2, 3}}}); !errors.As(err, &invalid) {
			t.Error(err)
		}
		soundAfter(t, w.Dir())
	})
}

func TestACollectionThatChromaWouldRefuseIsNotMade(t *testing.T) {
	w := made(t)
	for _, c := range []backend.NewCollection{
		{}, {Name: "ab"}, {Name: "a b c"}, {Name: "_ab"}, {Name: "ab."}, {Name: "a..b"}, {Name: "1.2.3.4"}, {Name: strings.Repeat("a", 513)}, {Name: "abc\n"},
		{Name: "abc", Space: "euclid"}, {Name: "abc", Dimension: -1}, {Name: "abc", Dimension: 1 << 20},
		{Name: "abc", HNSW: backend.HNSWParams{SyncThreshold: ptr(1)}}, {Name: "abc", HNSW: backend.HNSWParams{M: ptr(-4)}},
		{Name: "abc", Metadata: backend.Metadata{"l": []string{"x"}}}, {Name: "abc", Metadata: backend.Metadata{"k": 1}}, {Name: "abc", Metadata: backend.Metadata{"$k": "x"}},
		{Name: "abc", Embedder: "\xff"},
	} {
		var refused *RefusedError
		if _, err := w.CreateCollection(t.Context(), c); !errors.As(err, &refused) || refused.Next() == "" {
			t.Errorf("%+.100v: %v", c, err)
		}
	}
	if list, err := w.Collections(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestADeletedCollectionLeavesNothing(t *testing.T) {
	dir := sample(t, "synced")
	w := open(t, dir).Writable(answering(true))
	old := collection(t, w.Palace, "mempalace_drawers")
	if page, err := old.Get(t.Context(), backend.Query{Include: backend.Embeddings, Limit: 1}); err != nil || page.Records[0].Embedding == nil {
		t.Fatal(page, err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "00000000-0000-4000-8000-000000000000"+removedSuffix), 0o700)) // a crash's
	must(t, writer(t, w.Palace, "mempalace_drawers", true).Upsert(t.Context(), []backend.Record{
		{ID: "a", Embedding: vectorOf(1), Document: ptr("x"), Metadata: backend.Metadata{"l": []string{"x"}}}}))
	must(t, w.DeleteCollection(t.Context(), "mempalace_drawers"))
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left in the directory: %v, %v", list, err)
	}
	var missing *backend.CollectionNotFoundError
	if n, err := old.Count(t.Context(), backend.Filter{}); !errors.As(err, &missing) {
		t.Errorf("%d records of a deleted collection, %v", n, err)
	}
	if err := w.DeleteCollection(t.Context(), "mempalace_drawers"); !errors.As(err, &missing) {
		t.Error(err)
	}
	for _, table := range []string{"collections", "collection_metadata", "segments", "segment_metadata", "max_seq_id", "embeddings", "embedding_metadata",
		"embedding_metadata_array", "embedding_fulltext_search", "embedding_fulltext_search_content", "embeddings_queue"} {
		if n := rowsOf(t, w.Palace, table); n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
	soundAfter(t, dir)
}

func rowsOf(t *testing.T, p *Palace, table string) (n int64) {
	t.Helper()
	must(t, p.view(t.Context(), func(q querier, _ shape) error {
		return q.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
	}))
	return n
}

// The queue's top row bears the number that every later one is counted from.
func TestDeletingACollectionKeepsTheQueueAboveThePositions(t *testing.T) {
	dir := sample(t, "healthy")
	w := open(t, dir).Writable(answering(true))
	drawers := writer(t, w.Palace, "mempalace_drawers", true)
	closets := writer(t, w.Palace, "mempalace_closets", true)
	must(t, closets.Upsert(t.Context(), []backend.Record{{ID: "last", Embedding: vectorOf(1), Document: ptr("secret")}}))
	// What a purge by hand does: the position stands alone.
	alter(t, dir, "UPDATE max_seq_id SET seq_id = (SELECT max(seq_id) FROM embeddings_queue) WHERE segment_id = '"+drawers.segment+"'")
	must(t, w.DeleteCollection(t.Context(), "mempalace_closets"))
	soundAfter(t, dir)
	f, err := w.Facts(t.Context(), Full)
	must(t, err)
	if f.Queue.Strangers != 1 || f.Queue.FaultCount != 0 {
		t.Errorf("%+v", f.Queue)
	}
	must(t, drawers.Upsert(t.Context(), []backend.Record{{ID: "new", Embedding: vectorOf(1)}}))
	if n, err := drawers.Count(t.Context(), backend.Filter{}); err != nil || n != 1501 {
		t.Errorf("%d, %v", n, err)
	}
	soundAfter(t, dir)
}

func TestACollectionInUseIsNotDeleted(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	for name, w := range map[string]Writing{"others": answering(false), "nobody can tell": {}} {
		var refused *RefusedError
		if err := p.Writable(w).DeleteCollection(t.Context(), "mempalace_drawers"); !errors.As(err, &refused) || refused.Reason != RefusedInUse {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Writable(Writing{Alone: func(context.Context) (bool, error) { return false, context.Canceled }}).DeleteCollection(t.Context(), "mempalace_drawers"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n, err := collection(t, p, "mempalace_drawers").Count(t.Context(), backend.Filter{}); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
}

// The names of segments come from the database, and lead nowhere else.
func TestDeletingACollectionStaysInThePalace(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(parent, "outside")
	must(t, os.MkdirAll(outside, 0o700))
	for _, name := range []string{"../outside", "..", "", "outside"} {
		dir := sample(t, "fresh")
		must(t, os.MkdirAll(filepath.Join(dir, "outside"), 0o700))
		alter(t, dir, "UPDATE max_seq_id SET segment_id = '"+name+"' WHERE segment_id = "+drawersVector, "UPDATE segments SET id = '"+name+"' WHERE scope = 'VECTOR'")
		must(t, open(t, dir).Writable(answering(true)).DeleteCollection(t.Context(), "mempalace_drawers"))
		if _, err := os.Stat(filepath.Join(dir, "outside")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
