package exact

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
	"castellan/palace/specimen"
)

// recorded is what MemPalace's own backend answered, see testdata/make.
type recorded struct {
	Dimension   int
	Embedders   map[string]string
	Collections map[string]struct {
		Count     int64
		IDs       []string
		Documents []string
		Metadatas []map[string]json.RawMessage
		Vectors   string `json:"sha256_vectors"`
		Where     []struct {
			Where json.RawMessage
			IDs   []string
		}
		WhereDocument []struct {
			WhereDocument json.RawMessage `json:"where_document"`
			IDs           []string
		} `json:"where_document"`
		Both []struct {
			Where         json.RawMessage
			WhereDocument json.RawMessage `json:"where_document"`
			IDs           []string
		}
		Facets map[string]map[string]int64
	}
}

func answers(t *testing.T) recorded {
	t.Helper()
	b, err := os.ReadFile("../../testdata/palaces/exact/expected.json")
	must(t, err)
	var r recorded
	must(t, json.Unmarshal(b, &r))
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sample copies the recorded palace.
func sample(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "palace")
	must(t, specimen.CopyFS(os.DirFS("../../testdata/palaces"), "exact", dir))
	return dir
}

func open(t *testing.T, dir string) *Palace {
	t.Helper()
	p, err := Open(t.Context(), dir, Options{})
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func collect(t *testing.T, c backend.Collection, q backend.Query) []backend.Record {
	t.Helper()
	var list []backend.Record
	must(t, backend.Walk(t.Context(), c, q, func(r backend.Record) error {
		list = append(list, r)
		return nil
	}))
	return list
}

func ids(list []backend.Record) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.ID
	}
	return out
}

func drawers(t *testing.T, p *Palace) backend.Collection {
	t.Helper()
	c, err := p.Collection(t.Context(), "mempalace_drawers")
	must(t, err)
	return c
}

func TestEverythingIsReadAsMemPalaceReadsIt(t *testing.T) {
	t.Parallel()
	want := answers(t)
	dir := sample(t)
	before, err := specimen.HashTree(dir)
	must(t, err)
	p, err := Open(t.Context(), dir, Options{})
	must(t, err)
	list, err := p.Collections(t.Context())
	must(t, err)
	if len(list) != len(want.Collections) || p.Kind() != backend.SQLiteExact {
		t.Errorf("%d collections of %s, want %d", len(list), p.Kind(), len(want.Collections))
	}
	for _, info := range list {
		w := want.Collections[info.Name]
		c, err := p.Collection(t.Context(), info.Name)
		must(t, err)
		if diff := cmp.Diff(info, c.Info()); diff != "" {
			t.Error(diff)
		}
		if info.Embedder != want.Embedders[info.Name] || info.Space != "cosine" {
			t.Errorf("%s: embedder %q, space %q", info.Name, info.Embedder, info.Space)
		}
		if (info.Dimension != nil) != (w.Count > 0) || info.Dimension != nil && *info.Dimension != want.Dimension {
			t.Errorf("%s: dimension %v, want %d", info.Name, info.Dimension, want.Dimension)
		}
		n, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		if n != w.Count {
			t.Errorf("%s: %d rows, want %d", info.Name, n, w.Count)
		}
		rows := collect(t, c, backend.Query{Include: backend.Documents | backend.Metadatas | backend.Embeddings, Limit: 7})
		if !slices.Equal(ids(rows), w.IDs) {
			t.Fatalf("%s: ids %q, want %q", info.Name, ids(rows), w.IDs)
		}
		sum := sha256.New()
		for i, r := range rows {
			if r.Document == nil || *r.Document != w.Documents[i] {
				t.Errorf("%s: document %v, want %q", r.ID, r.Document, w.Documents[i])
			}
			if diff := cmp.Diff(asContract(t, w.Metadatas[i]), r.Metadata); diff != "" {
				t.Errorf("%s: %s", r.ID, diff)
			}
			must(t, binary.Write(sum, binary.LittleEndian, r.Embedding))
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != w.Vectors {
			t.Errorf("%s: the vectors differ", info.Name)
		}
	}
	must(t, p.Close())
	after, err := specimen.HashTree(dir)
	must(t, err)
	for _, line := range specimen.Diff(before, after) {
		t.Errorf("reading changed the palace: %s", line)
	}
}

// asContract states, apart from the package's own code, what recorded metadata
// becomes: types kept apart, null left out, what has no type as its JSON.
func asContract(t *testing.T, m map[string]json.RawMessage) backend.Metadata {
	t.Helper()
	out := backend.Metadata{}
	for k, raw := range m {
		switch string(raw) {
		case "null":
			continue
		case "[]":
			out[k] = []string{}
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			var texts []string
			var numbers []int64
			switch {
			case json.Unmarshal(raw, &texts) == nil && !slices.ContainsFunc(list, isNull):
				out[k] = texts
			case json.Unmarshal(raw, &numbers) == nil && !slices.ContainsFunc(list, isNull):
				out[k] = numbers
			default:
				out[k] = compact(t, raw)
			}
			continue
		}
		var n int64
		var f float64
		var v any
		switch {
		case raw[0] == '{':
			out[k] = compact(t, raw)
		case json.Unmarshal(raw, &n) == nil:
			out[k] = n
		case json.Unmarshal(raw, &f) == nil:
			out[k] = f
		default:
			must(t, json.Unmarshal(raw, &v))
			out[k] = v
		}
	}
	return out
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	must(t, json.Unmarshal(raw, &v))
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func TestFacetsKeepTypesApartAndAddUp(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	w := answers(t).Collections["mempalace_drawers"]
	c := drawers(t, p)
	for _, key := range []string{"wing", "room", "source_file", "chunk_index"} {
		facets, err := c.Facets(t.Context(), backend.Filter{}, key)
		must(t, err)
		want := map[string]int64{}
		for _, m := range w.Metadatas {
			v := asContract(t, m)[key]
			want[fmt.Sprintf("%T %v", v, v)]++
		}
		got := map[string]int64{}
		var sum int64
		merged := map[string]int64{}
		for _, f := range facets {
			got[fmt.Sprintf("%T %v", f.Values[0], f.Values[0])] = f.Rows
			sum += f.Rows
			// MemPalace itself shows texts, so that 7 and "7" become one.
			switch v := f.Values[0].(type) {
			case nil:
			case bool:
				merged["1"] += f.Rows
			default:
				merged[backend.Text(v)] += f.Rows
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
		if diff := cmp.Diff(w.Facets[key], merged); diff != "" {
			t.Errorf("%s as MemPalace counts: %s", key, diff)
		}
		if sum != w.Count {
			t.Errorf("%s: adds up to %d, want %d", key, sum, w.Count)
		}
		if !slices.IsSortedFunc(facets, func(a, b backend.Facet) int { return int(b.Rows - a.Rows) }) {
			t.Errorf("%s: not the largest first", key)
		}
	}
	if _, err := c.Facets(t.Context(), backend.Filter{}); err == nil {
		t.Error("facets of nothing")
	}
}

func TestUseAfterCloseFailsAtOnceAndForEver(t *testing.T) {
	t.Parallel()
	p, err := Open(t.Context(), sample(t), Options{})
	must(t, err)
	c := drawers(t, p)
	must(t, p.Close())
	must(t, p.Close())
	for range 2 {
		for name, err := range map[string]error{
			"Collections": second(p.Collections(t.Context())),
			"Collection":  second(p.Collection(t.Context(), "mempalace_drawers")),
			"Count":       second(c.Count(t.Context(), backend.Filter{})),
			"Get":         second(c.Get(t.Context(), backend.Query{})),
			"Facets":      second(c.Facets(t.Context(), backend.Filter{}, "wing")),
		} {
			if !errors.Is(err, backend.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", name, err)
			}
		}
	}
	if c.Info().Name != "mempalace_drawers" {
		t.Error("what was known is forgotten")
	}
}

func second[T any](_ T, err error) error { return err }

func TestUnknownCollectionIsNamedWithThoseThereAre(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	_, err := p.Collection(t.Context(), "other")
	var missing *backend.CollectionNotFoundError
	if !errors.As(err, &missing) || len(missing.Known) != 3 {
		t.Errorf("%v", err)
	}
}

func TestABadPageMarkIsAnError(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	if _, err := drawers(t, p).Get(t.Context(), backend.Query{After: "x"}); err == nil {
		t.Error("no error")
	}
}

func TestACancelledQuestionEnds(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	c := drawers(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, backend.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPythonsNumbersAreComparedExactly(t *testing.T) {
	t.Parallel()
	m := decode([]byte(`{"nan": NaN, "inf": Infinity, "low": [-Infinity], "big": 18446744073709551617, "text": "NaN, \"Infinity"}`))
	if f, ok := m["nan"].(float64); !ok || !math.IsNaN(f) || m["inf"] != math.Inf(1) || m["text"] != `NaN, "Infinity` {
		t.Errorf("%v", m)
	}
	for _, tt := range []struct {
		c    backend.Compare
		want bool
	}{
		{backend.Compare{Key: "nan", Op: backend.Eq, Value: math.NaN()}, false},
		{backend.Compare{Key: "nan", Op: backend.Ne, Value: 1.0}, true},
		{backend.Compare{Key: "inf", Op: backend.Gt, Value: int64(math.MaxInt64)}, true},
		{backend.Compare{Key: "big", Op: backend.Gt, Value: float64(1 << 63)}, true},
		{backend.Compare{Key: "big", Op: backend.Eq, Value: 18446744073709551616.0}, false},
		{backend.Compare{Key: "low", Op: backend.Contains, Value: "[-inf]"}, true},
	} {
		if got := matches(tt.c, m); got != tt.want {
			t.Errorf("%+v: %v", tt.c, got)
		}
	}
}
