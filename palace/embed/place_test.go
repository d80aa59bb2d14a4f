package embed

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheModelIsLookedForWhereItIsSaidToBeAndThenNowhereElse(t *testing.T) {
	env := func(name string) string { return map[string]string{"CASTELLAN_MODEL_DIR": "/from/env"}[name] }
	for named, want := range map[string][]Place{"/here": {{"/here", "--model-dir"}}, "": {{"/from/env", "CASTELLAN_MODEL_DIR"}}} {
		if got, err := Places(named, env); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", named, got, err)
		}
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{"XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, filepath.Join(home, "cache"))
	}
	got, err := Places("", func(string) string { return "" })
	if err != nil || len(got) != 2 {
		t.Fatalf("%v %v", got, err)
	}
	if want := filepath.Join(home, ".cache", "chroma", "onnx_models", "all-MiniLM-L6-v2", "onnx"); got[0].Dir != want {
		t.Errorf("first %s", got[0].Dir)
	}
	if !strings.HasPrefix(got[1].Dir, home) || !strings.Contains(got[1].Dir, "castellan") {
		t.Errorf("then %s", got[1].Dir)
	}
}

// Chroma unpacks in place, so its cache may hold half a model; a good one of
// ours must not be kept from answering by that.
func TestAGoodModelBehindADamagedOneIsTaken(t *testing.T) {
	t.Parallel()
	damaged := copyModel(t, safetensorsFile)
	if err := os.Truncate(filepath.Join(damaged, onnxFile), 1000); err != nil {
		t.Fatal(err)
	}
	empty, good := t.TempDir(), copyModel(t)
	m, at, err := Open([]Place{{empty, "a"}, {damaged, "b"}, {good, "c"}})
	if err != nil || at.Source != "c" || m == nil {
		t.Fatalf("%v %v", at, err)
	}
	_, at, err = Open([]Place{{empty, "a"}, {damaged, "b"}})
	var bad *ModelError
	if !errors.As(err, &bad) || at.Dir != damaged {
		t.Errorf("%v %v", at, err)
	}
	_, _, err = Open([]Place{{empty, "a"}})
	var none *MissingError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), empty) || !strings.Contains(err.Error(), "castellan model fetch") {
		t.Errorf("%v", err)
	}
}

func TestTheFolderAboveIsUnderstood(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	if err := os.Rename(copyModel(t), filepath.Join(above, "onnx")); err != nil {
		t.Fatal(err)
	}
	if _, at, err := Open([]Place{{above, "--model-dir"}}); err != nil || at.Dir != filepath.Join(above, "onnx") {
		t.Errorf("%v %v", at, err)
	}
}
