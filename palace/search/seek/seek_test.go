package seek_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/search"
	"castellan/palace/search/seek"
	"castellan/palace/specimen"
)

const drawers = specimen.Drawers

var samples = os.DirFS(filepath.Join("..", "..", "..", "testdata", "palaces"))

func open(t *testing.T, dir string) *palace.Palace {
	t.Helper()
	p, err := tryOpen(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryOpen(t *testing.T, dir string) (*palace.Palace, error) {
	t.Helper()
	m := palace.NewManager(palace.Options{Home: t.TempDir(), Env: func(string) string { return "" }, Now: time.Now})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m.Open(t.Context(), backend.Ref{Kind: backend.Chroma, Path: dir})
}

func sample(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := specimen.CopyFS(samples, name, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ask(t *testing.T, p *palace.Palace, q search.Question) search.Answer {
	t.Helper()
	s, err := seek.Open(t.Context(), p, drawers, seek.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func firstID(t *testing.T, p *palace.Palace) string {
	t.Helper()
	c, err := p.Collection(t.Context(), drawers)
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Get(t.Context(), backend.Query{Limit: 1})
	if err != nil || len(page.Records) == 0 {
		t.Fatalf("no drawer: %v", err)
	}
	return page.Records[0].ID
}

func TestTheStoredIndexFindsWhatTheScanFinds(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "synced"))
	like := firstID(t, p)
	exact := ask(t, p, search.Question{Like: like, Results: 10})
	stored := ask(t, p, search.Question{Like: like, Results: 10, Engine: search.Stored})
	if exact.Degraded || stored.Degraded || stored.Engine != search.Stored {
		t.Fatalf("%s\n%s", exact.Reason, stored.Reason)
	}
	if exact.Considered != stored.Considered || len(stored.Hits) != 10 {
		t.Errorf("%s\n%s", exact.Reason, stored.Reason)
	}
	common := 0
	for _, h := range exact.Hits {
		for _, s := range stored.Hits {
			if h.ID == s.ID && *h.Distance-*s.Distance < 1e-5 && *s.Distance-*h.Distance < 1e-5 {
				common++
			}
		}
	}
	if common < 9 {
		t.Errorf("%d of the 10 nearest are found at their distance", common)
	}
}

// The full-text index chooses the candidates, and reading every document
// chooses the same ones, as long as they are not too many.
func TestTheTextIndexAndReadingChooseAlike(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "healthy"))
	c, err := p.Collection(t.Context(), drawers)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, words := range []string{"naïve café", "Chunk", "quoted query", "chunk 1499", "xyzzy", "ranch"} {
		a := ask(t, p, search.Question{Words: words, Engine: search.Keyword, Results: 20})
		if strings.Contains(a.Reason, "every document was read") {
			t.Errorf("%q: the index was not asked: %s", words, a.Reason)
		}
		read, err := search.NewKeywordSearch(c, nil).Search(t.Context(), search.Query{Words: words, K: 20})
		if err != nil {
			t.Fatal(err)
		}
		if read.Considered >= 500 {
			continue // they choose others, and say so
		}
		compared++
		if a.Considered != read.Considered || len(a.Hits) != len(read.Hits) {
			t.Errorf("%q: %d of %d by the index, %d of %d by reading", words, len(a.Hits), a.Considered, len(read.Hits), read.Considered)
			continue
		}
		for i, h := range a.Hits {
			if h.ID != read.Hits[i].ID || *h.BM25 != *read.Hits[i].BM25 {
				t.Errorf("%q: hit %d is %s by the index, %s by reading", words, i, h.ID, read.Hits[i].ID)
			}
		}
	}
	if compared < 3 {
		t.Errorf("only %d questions were compared", compared)
	}
}

func TestABrokenTextIndexIsReadAround(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fts-missing", "fts-content-deleted"} {
		dir := filepath.Join(t.TempDir(), name)
		s, _ := specimen.ByName(name)
		if err := s.Make(t.Context(), samples, dir); err != nil {
			t.Fatal(err)
		}
		a := ask(t, open(t, dir), search.Question{Words: "copper harbor", Engine: search.Keyword, Results: 3})
		if len(a.Hits) != 3 || !strings.Contains(a.Reason, "every document was read") {
			t.Errorf("%s: %d hits: %s", name, len(a.Hits), a.Reason)
		}
	}
}

// Whatever happened to a palace: a search answers or says why not, with any
// engine, and changes not a byte.
func TestSearchingAnySickPalaceAnswersOrSaysWhy(t *testing.T) {
	t.Parallel()
	for i, s := range specimen.All() {
		if testing.Short() && (s.Base == "empty" || i%8 != 0) {
			continue // the large ones, and most of the others
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "p")
			if err := s.Make(t.Context(), samples, dir); err != nil {
				t.Fatal(err)
			}
			before := sum(t, dir)
			p, err := tryOpen(t, dir)
			if err != nil {
				if err.Error() == "" {
					t.Error("no word of why")
				}
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			searcher, err := seek.Open(ctx, p, drawers, seek.Options{})
			if err != nil {
				return
			}
			like := ""
			if c, err := p.Collection(ctx, drawers); err == nil {
				if page, err := c.Get(ctx, backend.Query{Limit: 1}); err == nil && len(page.Records) > 0 {
					like = page.Records[0].ID
				}
			}
			for _, q := range []search.Question{
				{Words: "copper harbor"}, {Like: like}, {Like: like, Engine: search.Stored},
			} {
				if q.Words == "" && like == "" {
					continue
				}
				q.Results = 3
				a, err := searcher.Search(ctx, q)
				switch {
				case errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%+v takes too long", q)
				case err == nil && a.Reason == "":
					t.Errorf("%+v: no reason", q)
				case err == nil && a.Unreached > 0 && !a.Degraded:
					t.Errorf("%+v: %d drawers were not reached, and the answer is whole: %s", q, a.Unreached, a.Reason)
				}
			}
			if after := sum(t, dir); after != before {
				t.Errorf("the palace was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// sum is every file with its size and the hash of its beginning.
func sum(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it may be forbidden to us, or not there at all
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		head := make([]byte, min(info.Size(), 8<<20))
		n, _ := f.Read(head)
		fmt.Fprintf(&b, "%s %d %x\n", d.Name(), info.Size(), sha256.Sum256(head[:n]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestACollectionWithoutIndexFilesSaysSo(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "healthy"))
	err := p.With(t.Context(), func(b backend.Backend) error {
		c, err := b.Collection(t.Context(), drawers)
		if err != nil {
			return err
		}
		_, err = c.(*chroma.Collection).StoredIndex(t.Context(), 0)
		return err
	})
	if !errors.Is(err, chroma.ErrNoIndex) {
		t.Errorf("got %v", err)
	}
}

func TestMeasureOnAPalaceWithAnIndex(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "synced"))
	s, err := seek.Open(t.Context(), p, drawers, seek.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Measure(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if q.Index == nil || q.Index.Elements == 0 || len(q.Engines) != 3 || q.Engines[1].Recall < 0.9 {
		t.Errorf("%+v", q)
	}
}

// giver knows one vector for any words.
type giver struct {
	identity string
	vector   []float32
}

func (g giver) Identity() string                                      { return g.identity }
func (g giver) EmbedQuery(context.Context, string) ([]float32, error) { return g.vector, nil }

func TestWithAModelWordsAreSearchedForByMeaning(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t, "healthy")) // with closets
	c, err := p.Collection(t.Context(), drawers)
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Get(t.Context(), backend.Query{Limit: 1, Include: backend.Embeddings})
	if err != nil {
		t.Fatal(err)
	}
	first := page.Records[0]
	s, err := seek.Open(t.Context(), p, drawers, seek.Options{Embedder: giver{c.Info().Embedder, first.Embedding}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Search(t.Context(), search.Question{Words: "anything", Results: 5})
	if err != nil {
		t.Fatal(err)
	}
	if a.Engine != search.Exact || a.Degraded || len(a.Hits) != 5 || a.Hits[0].ID != first.ID || *a.Hits[0].Distance > 1e-5 {
		t.Errorf("%d hits: %s", len(a.Hits), a.Reason)
	}
}
