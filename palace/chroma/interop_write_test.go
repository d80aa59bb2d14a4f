//go:build interop

package chroma

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

// play makes the same write as a step, through our own writer.
func play(t *testing.T, c *Writer, s step) {
	t.Helper()
	ids := s.Args["ids"].([]string)
	if s.Op == "delete" {
		_, err := c.Delete(t.Context(), backend.Filter{IDs: ids})
		must(t, err)
		return
	}
	vectors, _ := s.Args["embeddings"].([][]float32)
	documents, _ := s.Args["documents"].([]string)
	uris, _ := s.Args["uris"].([]string)
	metadatas, _ := s.Args["metadatas"].([]backend.Metadata)
	var records []backend.Record
	var changes []backend.Change
	for i, id := range ids {
		ch := backend.Change{ID: id}
		if vectors != nil {
			ch.Embedding = vectors[i]
		}
		if documents != nil {
			ch.Document = &documents[i]
		}
		if uris != nil {
			ch.URI = &uris[i]
		}
		if metadatas != nil {
			ch.Metadata = backend.Metadata{}
			for key, v := range metadatas[i] {
				if v == nil {
					ch.Unset = append(ch.Unset, key)
				} else {
					ch.Metadata[key] = v
				}
			}
		}
		changes = append(changes, ch)
		records = append(records, backend.Record{ID: id, Embedding: ch.Embedding, Document: ch.Document, URI: ch.URI, Metadata: ch.Metadata})
	}
	switch s.Op {
	case "add":
		must(t, c.Add(t.Context(), records))
	case "upsert":
		must(t, c.Upsert(t.Context(), records))
	case "update":
		must(t, c.Update(t.Context(), changes))
	}
}

// changing makes writes, some of whose updates remove keys.
func (r random) changing(n int) []step {
	steps := r.writes(n)
	for _, s := range steps {
		list, ok := s.Args["metadatas"].([]backend.Metadata)
		if s.Op != "update" || !ok {
			continue
		}
		for i := range list {
			list[i][pick(r, append(someKeys, someLists...)...)] = nil
		}
	}
	return steps
}

// withoutNUL leaves out the one character that keeps a write from being applied
// by us.
func withoutNUL(steps []step) []step {
	for _, s := range steps {
		list, _ := s.Args["documents"].([]string)
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "\x00", "0")
		}
	}
	return steps
}

// isApplied reports that nothing waits in the queue.
func isApplied(t *testing.T, p *Palace, name string) bool {
	t.Helper()
	f, err := p.Facts(t.Context(), Sampled)
	must(t, err)
	for _, c := range f.Collections {
		if c.Row.Name == name {
			return c.Unapplied == 0
		}
	}
	t.Fatal("no collection ", name)
	return false
}

func played(t *testing.T, steps []step, answers []answer) {
	t.Helper()
	for i, a := range answers {
		if a.Error != "" {
			t.Fatalf("step %d %s: %s", i, steps[i].Op, a.Error)
		}
	}
}

// cleanForPython holds the database against the checks of another SQLite.
func cleanForPython(t *testing.T, dir string) {
	t.Helper()
	if a := chromadb(t, dir, []step{{Op: "check"}})[0]; a.Error != "" || string(a.Answer) != "[]" {
		t.Fatal(a.Error, string(a.Answer))
	}
}

func creation(r random) step {
	return step{Op: "create", Metadata: map[string]any{
		"hnsw:space": pick(r, "l2", "cosine", "ip"), "hnsw:sync_threshold": pick(r, 40, 1000), "hnsw:batch_size": 2}}
}

func TestOurWritesAndChromasEndTheSame(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			r := random{rand.New(rand.NewPCG(seed, 3))}
			theirs, ours := t.TempDir(), filepath.Join(t.TempDir(), "ours")
			begin := append([]step{creation(r)}, r.writes(4)...)
			// Four of the six are applied by us; with NULs in its documents Chroma has to.
			clean := seed < 4
			if clean {
				withoutNUL(begin)
			}
			played(t, begin, chromadb(t, theirs, begin))
			must(t, os.CopyFS(ours, os.DirFS(theirs)))
			p := open(t, ours)
			for round := range 3 {
				steps := r.changing(12)
				if clean {
					withoutNUL(steps)
				}
				asked := append(fill(60, r.get), everything())
				want := chromadb(t, theirs, append(slices.Clone(steps), asked...))
				played(t, steps, want[:len(steps)])
				want = want[len(steps):]
				for i, s := range steps {
					// Alone, with others, and going over from one to the other.
					alone := round == 0 || round == 2 && i%3 != 0
					play(t, writer(t, p, "drawers", alone), s)
					if alone && clean && !isApplied(t, p, "drawers") {
						t.Fatalf("a write alone was left in the queue: %v", s)
					}
				}
				c := collection(t, p, "drawers")
				compareRecords(t, c, want[60])
				cleanForPython(t, ours)
				got := chromadb(t, ours, asked)
				for i, s := range asked {
					if d := cmp.Diff(want[i], got[i], cmp.Transformer("text", func(b answer) string { return string(b.Answer) + b.Error })); d != "" && i < 60 {
						t.Errorf("round %d, %v: %s", round, s.Args, d)
					}
				}
				compareRecords(t, collection(t, open(t, ours), "drawers"), got[60])
				cleanForPython(t, ours)
			}
		})
	}
}

func TestAProcessThatIsOpenTakesOurWritesInWithItsNext(t *testing.T) {
	dir := t.TempDir()
	r := random{rand.New(rand.NewPCG(1, 4))}
	begin := append([]step{creation(r)}, r.writes(6)...)
	played(t, begin, chromadb(t, dir, begin))
	p := open(t, dir)
	c := writer(t, p, "drawers", false)
	there := idsOf(walk(t, c, backend.Query{}))
	gate := filepath.Join(t.TempDir(), "gate")
	theirs := step{Op: "upsert", Args: map[string]any{"ids": []string{"theirs"}, "embeddings": [][]float32{{1, 2, 3}}, "documents": []string{"of theirs"}}}
	ask := step{Op: "query", Args: map[string]any{"query_embeddings": [][]float32{{4, 5, 6}}, "n_results": 1000, "where": map[string]any{"from": "ours"}}}
	steps := []step{everything(), {Op: "pause", Args: map[string]any{"path": gate}}, {Op: "count"}, everything(), theirs, {Op: "count"}, ask, everything()}
	done := make(chan []answer, 1)
	go func() { done <- chromadb(t, dir, steps) }()
	await(t, gate+".here")
	must(t, c.Upsert(t.Context(), []backend.Record{{ID: "ours", Embedding: []float32{4, 5, 6}, Document: ptr("of ours"), Metadata: backend.Metadata{"from": "ours"}}}))
	if n, err := c.Delete(t.Context(), backend.Filter{IDs: there[:1]}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	answers := <-done
	played(t, steps, answers)
	if string(answers[2].Answer) != fmt.Sprint(len(there)) {
		t.Errorf("it counted %s before its own write, %d records were there", answers[2].Answer, len(there))
	}
	if string(answers[5].Answer) != fmt.Sprint(len(there)+1) {
		t.Errorf("it counted %s after its own write", answers[5].Answer)
	}
	if string(answers[6].Answer) != `{"ids": ["ours"]}` {
		t.Errorf("its filtered search found %s", answers[6].Answer)
	}
	compareRecords(t, collection(t, p, "drawers"), answers[7])
	if got := idsOf(walk(t, c, backend.Query{})); !slices.Contains(got, "theirs") || slices.Contains(got, there[0]) {
		t.Error(got)
	}
	cleanForPython(t, dir)
}

func await(t *testing.T, path string) {
	t.Helper()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("nobody came")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestChromaUsesThePalacesAndCollectionsThatWeMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "palace")
	must(t, Create(t.Context(), dir))
	played(t, []step{{Op: "check"}}, chromadb(t, dir, []step{{Op: "check"}}))
	w := open(t, dir).Writable(answering(true))
	r := random{rand.New(rand.NewPCG(1, 5))}
	m, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "drawers", Embedder: NoEmbedder, Space: "l2",
		HNSW: backend.HNSWParams{SyncThreshold: ptr(30), BatchSize: ptr(2)}, Metadata: backend.Metadata{"s": "x", "i": int64(7), "f": 2.5, "b": true}})
	must(t, err)
	for _, s := range withoutNUL(r.changing(8)) {
		play(t, m.(*Writer), s)
	}
	if !isApplied(t, w.Palace, "drawers") {
		t.Error("a write alone was left in the queue")
	}
	answers := chromadb(t, dir, append(withoutNUL(r.changing(8)), everything()))
	compareRecords(t, collection(t, w.Palace, "drawers"), answers[len(answers)-1])
	for _, s := range withoutNUL(r.changing(8)) {
		play(t, m.(*Writer), s)
	}
	compareRecords(t, collection(t, w.Palace, "drawers"), chromadb(t, dir, []step{everything()})[0])

	// Rows of a dropped collection must not come back in the next one.
	must(t, w.DeleteCollection(t.Context(), "drawers"))
	_, err = w.CreateCollection(t.Context(), backend.NewCollection{Name: "drawers", Embedder: NoEmbedder, Space: "ip"})
	must(t, err)
	answers = chromadb(t, dir, append(withoutNUL(r.changing(8)), everything()))
	played(t, make([]step, len(answers)), answers)
	compareRecords(t, collection(t, w.Palace, "drawers"), answers[8])
	cleanForPython(t, dir)
	soundAfter(t, dir)
}

func TestMemPalaceUsesTheCollectionsThatWeMake(t *testing.T) {
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" || exec.Command(python, "-c", "import mempalace").Run() != nil {
		t.Skip("CASTELLAN_PYTHON names no python with mempalace")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	ours, theirs := filepath.Join(t.TempDir(), "palace"), filepath.Join(t.TempDir(), "palace")
	must(t, Create(t.Context(), ours))
	w := open(t, ours).Writable(answering(true))
	c, err := w.CreateCollection(t.Context(), backend.NewCollection{Name: "mempalace_drawers"})
	must(t, err)
	played(t, make([]step, 1), chromadb(t, theirs, []step{{Op: "mempalace", Collection: "mempalace_drawers"}}))
	// Both are recorded alike, down to the schema.
	mine, its := collection(t, open(t, ours), "mempalace_drawers"), collection(t, open(t, theirs), "mempalace_drawers")
	if d := cmp.Diff(its.row.Metadata, mine.row.Metadata); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(asJSON(t, *its.row.SchemaStr), asJSON(t, *mine.row.SchemaStr)); d != "" {
		t.Error(d)
	}
	if *mine.row.ConfigJSON != *its.row.ConfigJSON || mine.row.DatabaseID != its.row.DatabaseID {
		t.Error(*mine.row.ConfigJSON, mine.row.DatabaseID)
	}
	must(t, c.Upsert(t.Context(), []backend.Record{{ID: "ours", Embedding: vectorOf(1), Document: ptr("ours"), Metadata: backend.Metadata{"wing": "w"}}}))
	a := chromadb(t, ours, []step{{Op: "mempalace", Collection: "mempalace_drawers", Args: map[string]any{"upsert": map[string]any{
		"ids": []string{"theirs"}, "documents": []string{"theirs"}, "embeddings": [][]float32{vectorOf(2)}, "metadatas": []any{map[string]any{"wing": "w"}}}}}})[0]
	if a.Error != "" || string(a.Answer) != `{"count": 2, "space": "cosine", "documents": ["theirs"]}` {
		t.Errorf("%s %s", a.Error, a.Answer)
	}
}

func asJSON(t *testing.T, s string) any {
	t.Helper()
	var v any
	must(t, json.Unmarshal([]byte(s), &v))
	return v
}
