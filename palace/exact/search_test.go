package exact

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

func TestSearchRanksByCosineAndTiesByInsertion(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	must(t, w.Add(t.Context(), []backend.Record{
		record("away", "", -2, 0), record("across", "", 0, 3), record("far along", "", 100, 0), record("zero", "", 0, 0),
		record("near along", "", 0.5, 0), record("slant", "", 1, 1),
	}))
	got, err := w.Search(t.Context(), []float32{7, 0}, 10, backend.Filter{}, everything)
	must(t, err)
	var list []string
	for _, h := range got {
		list = append(list, fmt.Sprintf("%s %.4f", h.ID, h.Distance))
	}
	want := []string{"far along 0.0000", "near along 0.0000", "slant 0.2929", "across 1.0000", "zero 1.0000", "away 2.0000"}
	if !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
	if got[2].Metadata["wing"] != "home" || !slices.Equal(got[2].Embedding, []float32{1, 1}) || got[2].Document == nil {
		t.Errorf("%+v", got[2])
	}
	zero, err := w.Search(t.Context(), []float32{0, 0}, 2, backend.Filter{}, 0)
	must(t, err)
	if len(zero) != 2 || zero[0].ID != "away" || zero[0].Distance != 1 || zero[0].Document != nil {
		t.Errorf("%+v", zero)
	}
	for _, k := range []int{0, -1} {
		if none, err := w.Search(t.Context(), []float32{1, 0}, k, backend.Filter{}, 0); err != nil || len(none) != 0 {
			t.Errorf("k %d: %v, %v", k, none, err)
		}
	}
	for _, bad := range [][]float32{nil, {float32(math.NaN()), 1}} {
		if _, err := w.Search(t.Context(), bad, 1, backend.Filter{}, 0); err == nil {
			t.Errorf("%v was taken for a vector", bad)
		}
	}
}

func TestSearchFindsTheSameAsSortingEverything(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	r := rand.New(rand.NewPCG(1, 2))
	var list []backend.Record
	for i := range 600 {
		v := []float32{float32(r.IntN(5) - 2), float32(r.IntN(5) - 2), float32(r.IntN(5) - 2)}
		rec := record(fmt.Sprint("id", i), "", v...)
		rec.Metadata["room"] = fmt.Sprint("room", i%3)
		list = append(list, rec)
	}
	must(t, w.Add(t.Context(), list))
	query := []float32{1, -2, 0.5}
	for _, f := range []backend.Filter{{}, {Where: backend.Equal("room", "room1")}, {IDs: []string{"id7", "id9", "id400"}}} {
		type scored struct {
			id string
			d  float32
		}
		var all []scored
		for _, rec := range collect(t, w, backend.Query{Filter: f, Include: backend.Embeddings}) {
			var dot, a, b float64
			for i, x := range rec.Embedding {
				dot, a, b = dot+float64(x)*float64(query[i]), a+float64(x)*float64(x), b+float64(query[i])*float64(query[i])
			}
			d := float32(1)
			if a > 0 {
				d = float32(1 - dot/math.Sqrt(a)/math.Sqrt(b))
			}
			all = append(all, scored{rec.ID, d})
		}
		slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
		for _, k := range []int{1, 5, 50, 1000} {
			got, err := w.Search(t.Context(), query, k, f, 0)
			must(t, err)
			if len(got) != min(k, len(all)) {
				t.Fatalf("%+v: %d of %d", f, len(got), len(all))
			}
			for i, h := range got {
				if math.Abs(h.Distance-float64(all[i].d)) > 1e-6 {
					t.Errorf("%+v: hit %d of %d is %s with %g, want %s with %g", f, i, k, h.ID, h.Distance, all[i].id, all[i].d)
				}
			}
		}
	}
}

func TestDamagedVectorsAreNobodysNeighbours(t *testing.T) {
	t.Parallel()
	dir := change(t, sample(t),
		"UPDATE documents SET embedding = x'00112233' WHERE id = 'flags'",
		"UPDATE documents SET embedding = zeroblob(0) WHERE id = 'big'",
		"UPDATE documents SET embedding = 'text' WHERE id = 'lists'",
		"UPDATE documents SET embedding = CAST(x'0000807f' || substr(embedding, 5) AS BLOB) WHERE id = 'nested'") // an infinity
	c := drawers(t, open(t, dir)).(*Collection)
	got, err := c.Search(t.Context(), make([]float32, 16), 100, backend.Filter{}, 0)
	must(t, err)
	if len(got) != 67 {
		t.Errorf("%d hits, want the 70 without those that have no vector", len(got))
	}
	near := got[0]
	q := collect(t, c, backend.Query{Filter: backend.Filter{IDs: []string{near.ID}}, Include: backend.Embeddings})[0].Embedding
	got, err = c.Search(t.Context(), q, 100, backend.Filter{}, 0)
	must(t, err)
	if last := got[len(got)-1]; got[0].ID != near.ID || got[0].Distance > 1e-6 || last.ID != "nested" || !math.IsNaN(last.Distance) {
		t.Errorf("first %+v, last %+v", got[0], last)
	}
}

func TestWordsAreFoundWithAndWithoutTheIndex(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	must(t, w.Add(t.Context(), []backend.Record{
		record("one", "the keeper keeps the gate", 1), record("two", "GATE gate gate", 1), record("three", "nothing of the kind", 1),
		record("four", "", 1), record("five", "x y z", 1),
	}))
	other := record("else", "gate of another room", 1)
	other.Metadata["room"] = "attic"
	must(t, w.Add(t.Context(), []backend.Record{other}))
	search := func(words string, k int, where backend.Where) (list []string) {
		t.Helper()
		hits, err := w.LexicalSearch(t.Context(), words, k, where)
		must(t, err)
		for i, h := range hits {
			list = append(list, h.ID)
			if h.Document == nil || h.Metadata["wing"] != "home" || h.Score <= 0 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%q: %+v", words, h)
			}
		}
		return list
	}
	all := func() map[string][]string {
		return map[string][]string{
			"gate":           search("Gate!", 10, nil),
			"best":           search("gate", 1, nil),
			"room":           search("gate", 10, backend.Equal("room", "attic")),
			"any of them":    search("keeper nothing", 10, nil),
			"operators":      search(`NOT "gate" AND (x*`, 10, nil),
			"short words":    search("x y z", 10, nil),
			"nothing":        search("", 10, nil),
			"nobody has it":  search("drawbridge", 10, nil),
			"none asked for": search("gate", 0, nil),
		}
	}
	want := map[string][]string{
		"gate": {"two", "else", "one"}, "best": {"two"}, "room": {"else"}, "any of them": {"three", "one"}, "operators": {"two", "else", "one"},
		"short words": nil, "nothing": nil, "nobody has it": nil, "none asked for": nil,
	}
	if diff := gocmp.Diff(want, all()); diff != "" {
		t.Errorf("by the index: %s", diff)
	}
	dir := w.to.dir
	change(t, dir, "DROP TABLE docs_fts") // although meta says it is there
	if diff := gocmp.Diff(want, all()); diff != "" {
		t.Errorf("by reading, the table gone: %s", diff)
	}
	change(t, dir, "UPDATE meta SET value = '0'")
	if diff := gocmp.Diff(want, all()); diff != "" {
		t.Errorf("by reading: %s", diff)
	}
	_, err := w.LexicalSearch(t.Context(), "gate", 1, backend.Compare{Key: "a", Op: backend.Regex, Value: "x"})
	var unsupported *backend.UnsupportedFilterError
	if !errors.As(err, &unsupported) {
		t.Errorf("%v", err)
	}
}

func TestTokensAreThoseOfPython(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Straße wing_code x1 a": {"straße", "wing_code", "x1"},
		"ΣΟΦΟΣ":                 {"σοφος"[:len("σοφο")] + "ς"}, // Python has the final sigma
		"İstanbul":              {"stanbul"},                   // i and a combining dot, which is no part of a word
		"don't 日本語 ²³ ½x":       {"don", "日本語", "²³", "½x"},
		"\x00ab\x00":            {"ab"},
		"🎉🎉":                    nil,
	} {
		if got := tokenize(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
