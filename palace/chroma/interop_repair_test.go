//go:build interop

package chroma

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/backend"
)

func TestChromaOpensWhatAKilledWriteLeft(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := filepath.Join(t.TempDir(), "palace")
		must(t, Create(t.Context(), dir))
		p := open(t, dir)
		_, err := p.Writable(answering(true)).CreateCollection(t.Context(), backend.NewCollection{Name: "drawers", Embedder: NoEmbedder})
		must(t, err)
		must(t, p.Close())
		for range 3 {
			said := crashed(t, dir, alone, time.Duration(rand.IntN(200))*time.Millisecond)
			theirs := filepath.Join(t.TempDir(), "theirs")
			must(t, os.CopyFS(theirs, os.DirFS(dir)))
			wholeTurn(t, dir, said)
			a := chromadb(t, theirs, []step{everything()})[0]
			compareRecords(t, collection(t, open(t, dir), "drawers"), a)
			cleanForPython(t, theirs)
		}
	})
}

// Emptied by hand, a queue would hand out numbers that Chroma purges unseen.
func TestChromaSeesWritesAfterAnEmptiedQueue(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "synced")
		alter(t, dir, "DELETE FROM embeddings_queue")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		before, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		must(t, c.Upsert(t.Context(), []backend.Record{{ID: "ours", Embedding: vectorOf(1), Metadata: backend.Metadata{"from": "ours"}}}))
		where := map[string]any{"where": map[string]any{"from": "ours"}, "include": []string{"embeddings"}}
		for range 2 { // and again after the purge that follows the first load
			answers := chromadb(t, dir, []step{
				{Op: "count", Collection: "mempalace_drawers"},
				{Op: "get", Collection: "mempalace_drawers", Args: where},
				{Op: "upsert", Collection: "mempalace_drawers", Args: map[string]any{"ids": []string{"theirs"}, "embeddings": [][]float32{vectorOf(2)}}},
			})
			if string(answers[0].Answer) != fmt.Sprint(before+1) {
				t.Errorf("it counts %s %s", answers[0].Answer, answers[0].Error)
			}
			if got := answers[1].got(t); len(got.IDs) != 1 || got.Embeddings[0][0] != 1 {
				t.Errorf("it gets %v", got)
			}
			played(t, make([]step, 3), answers)
			before++
		}
	})
}

// Chroma drops a collection without its list metadata.
func TestOurRecordsShowNothingOfACollectionThatChromaDropped(t *testing.T) {
	r := random{rand.New(rand.NewPCG(1, 6))}
	dir := t.TempDir()
	steps := append([]step{creation(r)}, withoutNUL(r.writes(10))...)
	steps = append(steps, step{Op: "drop"}, creation(r))
	played(t, steps, chromadb(t, dir, steps))
	p := open(t, dir)
	c := writer(t, p, "drawers", true)
	var records []backend.Record
	for i := range 30 {
		records = append(records, backend.Record{ID: fmt.Sprint("n", i), Embedding: []float32{1, 2, 3}, Document: ptr("x"), Metadata: backend.Metadata{"n": int64(i)}})
	}
	must(t, c.Add(t.Context(), records))
	a := chromadb(t, dir, []step{everything()})[0]
	compareRecords(t, collection(t, p, "drawers"), a)
	for i, raw := range a.got(t).Metadatas {
		if string(raw) != fmt.Sprintf(`{"n": %d}`, i) {
			t.Errorf("%s", raw)
		}
	}
	cleanForPython(t, dir)
	soundAfter(t, dir)
}
