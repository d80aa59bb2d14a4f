//go:build interop

package chroma

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/backend"
)

// enqueue appends a write to the queue and leaves it there.
func (r random) enqueue(t *testing.T, db *sql.DB, topic string) {
	t.Helper()
	op := pick(r, OpAdd, OpUpdate, OpUpdate, OpUpsert, OpUpsert, OpDelete)
	content := map[string]any{}
	if op != OpDelete {
		for key, v := range r.metadata() {
			content[key] = plain(v)
			switch r.IntN(8) {
			case 0:
				content[key] = nil
			case 1:
				content[key] = []any{}
			}
			if list, ok := v.([]float64); ok {
				numbers := make([]number, len(list))
				for i, f := range list {
					numbers[i] = number(f)
				}
				content[key] = numbers
			}
		}
		if r.IntN(3) != 0 {
			content[documentKey] = r.document()
		}
		if r.IntN(6) == 0 {
			content[uriKey] = "file://queued"
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	var vector, encoding any
	if op == OpAdd || op == OpUpsert || op == OpUpdate && r.IntN(2) == 0 {
		var b []byte
		for _, x := range r.vector() {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		vector, encoding = b, "FLOAT32"
	}
	_, err = db.Exec("INSERT INTO embeddings_queue (operation, topic, id, vector, encoding, metadata) VALUES (?, ?, ?, ?, ?, ?)",
		int64(op), topic, fmt.Sprint("id", r.IntN(140)), vector, encoding, string(text))
	if err != nil {
		t.Fatal(err)
	}
}

func TestWaitingWritesReadAsChromaWillApplyThem(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			r := random{rand.New(rand.NewPCG(seed, 2))}
			dir := t.TempDir()
			steps := []step{
				{Op: "create", Metadata: map[string]any{"hnsw:space": pick(r, "l2", "cosine", "ip"), "hnsw:sync_threshold": pick(r, 40, 1000), "hnsw:batch_size": 2}},
				{Op: "create", Collection: "closets"},
			}
			steps = append(steps, r.writes(12)...)
			other := r.write("add", 30)
			other.Collection = "closets"
			steps = append(steps, other)
			for i, a := range chromadb(t, dir, steps) {
				if a.Error != "" {
					t.Fatalf("step %d %s: %s", i, steps[i].Op, a.Error)
				}
			}
			p := open(t, dir)
			c := collection(t, p, "drawers")
			db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
			if err != nil {
				t.Fatal(err)
			}
			for range 150 {
				r.enqueue(t, db, c.row.Topic())
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			applied := filepath.Join(t.TempDir(), "applied")
			if err := os.CopyFS(applied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			filters := fill(250, r.get)
			answers := chromadb(t, applied, append(filters, everything()))
			for i, s := range filters {
				compareGet(t, c, s, answers[i])
			}
			compareRecords(t, c, answers[len(filters)])
			if faults, err := c.QueueFaults(t.Context()); err != nil || len(faults) > 0 {
				t.Error(faults, err)
			}
			compareFacets(t, c, collection(t, open(t, applied), "drawers"))
		})
	}
}

// compareFacets holds the facets of waiting writes against those of the same
// writes applied, and both against a count by hand.
func compareFacets(t *testing.T, waiting, applied *Collection) {
	t.Helper()
	for _, keys := range [][]string{{"mix"}, {"i"}, {"lmix"}, {"ls"}, {"b"}, {"absent"}, {"mix", "s"}, {"lmix", "b"}} {
		for _, f := range []backend.Filter{{}, parse(t, `{"i":{"$gt":0}}`, ""), parse(t, "", `{"$contains":"a"}`)} {
			want := tallyByHand(t, applied, f, keys)
			for _, c := range []*Collection{waiting, applied} {
				got, err := c.Facets(t.Context(), f, keys...)
				if err != nil {
					t.Fatal(err)
				}
				sameFacets(t, keys, want, got)
			}
		}
	}
}
