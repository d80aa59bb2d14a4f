package exact

import (
	"context"
	"math"
	"slices"

	"castellan/palace/backend"
)

// MemPalace's parameters for BM25.
const (
	bm25K1 = 1.5
	bm25B  = 0.75
)

// wordCount is what BM25 has to know of one document.
type wordCount struct {
	rowid  int64
	length int // tokens
	// terms that are asked for, in the order in which the document has them:
	// a sum of floats depends on it.
	terms  []string
	counts map[string]int
}

// byReading ranks every document that matches by BM25 over those documents.
// Only counts are kept, and only of documents that hold one of the words.
func (q query) byReading(ctx context.Context, in collection, tokens []string, k int, where backend.Where) ([]LexicalHit, error) {
	holding := make(map[string]int, len(tokens)) // documents with the term
	for _, t := range tokens {
		holding[t] = 0
	}
	var list []wordCount
	documents, words := 0, 0
	f := backend.Filter{Where: where}
	s := scan{query: q, in: in, filter: f, condition: q.push(f), include: backend.Documents, after: first}
	err := s.run(ctx, func(r row) bool {
		documents++
		if r.document == nil {
			return true
		}
		c := wordCount{rowid: r.rowid, counts: map[string]int{}}
		for _, t := range tokenize(*r.document) {
			c.length++
			if _, asked := holding[t]; !asked {
				continue
			}
			if c.counts[t] == 0 {
				holding[t]++
				c.terms = append(c.terms, t)
			}
			c.counts[t]++
		}
		words += c.length
		if len(c.terms) > 0 {
			list = append(list, c)
		}
		return true
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	average := float64(words) / float64(documents)
	scores := make(map[int64]float64, len(list))
	for _, c := range list {
		scores[c.rowid] = c.score(holding, documents, average)
	}
	slices.SortStableFunc(list, func(a, b wordCount) int {
		switch x, y := scores[a.rowid], scores[b.rowid]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	best := make([]ranked, min(k, len(list)))
	for i := range best {
		best[i].rowid = list[i].rowid
	}
	records, err := recordsAt(ctx, q, in, best, backend.Documents|backend.Metadatas)
	if err != nil {
		return nil, err
	}
	hits := make([]LexicalHit, len(records))
	for i, r := range records {
		hits[i] = LexicalHit{r, scores[best[i].rowid]}
	}
	return hits, nil
}

func (c wordCount) score(holding map[string]int, documents int, average float64) float64 {
	sum := 0.0
	for _, t := range c.terms {
		n, all := float64(holding[t]), float64(documents)
		idf := math.Log((all-n+0.5)/(n+0.5) + 1)
		tf := float64(c.counts[t])
		sum += idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(c.length)/average))
	}
	return sum
}
