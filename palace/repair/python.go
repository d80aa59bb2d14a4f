package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"castellan/palace/action"
	"castellan/palace/chroma"
)

// chromaScript opens a palace with Python's chromadb and reads from each
// collection. The path comes as an argument, so nothing is spelled into code.
const chromaScript = `
import json, sys
import chromadb
from chromadb.config import Settings
client = chromadb.PersistentClient(path=sys.argv[1], settings=Settings(anonymized_telemetry=False))
out = {"chromadb": chromadb.__version__, "collections": []}
for c in client.list_collections():
    c = client.get_collection(c.name, embedding_function=None)
    n = c.count()
    got = c.get(limit=10, include=["documents", "metadatas", "embeddings"])
    hits = 0
    for e in got["embeddings"]:
        hits += len(c.query(query_embeddings=[e], n_results=min(5, max(n, 1)))["ids"][0])
    out["collections"].append({"name": c.name, "count": n, "got": len(got["ids"]), "hits": hits})
print(json.dumps(out))
`

const chromaPatience = 10 * time.Minute

// pythonless refuses a Python without chromadb before anything is done: its
// failing afterwards would look like a palace that cannot be opened.
func (r *Repair) pythonless(ctx context.Context) *action.RefusedError {
	if r.o.Python == "" {
		return nil
	}
	bounded, stop := context.WithTimeout(ctx, chromaPatience)
	defer stop()
	cmd := exec.CommandContext(bounded, r.o.Python, "-c", "import chromadb")
	cmd.WaitDelay = 5 * time.Second
	var wrong tail
	cmd.Stderr = &wrong
	if err := cmd.Run(); err != nil {
		return &action.RefusedError{Kind: NoChroma, Subject: r.o.Python, Reason: fmt.Sprintf("it cannot load chromadb (%v): %s", err, wrong.String()),
			Next: "name a Python that has it with --python, or leave --verify-with-chroma out", Err: err}
	}
	return nil
}

// askChroma has Chroma itself open a copy of the repaired palace: opening
// writes, and a crash must not have been in the palace.
func (run *running) askChroma(ctx context.Context, pt *patient) error {
	if err := run.phase("open it with chromadb", true); err != nil {
		return err
	}
	dir := filepath.Join(run.work, "asked")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := pt.p.DB().Backup(ctx, filepath.Join(dir, chroma.DatabaseFile)); err != nil {
		return err
	}
	for _, from := range pt.segmentDirs() {
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := copyDir(ctx, from, filepath.Join(dir, filepath.Base(from))); err != nil {
			return err
		}
	}
	bounded, stop := context.WithTimeout(ctx, chromaPatience)
	defer stop()
	cmd := exec.CommandContext(bounded, run.r.o.Python, "-c", chromaScript, dir)
	cmd.WaitDelay = 5 * time.Second
	var said, wrong tail
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err := cmd.Run(); err != nil {
		return refuse(NotVerified, run.r.path(), "run it without --verify-with-chroma if that Python has no chromadb",
			"chromadb could not read the repaired palace (%v): %s", err, wrong.String())
	}
	var answer struct {
		Collections []struct {
			Name  string `json:"name"`
			Count int64  `json:"count"`
		} `json:"collections"`
	}
	raw := bytes.TrimSpace(said.b)
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("what chromadb answered cannot be read: %w", err)
	}
	counts := map[string]int64{}
	for _, c := range answer.Collections {
		counts[c.Name] = c.Count
	}
	for _, c := range pt.facts.Collections {
		if got := counts[c.Row.Name]; c.Rows != nil && got != *c.Rows {
			return refuse(NotVerified, run.r.path(), "please report this", "chromadb counts %d drawers in %s, and there are %d", got, c.Row.Name, *c.Rows)
		}
	}
	run.result.Verified.Chroma = raw
	return nil
}

// tail keeps the first of what a child says, bounded.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	if room := 64<<10 - len(t.b); room > 0 {
		t.b = append(t.b, p[:min(len(p), room)]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	b := bytes.TrimSpace(t.b)
	return string(b[max(0, len(b)-1000):])
}
