//go:build interop

package health

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const nulDocuments = `
import chromadb, sys
c = chromadb.PersistentClient(sys.argv[1]).create_collection("mempalace_drawers", metadata={"hnsw:space": "cosine"})
c.add(ids=["a", "b"], documents=["hello\x00world and more", "plain"], embeddings=[[1, 0], [0, 1]], metadatas=[{"wing": "w"}] * 2)
`

func TestADocumentWithANULIsNoDamage(t *testing.T) {
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no Python with chromadb")
	}
	dir := filepath.Join(t.TempDir(), "palace")
	if out, err := exec.Command(python, "-c", nulDocuments, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := reportOn(t, dir, Full)
	if r.Verdict != VerdictOK || slices.Contains(codesOf(r), FTSDamaged) {
		t.Fatalf("a palace that Chroma wrote a moment ago is called %s: %v", r.Verdict, codesOf(r))
	}
}
