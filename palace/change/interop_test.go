//go:build interop

package change

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"castellan/palace"
	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

func python(t *testing.T) string {
	t.Helper()
	p := os.Getenv("CASTELLAN_PYTHON")
	if p == "" {
		t.Skip("CASTELLAN_PYTHON names no python with MemPalace")
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
	for _, a := range answers {
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		list = append(list, a.Answer)
	}
	return list
}

func call(op string, args map[string]any) map[string]any {
	return map[string]any{"op": op, "collection": DefaultDrawers, "args": args}
}

// Chroma itself sees the rows go and come back, and finds them again.
func TestChromaSeesRowsGoAndComeBack(t *testing.T) {
	for _, sample := range []string{"healthy", "synced"} {
		s := set(t, sample)
		const source = "/home/u/notes/file_001.md"
		questions := []map[string]any{
			call("count", nil),
			call("get", map[string]any{"where": map[string]any{"source_file": source}, "include": []string{"documents", "metadatas", "uris"}}),
		}
		ask := func() (answers []json.RawMessage) { return chromadb(t, s.dir, questions...) }
		target := s.target()
		before := contents(t, target.Palace)
		for _, r := range before[DefaultDrawers] {
			if r.Metadata["source_file"] == source {
				questions = append(questions, call("query", map[string]any{"query_embeddings": [][]float32{r.Embedding}, "n_results": 1}))
			}
		}
		must(t, target.Palace.Close())
		was := ask()

		target = s.target()
		did := s.delete(target, Selection{Source: ptr(source)})
		must(t, target.Palace.Close())
		gone := ask()
		if string(gone[0]) == string(was[0]) || !strings.Contains(string(gone[1]), `"ids": []`) {
			t.Errorf("%s: after the delete chromadb says %s, %.200s", sample, gone[0], gone[1])
		}
		for i := 2; i < len(was); i++ {
			if string(gone[i]) == string(was[i]) {
				t.Errorf("%s: a search still finds %s", sample, gone[i])
			}
		}

		target = s.target()
		if back := s.undo(target); back.Undo != *did.Undo {
			t.Errorf("%+v", back)
		}
		must(t, target.Palace.Close())
		if d := cmp.Diff(sorted(t, was), sorted(t, ask())); d != "" {
			t.Errorf("%s: chromadb does not see what it saw before:\n%s", sample, d)
		}
		if said := chromadb(t, s.dir, map[string]any{"op": "check"}); string(said[0]) != "[]" {
			t.Errorf("%s: SQLite says %s", sample, said[0])
		}
		// And with Chroma's own writes after ours, it is still the same.
		chromadb(t, s.dir, call("upsert", map[string]any{"ids": []string{"later"}, "documents": []string{"later"}, "embeddings": [][]float32{make([]float32, 384)}}))
		chromadb(t, s.dir, call("delete", map[string]any{"ids": []string{"later"}}))
		if d := cmp.Diff(sorted(t, was), sorted(t, ask())); d != "" {
			t.Errorf("%s: after a write of its own chromadb sees something else:\n%s", sample, d)
		}
	}
}

// sorted puts the rows of a get in the order of their ids: what comes back is
// filed anew, last.
func sorted(t *testing.T, answers []json.RawMessage) []any {
	t.Helper()
	var list []any
	for _, a := range answers {
		var v any
		must(t, json.Unmarshal(a, &v))
		if m, ok := v.(map[string]any); ok && m["documents"] != nil {
			rows := map[string]any{}
			for i, id := range m["ids"].([]any) {
				rows[id.(string)] = []any{m["documents"].([]any)[i], m["metadatas"].([]any)[i]}
			}
			v = rows
		}
		list = append(list, v)
	}
	return list
}

// What goes is what goes when MemPalace deletes.
func TestMemPalaceDeletesTheSame(t *testing.T) {
	const id = "drawer_wing_code_general_53b2123fccb88d276d5f34f2"
	for name, c := range map[string]struct {
		sel  Selection
		step map[string]any
	}{
		"by source": {Selection{Source: ptr("/home/u/notes/file_001.md")}, map[string]any{"source": "/home/u/notes/file_001.md"}},
		"by id":     {Selection{IDs: []string{id, "nope"}}, map[string]any{"ids": []string{id, "nope"}}},
		"in parts":  {Selection{IDs: []string{"whole"}}, map[string]any{"ids": []string{"whole"}}},
		"one part":  {Selection{IDs: []string{"whole_chunk_000001"}}, map[string]any{"ids": []string{"whole_chunk_000001"}}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := set(t, "healthy"), set(t, "healthy")
			for _, s := range []*stage{ours, theirs} {
				target := s.target()
				for i, id := range []string{"whole_chunk_000000", "whole_chunk_000001"} {
					s.write(target, DefaultDrawers, backend.Record{ID: id, Metadata: backend.Metadata{
						"wing": "w", "room": "r", "source_file": "/whole", "chunk_index": int64(i), "parent_drawer_id": "whole"}})
				}
				s.write(target, DefaultClosets, row("closet of whole", "source_file", "/whole"))
				must(t, target.Palace.Close())
			}
			target := ours.target()
			before := ids(t, target.Palace)
			ours.delete(target, c.sel)

			in, err := json.Marshal(c.step)
			must(t, err)
			cmd := exec.CommandContext(t.Context(), python(t), "testdata/delete.py")
			cmd.Stdin = bytes.NewReader(in)
			cmd.Env = append(os.Environ(), "HOME="+theirs.home, "MEMPALACE_PALACE_PATH="+theirs.dir, "ANONYMIZED_TELEMETRY=False")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "answer {") {
				t.Fatalf("%v\n%s", err, out)
			}
			got, want := ids(t, target.Palace), ids(t, theirs.target().Palace)
			if cmp.Equal(before, want) {
				t.Fatalf("MemPalace has deleted nothing:\n%s", out)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("MemPalace keeps something else:\n%s\n%s", d, out)
			}
		})
	}
}

func ids(t *testing.T, p *palace.Palace) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for name, rows := range contents(t, p) {
		out[name] = map[string]bool{}
		for id := range rows {
			out[name][id] = true
		}
	}
	return out
}
