package search

import (
	"testing"

	"castellan/palace/embed"
)

// A mix of models of one size is seen by nothing but the recorded names.
func TestWhoMadeTheVectorsDecidesWhetherTheyAreCompared(t *testing.T) {
	t.Parallel()
	three := 3
	for _, c := range []struct {
		chroma, mempalace string
		dimension         *int
		err               error
		want              string // empty: compared
	}{
		{chroma: "default"},
		{chroma: "onnx_mini_lm_l6_v2", mempalace: "minilm"},
		{chroma: "embeddinggemma_300m", want: "embeddinggemma cannot be run here"},
		{chroma: "default", mempalace: "embeddinggemma", want: "embeddinggemma cannot be run here"},
		{chroma: "openai", want: "made by openai and the model here is minilm"},
		{chroma: "default", dimension: &three, want: "have 3 floats and minilm makes 2"},
		{chroma: "default", err: &embed.MissingError{}, want: "castellan model fetch gets it"},
	} {
		m, _ := library()
		m.info.Embedder, m.info.Dimension = c.chroma, c.dimension
		o := Options{Made: c.mempalace, Embedder: fixed{identity: embed.MiniLM, vectors: map[string][]float32{"harbor": {1, 0}}, err: c.err}}
		a := ask(t, m, o, Question{Words: "harbor"})
		switch {
		case c.want != "":
			degraded(t, a, Keyword, c.want)
		case a.Degraded || a.Engine != Exact:
			t.Errorf("%+v: %s", c, a.Reason)
		}
	}
}
