//go:build interop

package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/specimen"
)

func python(t *testing.T) string {
	t.Helper()
	p := os.Getenv("CASTELLAN_PYTHON")
	if p == "" {
		t.Skip("CASTELLAN_PYTHON names no python with chromadb")
	}
	return p
}

// chromadb plays steps in a process of its own, which has ended on return.
func chromadb(t *testing.T, dir string, steps ...map[string]any) []json.RawMessage {
	t.Helper()
	in, err := json.Marshal(map[string]any{"dir": dir, "steps": steps})
	must(t, err)
	cmd := exec.CommandContext(t.Context(), python(t), filepath.Join("..", "chroma", "testdata", "interop.py"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False")
	out, err := cmd.Output()
	must(t, err)
	var answers []struct {
		Answer json.RawMessage
		Error  string
	}
	must(t, json.Unmarshal(out, &answers))
	var list []json.RawMessage
	for i, a := range answers {
		if a.Error != "" {
			t.Fatalf("%v: %s", steps[i]["op"], a.Error)
		}
		list = append(list, a.Answer)
	}
	return list
}

func call(op string, args map[string]any) map[string]any {
	return map[string]any{"op": op, "collection": specimen.Drawers, "args": args}
}

type got struct {
	IDs        []string    `json:"ids"`
	Documents  []string    `json:"documents"`
	Embeddings [][]float32 `json:"embeddings"`
}

// A repaired palace answers through Chroma as it does through us, takes further
// writes, flushes them, and is sound afterwards.
func TestChromaOpensRepairedPalacesAndGoesOnWriting(t *testing.T) {
	for _, name := range []string{
		"links-empty", "header-short", "index-torn", "tombstones-many", "quarantined", "vector-seq-without-pickle", "closets-sick",
		"queue-top-lost", "seq-id-poisoned", "seq-id-poisoned-queued", "seq-id-blob-max", "fts-missing", "fts-content-deleted", "level0-zeroed", "pickle-truncated",
		"queue-row-bad-time", "queue-row-bad-json", "queue-row-without-vector", "queue-row-short-vector", "queue-row-bad-operation", "queue-row-bad-encoding",
	} {
		t.Run(name, func(t *testing.T) {
			s := sick(t, name)
			s.do(s.repair(""))
			ours := s.contents()[specimen.Drawers]
			theirs := askAll(t, s.dir, ours)
			if len(theirs.IDs) != len(ours) {
				t.Fatalf("it gets %d drawers, we %d", len(theirs.IDs), len(ours))
			}
			// More than a sync threshold of 400, so that it writes into our files.
			first := call("upsert", more(ours, 0, 450))
			chromadb(t, s.dir, first, call("upsert", more(ours, 450, 10)))
			want := int64(len(ours) + 460)
			var n int64
			must(t, json.Unmarshal(chromadb(t, s.dir, call("count", nil))[0], &n))
			if n != want {
				t.Errorf("after its own writes it counts %d, want %d", n, want)
			}
			ours = s.contents()[specimen.Drawers]
			if int64(len(ours)) != want {
				t.Errorf("after its writes we count %d, want %d", len(ours), want)
			}
			p, err := chroma.Open(t.Context(), s.dir, chroma.Options{})
			must(t, err)
			defer p.Close()
			f, err := p.Facts(t.Context(), chroma.Full)
			must(t, err)
			for _, c := range f.Collections {
				if c.Index.Graph != nil && len(c.Index.Graph.Faults) > 0 && c.Index.Flushed() {
					t.Errorf("%s: %v", c.Row.Name, c.Index.Graph.Faults)
				}
				if c.Unapplied > 0 || c.Coverage.Stale > 0 {
					t.Errorf("%s: %d writes wait, %d vectors are stale", c.Row.Name, c.Unapplied, c.Coverage.Stale)
				}
			}
		})
	}
}

// more makes further drawers beside those that are there. (Vectors far from all
// others are ones that hnswlib itself loses paths to.)
func more(from map[string]backend.Record, start, n int) map[string]any {
	base := []string{}
	for id, r := range from {
		if r.Embedding != nil && !strings.HasPrefix(id, "more-") {
			base = append(base, id)
		}
	}
	slices.Sort(base)
	var ids, docs []string
	var vectors [][]float32
	var metas []map[string]any
	for i := start; i < start+n; i++ {
		w := slices.Clone(from[base[(i*7)%len(base)]].Embedding)
		norm, _ := length(w)
		w[i%len(w)] += float32(norm) / 20
		ids, docs = append(ids, fmt.Sprintf("more-%d", i)), append(docs, fmt.Sprintf("further text %d", i))
		vectors, metas = append(vectors, w), append(metas, map[string]any{"wing": "more"})
	}
	return map[string]any{"ids": ids, "embeddings": vectors, "documents": docs, "metadatas": metas}
}

// askAll gets everything that has a vector and compares it, and asks for the
// nearest of a few.
func askAll(t *testing.T, dir string, ours map[string]backend.Record) got {
	t.Helper()
	var with []string
	var probe []backend.Record
	for id, r := range ours {
		if r.Embedding != nil {
			with = append(with, id)
			if len(probe) < 10 && r.Document != nil && *r.Document != "" {
				probe = append(probe, r)
			}
		}
	}
	steps := []map[string]any{
		call("get", map[string]any{"include": []string{"documents"}}),
		call("get", map[string]any{"ids": with, "include": []string{"documents", "embeddings"}}),
	}
	for _, r := range probe {
		steps = append(steps,
			call("query", map[string]any{"query_embeddings": [][]float32{r.Embedding}, "n_results": 3}),
			call("get", map[string]any{"where_document": map[string]any{"$contains": (*r.Document)[:min(30, len(*r.Document))]}, "include": []string{"documents"}}))
	}
	answers := chromadb(t, dir, steps...)
	var all, vectors got
	must(t, json.Unmarshal(answers[0], &all))
	must(t, json.Unmarshal(answers[1], &vectors))
	if len(vectors.IDs) != len(with) {
		t.Errorf("it has vectors of %d drawers, we of %d", len(vectors.IDs), len(with))
	}
	for i, id := range vectors.IDs {
		if !sameVector("l2", vectors.Embeddings[i], ours[id].Embedding) {
			t.Errorf("%s: its vector is another one", id)
		}
		if d := ours[id].Document; d != nil && vectors.Documents[i] != *d {
			t.Errorf("%s: its text is another one", id)
		}
	}
	for i, r := range probe {
		var q got
		must(t, json.Unmarshal(answers[2+2*i], &q))
		if len(q.IDs) != min(3, len(with)) || !slices.Contains(q.IDs, r.ID) && !sameVector("cosine", ours[q.IDs[0]].Embedding, r.Embedding) {
			t.Errorf("the nearest of %s are %v", r.ID, q.IDs)
		}
		var w got
		must(t, json.Unmarshal(answers[3+2*i], &w))
		if !slices.Contains(w.IDs, r.ID) {
			t.Errorf("a filter on its text misses %s", r.ID)
		}
	}
	return all
}

// --verify-with-chroma leaves the palace as it is.
func TestAskingChromaIsDoneOnACopy(t *testing.T) {
	s := small(t, 100)
	end := s.do(s.repair("", func(o *Options) { o.Python = python(t) }))
	res := end.Result.Detail.(*Result)
	var answer struct {
		Collections []struct{ Count, Hits int }
	}
	must(t, json.Unmarshal(res.Verified.Chroma, &answer))
	if len(answer.Collections) != 1 || answer.Collections[0].Count != 150 || answer.Collections[0].Hits != 50 {
		t.Errorf("%s", res.Verified.Chroma)
	}
	s.wantClean()
	s.wantNothingLeft("asked")
}

// A palace that was rebuilt beside opens in Chroma too.
func TestChromaOpensARebuiltPalace(t *testing.T) {
	s := sick(t, "space-forgotten")
	ours := s.contents()[specimen.Drawers]
	res := s.do(s.repair(FromSQLite)).Result.Detail.(*Rebuilt)
	theirs := askAll(t, res.Palace, ours)
	if len(theirs.IDs) != len(ours) {
		t.Errorf("it gets %d drawers, we %d", len(theirs.IDs), len(ours))
	}
}
