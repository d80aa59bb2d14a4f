package embed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tinyFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(tiny, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withFile is the tiny model with one file replaced, and without the other kind
// of weights.
func withFile(t *testing.T, name string, b []byte) string {
	t.Helper()
	without := safetensorsFile
	if name == safetensorsFile {
		without = onnxFile
	}
	dir := copyModel(t, without)
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Half a download must never answer: vectors of half a model look like others.
func TestACutFileIsNoModel(t *testing.T) {
	t.Parallel()
	for _, name := range []string{onnxFile, safetensorsFile, tokenizerName, configFile} {
		whole := tinyFile(t, name)
		for _, n := range []int{0, 1, 7, 8, 100, len(whole) / 2, len(whole) - 5000, len(whole) - 1} {
			if n < 0 || n >= len(bytes.TrimSpace(whole)) {
				continue
			}
			_, err := Load(withFile(t, name, whole[:n]))
			var bad *ModelError
			if !errors.As(err, &bad) || filepath.Base(bad.Path) != name {
				t.Errorf("%s cut to %d bytes: %v", name, n, err)
			}
		}
	}
}

func TestWhatIsNotThisModelIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	replace := func(file, from, to string) []byte {
		b := tinyFile(t, file)
		if !bytes.Contains(b, []byte(from)) {
			t.Fatalf("%s holds no %q", file, from)
		}
		return bytes.ReplaceAll(b, []byte(from), []byte(to))
	}
	nan := tinyFile(t, safetensorsFile)
	binary.LittleEndian.PutUint32(nan[len(nan)-4:], 0x7fc00000)
	for _, c := range []struct {
		what, file string
		content    []byte
		want       string
	}{
		{"another operator", onnxFile, replace(onnxFile, "\"\x04Sqrt", "\"\x04Sqrp"), `the operator "Sqrp"`},
		{"a bias under another name", onnxFile, replace(onnxFile, "layer.1.output.dense.bias", "layer.1.output.dense.boas"), "is missing"},
		{"a norm under another name", onnxFile, replace(onnxFile, "layer.0.output.LayerNorm.weight", "layer.0.output.LayerNorm.weighs"), "is missing"},
		{"a header beyond the file", safetensorsFile, huge, "header"},
		{"no number", safetensorsFile, nan, "NaN"},
		{"fewer layers in the configuration", configFile, replace(configFile, `"num_hidden_layers": 2`, `"num_hidden_layers": 1`), "more layers"},
		{"more layers in the configuration", configFile, replace(configFile, `"num_hidden_layers": 2`, `"num_hidden_layers": 3`), "is missing"},
		{"another width", configFile, replace(configFile, `"hidden_size": 20`, `"hidden_size": 22`), "shape"},
		{"heads that do not divide", configFile, replace(configFile, `"num_attention_heads": 2`, `"num_attention_heads": 3`), "sizes"},
		{"another activation", configFile, replace(configFile, `"gelu"`, `"relu"`), "relu"},
		{"a tokenizer with capitals", tokenizerName, replace(tokenizerName, `"lowercase":true`, `"lowercase":false`), "normalises otherwise"},
		{"a tokenizer beyond the network", tokenizerName, replace(tokenizerName, `"weather":86`, `"weather":8600`), "beyond"},
		{"a tokenizer without an end", tokenizerName, replace(tokenizerName, `"[SEP]":3`, `"[XXX]":3`), `no "[SEP]"`},
	} {
		_, err := Load(withFile(t, c.file, c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func TestGemmaIsRecognisedAndRefused(t *testing.T) {
	t.Parallel()
	_, err := Load(withFile(t, configFile, []byte(`{"model_type": "gemma3_text", "hidden_size": 768}`)))
	var no *UnsupportedError
	if !errors.As(err, &no) || no.Model != Gemma {
		t.Errorf("%v", err)
	}
}

func TestNothingButAFileIsOpened(t *testing.T) {
	t.Parallel()
	dir := copyModel(t, onnxFile, safetensorsFile)
	if err := os.Mkdir(filepath.Join(dir, onnxFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("%v", err)
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestCancellingEndsABatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load(t, tiny).Embed(ctx, []string{"the palace", "a drawer"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestBytesThatAreNoTextCountAsNothing(t *testing.T) {
	t.Parallel()
	k := load(t, tiny).Tokenizer()
	got, want := k.Encode("the\xff palace\xc3"), k.Encode("the palace")
	if len(got) != len(want) || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, not %v", got, want)
	}
}

func FuzzWeights(f *testing.F) {
	f.Add(tinyFile(f, onnxFile))
	f.Add(tinyFile(f, safetensorsFile))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := readShape(tinyFile(t, configFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range []func([]byte) (weights, error){readONNX, readSafetensors} {
			if w, err := read(b); err == nil {
				newNetwork(s, w) // an error or a network; what must not be is a panic
			}
		}
	})
}

func FuzzEncode(f *testing.F) {
	m := load(f, tiny)
	for _, g := range goldens(f) {
		f.Add(g.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := m.Tokenizer().Encode(text)
		if len(ids) < 2 || len(ids) > maxTokens || ids[0] != m.tokenizer.begin || ids[len(ids)-1] != m.tokenizer.end {
			t.Errorf("%q: %v", text, ids)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= len(m.network.words)/m.Dimension() {
				t.Errorf("%q: token %d", text, id)
			}
		}
	})
}
