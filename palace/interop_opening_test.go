//go:build interop

package palace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/backend"
)

// unseen is a look at the moment before somebody opens the palace.
type unseen struct{}

func (unseen) Palace(context.Context, locks.Target) (locks.PalaceView, error) {
	return locks.PalaceView{}, nil
}

// openChroma has the palace open and answers one line of JSON to each line: an
// operation and its arguments.
const openChroma = `
import chromadb, json, sys
c = chromadb.PersistentClient(sys.argv[1]).get_collection(sys.argv[2], embedding_function=None)
print(json.dumps({"answer": c.count()}), flush=True)
for line in sys.stdin:
    op, args = json.loads(line)
    try:
        answer = {"answer": getattr(c, op)(**args)}
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer, default=lambda o: None), flush=True)
`

// What a process sees whose opening raced with our look: this is as bad as it
// gets, and its own next write mends it.
func TestAProcessThatOpensBetweenOurLookAndOurCommitIsMendedByItsNextWrite(t *testing.T) {
	t.Parallel()
	s := newSite(t, backend.Chroma)
	m := palace.NewManager(palace.Options{Home: s.home, WorkDir: s.home, Env: func(string) string { return "" }, Watch: unseen{}})
	t.Cleanup(func() { must(t, m.Close()) })
	p, err := m.Open(t.Context(), backend.Ref{Path: s.palace})
	must(t, err)
	w, err := p.Writer(t.Context(), drawers)
	must(t, err)
	record := func(id string) backend.Record {
		text, vector := "the text of "+id, make([]float32, 384)
		vector[id[0]] = 1
		return backend.Record{ID: id, Document: &text, Embedding: vector, Metadata: backend.Metadata{"wing": id}}
	}
	must(t, w.Upsert(t.Context(), []backend.Record{record("first"), record("gone"), record("stays")}))

	cmd := python(t, s.home, "-c", openChroma, s.palace, drawers)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	type answer struct {
		Answer json.RawMessage
		Error  string
	}
	read := func() (a answer) {
		t.Helper()
		line, err := lines.ReadString('\n')
		must(t, err)
		must(t, json.Unmarshal([]byte(line), &a))
		return a
	}
	ask := func(op string, args map[string]any) answer {
		t.Helper()
		raw, err := json.Marshal([]any{op, args})
		must(t, err)
		_, err = in.Write(append(raw, '\n'))
		must(t, err)
		return read()
	}
	if a := read(); string(a.Answer) != "3" {
		t.Fatalf("it counts %s", a.Answer)
	}
	must(t, w.Upsert(t.Context(), []backend.Record{record("ours")}))
	if n, err := w.Delete(t.Context(), backend.Filter{IDs: []string{"gone"}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}

	filtered := map[string]any{"query_embeddings": [][]float32{record("ours").Embedding}, "n_results": 2, "where": map[string]any{"wing": "ours"}}
	if a := ask("count", map[string]any{}); string(a.Answer) != "3" {
		t.Errorf("it counts %s %s", a.Answer, a.Error)
	}
	if a := ask("get", map[string]any{"ids": []string{"ours", "gone"}, "include": []string{"documents"}}); !strings.Contains(string(a.Answer), "the text of ours") || strings.Contains(string(a.Answer), "gone") {
		t.Errorf("it gets %s %s", a.Answer, a.Error)
	}
	if a := ask("query", filtered); !strings.Contains(a.Error, "Error finding id") {
		t.Errorf("a filtered search that matches the new row: %s %s", a.Answer, a.Error)
	}
	// One that is not filtered answers, with the deleted row and without its text.
	everything := map[string]any{"query_embeddings": [][]float32{record("gone").Embedding}, "n_results": 9, "include": []string{"documents"}}
	if a := ask("query", everything); !strings.Contains(string(a.Answer), `[["gone", "`) || !strings.Contains(string(a.Answer), `[[null, "`) {
		t.Errorf("an unfiltered search: %s %s", a.Answer, a.Error)
	}

	theirs := record("theirs!")
	if a := ask("upsert", map[string]any{"ids": []string{theirs.ID}, "embeddings": [][]float32{theirs.Embedding},
		"documents": []string{*theirs.Document}, "metadatas": []any{theirs.Metadata}}); a.Error != "" {
		t.Fatal(a.Error)
	}
	if a := ask("query", filtered); !strings.Contains(string(a.Answer), `[["ours"]]`) {
		t.Errorf("after its own write: %s %s", a.Answer, a.Error)
	}
	if a := ask("query", everything); a.Error != "" || strings.Contains(string(a.Answer), "gone") {
		t.Errorf("after its own write an unfiltered search: %s %s", a.Answer, a.Error)
	}
	if a := ask("count", map[string]any{}); string(a.Answer) != "4" {
		t.Errorf("after its own write it counts %s %s", a.Answer, a.Error)
	}
	must(t, in.Close())
	must(t, cmd.Wait())
	if a := s.ask(t); a.Count != 4 || len(a.Missed) > 0 {
		t.Errorf("at last it counts %d, not found: %q", a.Count, a.Missed)
	}
}
