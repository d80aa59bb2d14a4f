package chroma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
	"castellan/palace/hnswlib"
	"castellan/palace/specimen"
)

const drawersVector = "(SELECT s.id FROM segments s JOIN collections c ON c.id = s.collection WHERE s.scope = 'VECTOR' AND c.name = 'mempalace_drawers')"

// writeEverything tries each way to change a collection.
func writeEverything(ctx context.Context, c *Writer) map[string]error {
	record := []backend.Record{{ID: "a", Embedding: vectorOf(1), Document: ptr("text")}}
	_, deleted := c.Delete(ctx, parseDeleted)
	return map[string]error{
		"add": c.Add(ctx, record), "upsert": c.Upsert(ctx, record),
		"update": c.Update(ctx, []backend.Change{{ID: "a", Document: ptr("t")}}), "delete": deleted,
	}
}

var parseDeleted = backend.Filter{Where: backend.Compare{Key: "wing", Op: backend.Ne, Value: "none"}}

func TestNothingIsWrittenWhereItWouldBeLostOrLose(t *testing.T) {
	for name, tc := range map[string]struct {
		sample string
		change func(t *testing.T, dir string)
		want   Refusal // empty: a *backend.SchemaError
	}{
		"a poisoned metadata position": {"synced", altered("UPDATE max_seq_id SET seq_id = 1229822654365841720 WHERE segment_id NOT IN " + drawersVector), RefusedPosition},
		"a poisoned vector position":   {"synced", altered("UPDATE max_seq_id SET seq_id = 1229822654365841720 WHERE segment_id = " + drawersVector), RefusedPosition},
		"a position of old Chroma's":   {"fresh", altered("UPDATE max_seq_id SET seq_id = x'0000000000000005'"), RefusedBlob},
		"a vector position and no index": {"healthy", altered(
			"INSERT INTO max_seq_id (segment_id, seq_id) VALUES (" + drawersVector + ", 1500)"), RefusedUncovered},
		"an index whose metadata is lost": {"synced", func(t *testing.T, dir string) {
			c := collection(t, open(t, dir), "mempalace_drawers")
			must(t, os.Remove(filepath.Join(c.indexDir(), hnswlib.PickleFile)))
		}, RefusedUncovered},
		"a schema of newer Chroma's":  {"fresh", altered("INSERT INTO migrations VALUES ('sysdb', 11, 'x', 'x', 'x')"), ""},
		"a set of migrations unknown": {"fresh", altered("INSERT INTO migrations VALUES ('newdb', 1, 'x', 'x', 'x')"), ""},
		"a schema of older Chroma's":  {"fresh", altered("DELETE FROM migrations WHERE dir = 'metadb' AND version = 6"), RefusedOldSchema},
		"no full-text index":          {"fresh", altered("DROP TABLE embedding_fulltext_search"), ""},
		"a space unknown":             {"fresh", altered(`UPDATE collections SET schema_str = replace(schema_str, '"cosine"', '"hyperbolic"')`), ""},
		"two vector segments":         {"fresh", altered("INSERT INTO segments SELECT 'x', type, scope, collection FROM segments WHERE scope = 'VECTOR'"), RefusedSegments},
		"no vector segment":           {"fresh", altered("DELETE FROM segments WHERE scope = 'VECTOR'"), RefusedSegments},
		"a segment of a cluster":      {"fresh", altered("UPDATE segments SET type = 'urn:chroma:segment/vector/hnsw-distributed' WHERE scope = 'VECTOR'"), RefusedSegments},
		"a queue beyond all queues":   {"fresh", altered("UPDATE embeddings_queue SET seq_id = 1229822654365841720 WHERE seq_id = 5"), RefusedOutOfNumber},
		"a waiting row that is broken": {"fresh", func(t *testing.T, dir string) {
			enqueue(t, dir, collection(t, open(t, dir), "mempalace_drawers").row.Topic(), OpUpsert, "x", vectorOf(1), "{broken")
		}, RefusedQueue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sample(t, tc.sample)
			tc.change(t, dir)
			p := open(t, dir)
			c := writer(t, p, "mempalace_drawers", true)
			before, err := specimen.HashTree(dir)
			must(t, err)
			for call, err := range writeEverything(t.Context(), c) {
				var refused *RefusedError
				var schema *backend.SchemaError
				switch {
				case tc.want == "" && errors.As(err, &schema):
				case tc.want != "" && errors.As(err, &refused) && refused.Reason == tc.want && refused.Next() != "" && strings.Contains(err.Error(), dir):
				default:
					t.Errorf("%s: %v", call, err)
				}
			}
			after, err := specimen.HashTree(dir)
			must(t, err)
			if d := specimen.Diff(before, after); len(d) != 0 {
				t.Error(d)
			}
		})
	}
}

func altered(statements ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { alter(t, dir, statements...) }
}

// An index emptied by deletes looks like a lost one, and is sound.
func TestAnEmptiedIndexIsWrittenTo(t *testing.T) {
	dir := sample(t, "fresh")
	c := writer(t, open(t, dir), "mempalace_drawers", true)
	if _, err := c.Delete(t.Context(), parseDeleted); err != nil {
		t.Fatal(err)
	}
	alter(t, dir, "INSERT INTO max_seq_id (segment_id, seq_id) SELECT "+drawersVector+", max(seq_id) FROM embeddings_queue")
	must(t, c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1)}}))
}

func TestADamagedDatabaseIsNotWrittenTo(t *testing.T) {
	dir := sample(t, "healthy")
	path := filepath.Join(dir, DatabaseFile)
	p := open(t, dir)
	c := writer(t, p, "mempalace_drawers", true)
	b, err := os.ReadFile(path)
	must(t, err)
	for page := 1; page < len(b)/4096; page++ {
		copy(b[page*4096:], strings.Repeat("\xff", 64))
	}
	must(t, os.WriteFile(path, b, 0o600))
	var damaged *backend.DamagedError
	for call, err := range writeEverything(t.Context(), c) {
		if !errors.As(err, &damaged) || !errors.Is(err, dbfile.ErrCorrupt) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestOnlySoundRecordsAreWritten(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "fresh")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		before, err := specimen.HashTree(dir)
		must(t, err)
		nan, inf := vectorOf(1), vectorOf(1)
		nan[7], inf[7] = float32(math.NaN()), float32(math.Inf(-1))
		long := strings.Repeat("x", maxText/2+1)
		for name, r := range map[string]backend.Record{
			"no id":             {Embedding: vectorOf(1)},
			"an id of no UTF-8": {ID: "a\xff", Embedding: vectorOf(1)},
			"a NUL in its id":   {ID: "a\x00", Embedding: vectorOf(1)},
			"a long id":         {ID: long, Embedding: vectorOf(1)},
			"an id twice":       {ID: "first", Embedding: vectorOf(1)},
			"no vector":         {ID: "a"},
			"a short vector":    {ID: "a", Embedding: []float32{1, 2, 3}},
			"NaN":               {ID: "a", Embedding: nan},
			"infinity":          {ID: "a", Embedding: inf},
			"a bad document":    {ID: "a", Embedding: vectorOf(1), Document: ptr("\xff")},
			"a bad URI":         {ID: "a", Embedding: vectorOf(1), URI: ptr("\xc3")},
			"much text":         {ID: "a", Embedding: vectorOf(1), Document: &long, Metadata: backend.Metadata{"k": long}},
			"an empty key":      {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"": "x"}},
			"the document key":  {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{documentKey: "x"}},
			"a key of Chroma's": {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"#embedding": "x"}},
			"an operator":       {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"$and": "x"}},
			"a Go int":          {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": 1}},
			"nothing":           {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": nil}},
			"a float NaN":       {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": math.NaN()}},
			"floats with NaN":   {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": []float64{math.Inf(1)}}},
			"an empty list":     {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": []string{}}},
			"a bad string":      {ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": []string{"\xff"}}},
		} {
			list := []backend.Record{{ID: "first", Embedding: vectorOf(1)}, r}
			change := backend.Change{ID: r.ID, Document: r.Document, URI: r.URI, Metadata: r.Metadata, Embedding: r.Embedding}
			for call, err := range map[string]error{
				"add": c.Add(t.Context(), list), "upsert": c.Upsert(t.Context(), list),
				"update": c.Update(t.Context(), []backend.Change{{ID: "first"}, change}),
			} {
				var invalid *backend.InvalidRecordError
				if name == "no vector" && call == "update" {
					must(t, err)
					before, err = specimen.HashTree(dir)
					must(t, err)
					continue
				}
				if !errors.As(err, &invalid) || invalid.Index != 1 || invalid.ID != r.ID {
					t.Errorf("%s, %s: %.300v", name, call, err)
				}
			}
		}
		var invalid *backend.InvalidRecordError
		err = c.Update(t.Context(), []backend.Change{{ID: "a", Metadata: backend.Metadata{"k": "v"}, Unset: []string{"k"}}})
		if !errors.As(err, &invalid) {
			t.Error(err)
		}
		err = c.Update(t.Context(), []backend.Change{{ID: "a", Unset: []string{documentKey}}})
		if !errors.As(err, &invalid) {
			t.Error(err)
		}
		after, err := specimen.HashTree(dir)
		must(t, err)
		if d := specimen.Diff(before, after); len(d) != 0 {
			t.Error(d)
		}
	})
}

func TestAWriteWaitsForOthersAndNotForEver(t *testing.T) {
	for name, hold := range map[string]string{"a writer": "BEGIN IMMEDIATE", "a reader": "BEGIN; SELECT count(*) FROM embeddings"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sample(t, "fresh")
			w := answering(true)
			w.Wait = time.Millisecond
			p := open(t, dir)
			c, err := p.Writable(w).Writer(t.Context(), "mempalace_drawers")
			must(t, err)
			patient := writer(t, p, "mempalace_drawers", true)
			end := holding(t, dir, hold)
			record := []backend.Record{{ID: "a", Embedding: vectorOf(1)}}
			var busy *BusyError
			if err := c.Add(t.Context(), record); !errors.As(err, &busy) || !errors.Is(err, dbfile.ErrBusy) {
				t.Errorf("%v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan error, 1)
			go func() { gone <- patient.Add(ctx, record) }()
			cancel()
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			done := make(chan error, 1)
			go func() { done <- patient.Add(t.Context(), record) }()
			end()
			must(t, <-done)
			if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != 6 {
				t.Errorf("%d records, %v", n, err)
			}
			soundAfter(t, dir)
		})
	}
}

func TestAlonenessThatCannotBeToldWritesNothing(t *testing.T) {
	c, err := open(t, sample(t, "fresh")).Writable(Writing{Alone: func(context.Context) (bool, error) { return true, errors.New("no /proc") }}).Writer(t.Context(), "mempalace_drawers")
	must(t, err)
	if err := c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1)}}); err == nil || !strings.Contains(err.Error(), "no /proc") {
		t.Error(err)
	}
	if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != 5 {
		t.Error(n, err)
	}
}

func ExampleRefusedError() {
	err := &RefusedError{Palace: "/home/ada/.mempalace/palace", Collection: "mempalace_drawers", Reason: RefusedInUse, Detail: "another process may have the palace open"}
	fmt.Println(err)
	// Output: /home/ada/.mempalace/palace, collection mempalace_drawers: another process may have the palace open; close the programs that have the palace open, then try again
}
