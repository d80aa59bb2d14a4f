//go:build interop

package exact

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

// random makes records and filters from few values, so that they meet often.
type random struct{ *rand.Rand }

func pick[T any](r random, list ...T) T { return list[r.IntN(len(list))] }

var (
	someWords  = []string{"palace", "Straße", "ΣΟΦΟΣ", "İstanbul", "日本語", "wing_code", "a", "x1", "naïve", "and", "NOT", "drawer's", "\x00", "🎉", "don't", "  ", "\n"}
	someFloats = []float64{0, 1, -0.5, 1e16, 1e15, 123456789.125, 1e-5, 0.0001, 5e-324, math.MaxFloat64, 0.1, 1e22}
	someInts   = []int64{0, 1, 2, -1, math.MaxInt64, math.MinInt64, 9007199254740993}
	someTexts  = []string{"", "home", "wing", "日本", "tab\t", "\u2028", "\x7f", "\x00", "\x1f\b\f", `q"\`, "<&>", "🎉", "7", "1.0"}
	someKeys   = []string{"wing", "room", "hall", "source_file", "n", "a key", "", "ключ", "q\"", "🎉", "\uffff"}
	operations = []string{"add", "add", "upsert", "upsert", "upsert", "update", "update", "delete", "delete where", "again", "embedder", "wrong dimension"}
)

func (r random) text() string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(pick(r, someWords...))
		b.WriteString(pick(r, " ", " ", "-", ""))
	}
	return b.String()
}

func (r random) value() any {
	switch r.IntN(8) {
	case 0, 1:
		return pick(r, someInts...)
	case 2:
		return pick(r, someFloats...)
	case 3:
		return r.IntN(2) == 0
	case 4:
		return []string{pick(r, someTexts...), pick(r, someTexts...)}
	case 5:
		return []float64{pick(r, someFloats...)}
	}
	return pick(r, someTexts...)
}

func (r random) metadata() backend.Metadata {
	m := backend.Metadata{}
	for range r.IntN(5) {
		if k, v := pick(r, someKeys...), r.value(); !slices.Contains(indexed, k) || portable(v) {
			m[k] = v
		}
	}
	return m
}

func (r random) vector() []float32 {
	v := make([]float32, 3)
	for i := range v {
		v[i] = pick(r, 0, 1, -1, 0.5, 0.1, float32(r.NormFloat64()))
	}
	return v
}

func (r random) ids(n int) []string {
	list := make([]string, 25)
	for i := range list {
		list[i] = fmt.Sprintf("id %d 日", i)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}

func (r random) records() []backend.Record {
	var list []backend.Record
	for _, id := range r.ids(1 + r.IntN(4)) {
		doc := r.text()
		list = append(list, backend.Record{ID: id, Document: &doc, Metadata: r.metadata(), Embedding: r.vector()})
	}
	return list
}

// operation does one thing to a palace of ours and says how MemPalace does the
// same to its own.
func (r random) operation(t *testing.T, w *Writer, palace string) (step, error) {
	name := w.Info().Name
	switch op := pick(r, operations...); op {
	case "add":
		list := r.records()
		return asStep(palace, name, op, list), w.Add(t.Context(), list)
	case "upsert":
		list := r.records()
		return asStep(palace, name, op, list), w.Upsert(t.Context(), list)
	case "wrong dimension":
		list := r.records()
		list[len(list)-1].Embedding = []float32{1, 2}
		return asStep(palace, name, "upsert", list), w.Upsert(t.Context(), list)
	case "update":
		list := r.records()
		whole := asStep(palace, name, op, list)
		changes := make([]backend.Change, len(list))
		parts := 1 + r.IntN(7)
		for i, rec := range list {
			changes[i].ID = rec.ID
			if parts&1 != 0 {
				changes[i].Document = rec.Document
			}
			if parts&2 != 0 {
				changes[i].Metadata = rec.Metadata
			}
			if parts&4 != 0 {
				changes[i].Embedding = rec.Embedding
			}
		}
		for i, part := range []string{"documents", "metadatas", "embeddings"} {
			if parts&(1<<i) == 0 {
				delete(whole.Args, part)
			}
		}
		return whole, w.Update(t.Context(), changes)
	case "delete":
		ids := r.ids(r.IntN(3))
		_, err := w.Delete(t.Context(), backend.Filter{IDs: ids})
		return step{Palace: palace, Collection: name, Op: op, Args: map[string]any{"ids": ids}}, err
	case "delete where":
		wing := pick(r, "home", "日本", "🎉")
		_, err := w.Delete(t.Context(), backend.Filter{Where: backend.Equal("wing", wing)})
		return step{Palace: palace, Collection: name, Op: "delete", Args: map[string]any{"where": map[string]any{"wing": wing}}}, err
	case "embedder":
		model := pick(r, "minilm", "embeddinggemma")
		return step{Palace: palace, Collection: name, Op: "set_embedder", Args: map[string]any{"model": model}}, w.SetEmbedder(t.Context(), model)
	default: // the same palace, opened again
		must(t, w.to.Close())
		again, err := open(t, w.to.dir).Writable(Writing{}).Writer(t.Context(), name)
		must(t, err)
		*w = *again
		return step{Palace: palace, Collection: name, Op: "count"}, nil
	}
}

func TestTheSameOperationsMakeTheSamePalace(t *testing.T) {
	t.Parallel()
	type run struct{ ours, theirs string }
	var runs []run
	var steps []step
	var errs []error
	put := func(s step, err error) { steps, errs = append(steps, s), append(errs, err) }
	for seed := range uint64(12) {
		r := random{rand.New(rand.NewPCG(seed, 4))}
		p := run{filepath.Join(t.TempDir(), "ours"), filepath.Join(t.TempDir(), "theirs")}
		runs = append(runs, p)
		w := create(t, p.ours)
		put(step{Palace: p.theirs, Collection: w.info.Name, Op: "create_collection"}, nil)
		for range 60 {
			put(r.operation(t, w, p.theirs))
		}
	}
	failed := 0
	for i, a := range mempalace(t, steps...) {
		if (a.Error != "") != (errs[i] != nil) {
			t.Fatalf("step %d, %s: MemPalace says %q, we say %v", i, steps[i].Op, a.Error, errs[i])
		}
		var dimension *DimensionMismatchError
		if errors.As(errs[i], &dimension) != strings.HasPrefix(a.Error, "DimensionMismatchError") {
			t.Errorf("step %d: MemPalace says %q, we say %v", i, a.Error, errs[i])
		}
		if errs[i] != nil {
			failed++
		}
	}
	if failed == 0 || failed > len(steps)/2 {
		t.Errorf("%d of %d steps failed, which tests little", failed, len(steps))
	}
	for seed, p := range runs {
		if diff := cmp.Diff(contents(t, p.theirs), contents(t, p.ours)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		sound(t, p.ours)
		sound(t, p.theirs)
	}
}

// TestEachGoesOnWhereTheOtherStopped takes turns on one palace.
func TestEachGoesOnWhereTheOtherStopped(t *testing.T) {
	t.Parallel()
	r := random{rand.New(rand.NewPCG(1, 5))}
	shared, control := filepath.Join(t.TempDir(), "shared"), filepath.Join(t.TempDir(), "control")
	w := create(t, shared)
	scratch := create(t, filepath.Join(t.TempDir(), "scratch"))
	history := []step{{Palace: control, Collection: w.info.Name, Op: "create_collection"}}
	for turn := range 6 {
		var theirs []step
		for range 15 {
			if turn%2 == 0 {
				s, _ := r.operation(t, w, control)
				history = append(history, s)
				continue
			}
			s, _ := r.operation(t, scratch, shared)
			theirs = append(theirs, s)
			s.Palace = control
			history = append(history, s)
		}
		if len(theirs) > 0 {
			mempalace(t, theirs...)
		}
		askBoth(t, r, w)
	}
	mempalace(t, history...)
	if diff := cmp.Diff(contents(t, control), contents(t, shared)); diff != "" {
		t.Error(diff)
	}
	sound(t, shared)
}

// askBoth puts the same questions to MemPalace and to us.
func askBoth(t *testing.T, r random, w *Writer) {
	t.Helper()
	dir, name := w.to.dir, w.info.Name
	wheres := []string{
		`{"wing": "home"}`, `{"n": {"$gte": 1}}`, `{"room": {"$ne": "home"}}`, `{"$or": [{"hall": "日本"}, {"wing": {"$in": ["🎉", ""]}}]}`,
		`{"$and": [{"source_file": {"$nin": ["home"]}}, {"n": {"$contains": "1"}}]}`,
	}
	var steps []step
	var check []func(answer)
	put := func(s step, f func(answer)) {
		s.Palace, s.Collection = dir, name
		steps, check = append(steps, s), append(check, f)
	}
	put(step{Op: "count"}, func(a answer) {
		n, err := w.Count(t.Context(), backend.Filter{})
		must(t, err)
		if want := answered[int64](t, a); n != want {
			t.Errorf("count %d, MemPalace %d", n, want)
		}
	})
	put(step{Op: "embedder"}, func(a answer) {
		c, err := w.to.Collection(t.Context(), name)
		must(t, err)
		if want := answered[[]any](t, a); want != nil && want[0] != c.Info().Embedder {
			t.Errorf("embedder %q, MemPalace %v", c.Info().Embedder, want)
		}
	})
	ids := func(f backend.Filter) func(answer) {
		return func(a answer) {
			want := answered[struct {
				IDs        []string    `json:"ids"`
				Documents  []string    `json:"documents"`
				Embeddings [][]float32 `json:"embeddings"`
			}](t, a)
			got := collect(t, w, backend.Query{Filter: f, Include: everything})
			if len(got) != len(want.IDs) {
				t.Errorf("%+v: %d records, MemPalace has %d", f, len(got), len(want.IDs))
				return
			}
			for i, rec := range got {
				if rec.ID != want.IDs[i] || *rec.Document != want.Documents[i] || !slices.Equal(rec.Embedding, want.Embeddings[i]) {
					t.Errorf("%+v: record %d is %+v, MemPalace: %+v", f, i, rec, want)
					break
				}
			}
		}
	}
	put(step{Op: "get"}, ids(backend.Filter{}))
	for _, text := range wheres {
		where, err := backend.ParseWhere([]byte(text))
		must(t, err)
		put(step{Op: "get", Args: map[string]any{"where": raw(text)}}, ids(backend.Filter{Where: where}))
		v, k := r.vector(), 1+r.IntN(6)
		put(step{Op: "query", Args: map[string]any{"query_embeddings": [][]float32{v}, "n_results": k, "where": raw(text)}},
			func(a answer) { sameNearest(t, w, v, k, backend.Filter{Where: where}, a) })
		for _, readOnly := range []bool{false, true} {
			words := r.text()
			put(step{Op: "lexical_search", ReadOnly: readOnly, Args: map[string]any{"query": words, "n_results": k, "where": raw(text)}},
				func(a answer) { sameWords(t, w, words, k, where, a) })
		}
	}
	text := backend.TextMatch{Op: backend.Contains, Text: "Straße"}
	put(step{Op: "get", Args: map[string]any{"where_document": raw(`{"$contains": "Straße"}`)}}, ids(backend.Filter{WhereDocument: text}))
	for range 4 {
		v, words := r.vector(), r.text()
		put(step{Op: "query", Args: map[string]any{"query_embeddings": [][]float32{v}, "n_results": 100}},
			func(a answer) { sameNearest(t, w, v, 100, backend.Filter{}, a) })
		put(step{Op: "lexical_search", Args: map[string]any{"query": words, "n_results": 5}},
			func(a answer) { sameWords(t, w, words, 5, nil, a) })
	}
	for i, a := range mempalace(t, steps...) {
		check[i](a)
	}
}

// TestBothHaveThePalaceOpenAtOnce: handles that were opened before a write of
// the other see it, MemPalace's frozen read-only ones included.
func TestBothHaveThePalaceOpenAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	w := create(t, dir)
	must(t, w.Add(t.Context(), []backend.Record{record("first", "words", 1, 0)}))
	p := startPeer(t)
	want := 1
	check := func(what string, readOnly bool) {
		t.Helper()
		s := step{Palace: dir, Collection: w.info.Name, ReadOnly: readOnly, Op: "query", Args: map[string]any{"query_embeddings": [][]float32{{1, 0}}, "n_results": 100}}
		got := answered[struct{ IDs []string }](t, p.play(t, s))
		n, err := w.Count(t.Context(), backend.Filter{})
		must(t, err)
		if len(got.IDs) != want || n != int64(want) {
			t.Errorf("%s: MemPalace finds %d, we count %d, want %d", what, len(got.IDs), n, want)
		}
	}
	check("a frozen reader", true)
	for i := range 4 {
		must(t, w.Add(t.Context(), []backend.Record{record(fmt.Sprint("ours", i), "words", 1, 0)}))
		want++
		check("the frozen reader after our write", true)
	}
	check("a writer", false)
	for i := range 4 {
		a := p.play(t, asStep(dir, w.info.Name, "add", []backend.Record{record(fmt.Sprint("theirs", i), "words", 1, 0)}))
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		want++
		check("the writer after its own write", false)
		must(t, w.Add(t.Context(), []backend.Record{record(fmt.Sprint("ours beside", i), "words", 1, 0)}))
		want++
		check("the writer after ours", false)
		check("the reader after both", true)
	}
	must(t, p.end())
	n, err := drawers(t, open(t, dir)).Count(t.Context(), backend.Filter{})
	must(t, err)
	if n != int64(want) {
		t.Errorf("%d records afterwards, want %d", n, want)
	}
	sound(t, dir)
}
