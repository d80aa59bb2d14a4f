//go:build interop

package exact

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"castellan/palace/backend"
)

// step is one call of MemPalace's backend.
type step struct {
	Palace     string         `json:"palace"`
	Collection string         `json:"collection"`
	ReadOnly   bool           `json:"read_only,omitempty"`
	Op         string         `json:"op"`
	Args       map[string]any `json:"args,omitempty"`
}

type answer struct {
	Answer json.RawMessage `json:"answer"`
	Error  string          `json:"error"`
}

// peer is a process of MemPalace's that keeps its handles open.
type peer struct {
	in  *json.Encoder
	out *json.Decoder
	end func() error
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON does not name a python with MemPalace")
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/interop.py")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return &peer{json.NewEncoder(in), json.NewDecoder(out), func() error { return errors.Join(in.Close(), cmd.Wait()) }}
}

func (p *peer) play(t *testing.T, s step) (a answer) {
	t.Helper()
	must(t, p.in.Encode(s))
	must(t, p.out.Decode(&a))
	return a
}

// mempalace plays steps in a process of its own, which has ended on return.
func mempalace(t *testing.T, steps ...step) []answer {
	t.Helper()
	p := startPeer(t)
	answers := make([]answer, len(steps))
	for i, s := range steps {
		answers[i] = p.play(t, s)
	}
	must(t, p.end())
	return answers
}

func answered[T any](t *testing.T, a answer) (v T) {
	t.Helper()
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	must(t, json.Unmarshal(a.Answer, &v))
	return v
}

var pythonTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$`)

// contents is everything in a palace but its times, byte for byte, and every
// time's form checked.
func contents(t *testing.T, dir string) (lines []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, DatabaseFile)+"?mode=ro")
	must(t, err)
	defer db.Close()
	for _, question := range []string{
		"SELECT created_at, created_at, 'collection', id, name, dimension, '', '' FROM collections ORDER BY id",
		`SELECT d.created_at, d.updated_at, 'document', d.collection_id, d.id, d.dim, d.document || '|' || d.metadata_json, hex(d.embedding)
			FROM documents d ORDER BY d.collection_id, d.rowid`,
		"SELECT NULL, NULL, 'text', collection_id, doc_id, 0, document, '' FROM docs_fts ORDER BY rowid",
		"SELECT NULL, NULL, 'meta', 0, key, 0, value, '' FROM meta ORDER BY key",
	} {
		rows, err := db.Query(question)
		must(t, err)
		for rows.Next() {
			var created, updated *string
			var kind, name, text, vector string
			var id int64
			var dimension *int64
			must(t, rows.Scan(&created, &updated, &kind, &id, &name, &dimension, &text, &vector))
			for _, s := range []*string{created, updated} {
				if s != nil && !pythonTime.MatchString(*s) {
					t.Errorf("%s: a time is written %q", name, *s)
				}
			}
			d := "none"
			if dimension != nil {
				d = fmt.Sprint(*dimension)
			}
			lines = append(lines, fmt.Sprintf("%s %d %q %s %q %s", kind, id, name, d, text, vector))
		}
		must(t, rows.Err())
		rows.Close()
	}
	return lines
}

// asStep is a call of ours as MemPalace's backend takes it.
func asStep(palace, collection, op string, list []backend.Record) step {
	var ids, documents []string
	var metadatas []json.RawMessage
	var embeddings [][]float32
	for _, r := range list {
		ids, documents = append(ids, r.ID), append(documents, *r.Document)
		metadatas = append(metadatas, encode(r.Metadata))
		embeddings = append(embeddings, r.Embedding)
	}
	return step{Palace: palace, Collection: collection, Op: op,
		Args: map[string]any{"ids": ids, "documents": documents, "metadatas": metadatas, "embeddings": embeddings}}
}
