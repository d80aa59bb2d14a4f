//go:build interop

package cli_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"castellan/views/cli"
)

// A palace that Chroma made with its own embedding function, asked in words:
// the model is found in Chroma's cache, and the distances are Chroma's.
func TestAQuestionIsAsNearToDrawersAsChromaSays(t *testing.T) {
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no Python with chromadb")
	}
	home := t.TempDir()
	model := filepath.Join(home, ".cache", "chroma", "onnx_models", "all-MiniLM-L6-v2", "onnx")
	if err := os.MkdirAll(model, 0o700); err != nil {
		t.Fatal(err)
	}
	peer := func(in any, args ...string) []byte {
		t.Helper()
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		script := filepath.Join("..", "..", "palace", "embed", "testdata", "peer.py")
		cmd := exec.CommandContext(t.Context(), python, append([]string{script}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin, cmd.Stderr = bytes.NewReader(b), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := string(peer(nil, "prepare", model)); strings.HasPrefix(out, "SKIP") {
		t.Skip(out)
	}
	// Chroma wants to see all of its files, and reads three of them.
	for _, name := range []string{"special_tokens_map.json", "tokenizer_config.json", "vocab.txt"} {
		if err := os.WriteFile(filepath.Join(model, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{
		"We moved the ledger to Postgres because SQLite locked under the nightly import.",
		"The cat sleeps on the radiator all winter.", "Bread needs flour, water, salt and time.",
		"Decision: one writer for the database, everything else reads.", "Train tickets to Lyon are cheaper on Tuesdays.",
	}
	const question = "why did we change the database"
	palace := filepath.Join(home, "palace")
	var want map[string]float64
	if err := json.Unmarshal(peer(append(texts, question), "palace", palace), &want); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("CASTELLAN_MODEL_DIR", "")
	var out, said bytes.Buffer
	args := []string{"search", question, "--palace", palace, "--results", "5", "--json"}
	if code := (cli.Program{Args: args, Out: &out, Err: &said}).Run(t.Context()); code != 0 {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	var got struct {
		Engine   string
		Reason   string `json:"engine_reason"`
		Degraded bool
		Results  []struct {
			ID       string
			Distance *float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Engine != "exact" || got.Degraded || len(got.Results) != len(texts) {
		t.Fatalf("%s, %d hits: %s", got.Engine, len(got.Results), got.Reason)
	}
	for _, hit := range got.Results {
		if w, ok := want[hit.ID]; !ok || hit.Distance == nil || math.Abs(*hit.Distance-w) > 1e-5 {
			t.Errorf("%s is at %v, Chroma says %v", hit.ID, hit.Distance, w)
		}
	}
	if id := got.Results[0].ID; id != "d0" && id != "d3" {
		t.Errorf("%q is nearest to %s", question, id)
	}
}
