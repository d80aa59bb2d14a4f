package embed

import (
	"errors"
	"hash/fnv"
	"math"
	"testing"
)

func TestNamesOfOneModelAreOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "minilm", "MiniLM", "onnx_mini_lm_l6_v2", "sentence-transformers/all-MiniLM-L6-v2"} {
		if !Same(name, MiniLM) || Supported(name) != nil {
			t.Errorf("%s is %s", name, Canonical(name))
		}
	}
	for _, name := range []string{"embeddinggemma_300m", "embeddinggemma", "nonsemantic-hash-v1", "openai", ""} {
		var no *UnsupportedError
		if Same(name, MiniLM) || !errors.As(Supported(name), &no) {
			t.Errorf("%q passes for MiniLM", name)
		}
	}
}

func TestOtherWeightsFailTheReference(t *testing.T) {
	t.Parallel()
	m := load(t, tiny)
	got, ok, err := m.Reference(t.Context())
	if err != nil || ok || got == [3]float64{} {
		t.Errorf("%v %v %v", got, ok, err)
	}
	sum, err := m.Sum(t.Context())
	if err != nil || sum != sumOf(tinyFile(t, onnxFile)) || KnownSum(sum) != "" {
		t.Errorf("%s %v", sum, err)
	}
	if rate, err := m.Rate(t.Context(), 0); err != nil || rate <= 0 {
		t.Errorf("%v %v", rate, err)
	}
}

func TestHashingCountsWordsAndPairs(t *testing.T) {
	t.Parallel()
	v, err := NewHash().EmbedQuery(t.Context(), "Copper, HARBOR!")
	if err != nil || len(v) != 256 {
		t.Fatalf("%d %v", len(v), err)
	}
	want := make([]float64, 256)
	for _, feature := range []string{"copper", "harbor", "copper harbor"} {
		h := fnv.New64a()
		h.Write([]byte(feature))
		if h.Sum64() < 1<<63 {
			want[h.Sum64()&255]++
		} else {
			want[h.Sum64()&255]--
		}
	}
	for i := range want {
		if d := math.Abs(float64(v[i]) - want[i]/math.Sqrt(3)); d > 1e-6 {
			t.Errorf("place %d is %v", i, v[i])
		}
	}
	if v, err := NewHash().EmbedQuery(t.Context(), "..."); err != nil || v[0] != 0 {
		t.Errorf("no words: %v %v", v[:3], err)
	}
}
