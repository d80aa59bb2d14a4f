//go:build interop

package health

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"castellan/palace/specimen"
)

const askMemPalace = `
import json, sys
from mempalace.backends.chroma import hnsw_capacity_status
print(json.dumps([hnsw_capacity_status(p) for p in sys.argv[1:]]))
`

// What is said of MemPalace's own verdict is what it says, on every specimen.
func TestMemPalacesVerdictIsForetold(t *testing.T) {
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no Python with mempalace")
	}
	type asked struct{ name, dir, says string }
	var list []asked
	args := []string{"-c", askMemPalace}
	for _, s := range specimen.All() {
		dir := filepath.Join(t.TempDir(), "palace")
		if err := s.Make(t.Context(), os.DirFS(filepath.Join("..", "..", "testdata", "palaces")), dir); err != nil {
			t.Fatal(err)
		}
		r := reportOn(t, dir, Sampled)
		for _, c := range r.Collections {
			if c.Name == "mempalace_drawers" && c.OpenedBy != nil && c.OpenedBy.MemPalace != nil {
				list = append(list, asked{s.Name, dir, c.OpenedBy.MemPalace.Says})
				args = append(args, dir)
			}
		}
	}
	if len(list) < 40 {
		t.Fatalf("only %d specimens could be asked about", len(list))
	}
	cmd := exec.Command(python, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ANONYMIZED_TELEMETRY=False")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var said []struct{ Status, Message string }
	if err := json.Unmarshal(out, &said); err != nil || len(said) != len(list) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, a := range list {
		if said[i].Status != a.says {
			t.Errorf("%s: it says %s (%s), foretold was %s", a.name, said[i].Status, said[i].Message, a.says)
		}
	}
}
