package chroma

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
)

func collection(t testing.TB, p *Palace, name string) *Collection {
	t.Helper()
	c, err := p.collection(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// walk reads a collection page by page.
func walk(t testing.TB, c backend.Collection, q backend.Query) []backend.Record {
	t.Helper()
	var list []backend.Record
	err := backend.Walk(t.Context(), c, q, func(r backend.Record) error {
		list = append(list, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func idsOf(list []backend.Record) []string {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids
}

func parse(t testing.TB, where, document string) backend.Filter {
	t.Helper()
	w, err := backend.ParseWhere([]byte(where))
	if err != nil {
		t.Fatal(where, err)
	}
	d, err := backend.ParseWhereDocument([]byte(document))
	if err != nil {
		t.Fatal(document, err)
	}
	return backend.Filter{Where: w, WhereDocument: d}
}

func TestASampleReadsAsItsServerAnswered(t *testing.T) {
	for _, name := range []string{"fresh", "healthy", "synced"} {
		want := expectedOf(t, name)
		dir := sample(t, name)
		before, err := specimen.HashTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		p := open(t, dir)
		for _, w := range want.Collections {
			c := collection(t, p, w.Name)
			if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != w.Count {
				t.Errorf("%s: %d records, %v", name, n, err)
			}
			list := walk(t, c, backend.Query{Include: backend.Embeddings, Limit: 97})
			ids := idsOf(list)
			if d := cmp.Diff(w.First, ids[:min(5, len(ids))]); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff(w.Last, ids[max(0, len(ids)-5):]); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			slices.SortFunc(list, func(a, b backend.Record) int { return strings.Compare(a.ID, b.ID) })
			if got := sum(strings.Join(idsOf(list), "\n")); got != w.IDs {
				t.Errorf("%s: the ids differ", name)
			}
			if name != "synced" { // there the index gives vectors back to about 1e-7
				if got := sumVectors(list); got != w.Vectors {
					t.Errorf("%s: the vectors differ", name)
				}
			}
			compareSample(t, name, c, w.Sample.IDs, w.Sample.Embeddings, w.Sample.Documents, w.Sample.URIs, w.Sample.Metadatas)
		}
		for _, f := range want.Filters {
			q := backend.Query{Filter: parse(t, string(f.Request.Where), string(f.Request.WhereDocument)), Limit: f.Request.Limit, Offset: f.Request.Offset}
			page, err := collection(t, p, "mempalace_drawers").Get(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(f.Response.IDs, idsOf(page.Records)); d != "" {
				t.Errorf("%s %s: %s", name, f.Request.Where, d)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := specimen.HashTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := specimen.Diff(before, after); len(d) != 0 {
			t.Errorf("%s: looking changed the palace: %s", name, d)
		}
	}
}

func compareSample(t *testing.T, name string, c *Collection, ids []string, vectors [][]float32, documents, uris []*string, metadatas []json.RawMessage) {
	t.Helper()
	list := walk(t, c, backend.Query{
		Filter:  backend.Filter{IDs: ids},
		Include: backend.Embeddings | backend.Documents | backend.Metadatas | backend.URIs,
	})
	if d := cmp.Diff(ids, idsOf(list)); d != "" {
		t.Fatalf("%s: %s", name, d)
	}
	for i, r := range list {
		if d := cmp.Diff(documents[i], r.Document); d != "" {
			t.Errorf("%s %s: %s", name, r.ID, d)
		}
		if uris != nil {
			if d := cmp.Diff(uris[i], r.URI); d != "" {
				t.Errorf("%s %s: %s", name, r.ID, d)
			}
		}
		metadata, _, err := backend.ParseMetadata(metadatas[i])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(metadata, r.Metadata); d != "" {
			t.Errorf("%s %s: %s", name, r.ID, d)
		}
		if len(r.Embedding) != len(vectors[i]) {
			t.Fatalf("%s %s: a vector of %d", name, r.ID, len(r.Embedding))
		}
		for k, x := range vectors[i] {
			if math.Abs(float64(x-r.Embedding[k])) > 1e-6 {
				t.Fatalf("%s %s: component %d is %v, want %v", name, r.ID, k, r.Embedding[k], x)
			}
		}
	}
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func sumVectors(list []backend.Record) string {
	h := sha256.New()
	for _, r := range list {
		for _, x := range r.Embedding {
			h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestEveryLiveVectorIsHandedOutOnce(t *testing.T) {
	c := collection(t, open(t, sample(t, "synced")), "mempalace_drawers")
	seen := map[string]bool{}
	err := c.EachVector(t.Context(), func(id string, v []float32) error {
		if seen[id] || len(v) != 384 {
			t.Fatalf("%s: again %v, %d components", id, seen[id], len(v))
		}
		seen[id] = true
		return nil
	})
	if err != nil || len(seen) != 2395 {
		t.Fatal(len(seen), err)
	}
}

func TestPagesJoinWithoutGapOrOverlap(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	whole := idsOf(walk(t, c, backend.Query{Limit: 10_000}))
	if len(whole) != 1500 {
		t.Fatal(len(whole))
	}
	for _, limit := range []int{1, 499, 1500} {
		if limit == 1 {
			page, err := c.Get(t.Context(), backend.Query{Offset: 700, Limit: 1})
			if err != nil || page.Records[0].ID != whole[700] || page.Next == "" {
				t.Fatal(page, err)
			}
			page, err = c.Get(t.Context(), backend.Query{After: page.Next, Limit: 1})
			if err != nil || page.Records[0].ID != whole[701] {
				t.Fatal(page, err)
			}
			continue
		}
		if d := cmp.Diff(whole, idsOf(walk(t, c, backend.Query{Limit: limit}))); d != "" {
			t.Errorf("pages of %d: %s", limit, d)
		}
	}
	page, err := c.Get(t.Context(), backend.Query{Offset: 1500})
	if err != nil || len(page.Records) != 0 || page.Next != "" {
		t.Error(page, err)
	}
	var refused *backend.UnsupportedFilterError
	if _, err := c.Get(t.Context(), backend.Query{After: "no cursor"}); !errors.As(err, &refused) {
		t.Error(err)
	}
}

func TestIDsAreAnsweredInTheEnginesOrderAndUnknownOnesSkipped(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	all := idsOf(walk(t, c, backend.Query{}))
	asked := []string{all[1200], "nobody", all[3], all[1200]}
	for range 2000 { // more than SQLite binds in one statement with the rest
		asked = append(asked, "nobody")
	}
	f := backend.Filter{IDs: asked}
	if d := cmp.Diff([]string{all[3], all[1200]}, idsOf(walk(t, c, backend.Query{Filter: f}))); d != "" {
		t.Error(d)
	}
	if n, err := c.Count(t.Context(), f); err != nil || n != 2 {
		t.Error(n, err)
	}
	none := backend.Filter{IDs: []string{}}
	if n, err := c.Count(t.Context(), none); err != nil || n != 0 {
		t.Error(n, err)
	}
	if list := walk(t, c, backend.Query{Filter: none}); len(list) != 0 {
		t.Error(list)
	}
}

func TestAnUnknownCollectionNamesTheKnownOnes(t *testing.T) {
	_, err := open(t, sample(t, "healthy")).Collection(t.Context(), "drawers")
	var missing *backend.CollectionNotFoundError
	if !errors.As(err, &missing) || len(missing.Known) != 2 {
		t.Fatal(err)
	}
}

func TestACollectionDeletedMeanwhileIsGone(t *testing.T) {
	dir := sample(t, "fresh")
	c := collection(t, open(t, dir), "mempalace_drawers")
	alter(t, dir, "DELETE FROM collections")
	var missing *backend.CollectionNotFoundError
	if _, err := c.Count(t.Context(), backend.Filter{}); !errors.As(err, &missing) {
		t.Fatal(err)
	}
}

func TestCloseLetsGoOfEveryFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	dir := sample(t, "synced")
	inside := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, dir) {
				n++
			}
		}
		return n
	}
	p, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := collection(t, p, "mempalace_drawers")
	walk(t, c, backend.Query{Include: backend.Embeddings})
	if inside() == 0 {
		t.Fatal("nothing is open: this test sees nothing")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := inside(); n != 0 {
		t.Errorf("%d descriptors are left", n)
	}
	if _, err := c.Get(t.Context(), backend.Query{Include: backend.Embeddings}); !errors.Is(err, backend.ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Facets(t.Context(), backend.Filter{}, "wing"); !errors.Is(err, backend.ErrClosed) {
		t.Error(err)
	}
}

func TestCloseWaitsForAQuestionUnderWay(t *testing.T) {
	p := open(t, sample(t, "healthy"))
	c := collection(t, p, "mempalace_drawers")
	closed := make(chan error, 1)
	asked := false
	err := c.view(t.Context(), func(sc *scope) error {
		go func() { closed <- p.Close() }()
		for p.file.Enter() == nil { // until Close has begun
			p.file.Leave()
			runtime.Gosched()
		}
		select {
		case <-closed:
			t.Error("closed under a question")
		default:
		}
		_, err := (&question{sc: sc}).count(t.Context())
		asked = err == nil
		return err
	})
	if err != nil || !asked {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}
