package search

import (
	"context"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// Closets point to sources. The five that are nearest to a question draw the
// drawers of their sources forward by so much, unless they are too far away to
// mean anything. They are a hint and never a gate.
var closetBoosts = [...]float64{0.40, 0.25, 0.15, 0.08, 0.04}

const closetCap = 1.5

// boosts asks the closets, and answers with the boost of each source.
func boosts(ctx context.Context, closets Source, q Query) (map[string]float64, error) {
	found, err := NewExactScan(closets).Search(ctx, Query{Vector: q.Vector, Filter: q.Filter, K: q.K})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(found.Hits))
	for i, h := range found.Hits {
		ids[i] = h.ID
	}
	records, err := fetch(ctx, closets, ids, backend.Metadatas)
	if err != nil {
		return nil, err
	}
	source := make(map[string]string, len(records))
	for _, r := range records {
		source[r.ID] = sourceOf(r)
	}
	by, seen := map[string]float64{}, map[string]bool{}
	for i, h := range found.Hits {
		s := source[h.ID]
		if s == "" || seen[s] {
			continue
		}
		seen[s] = true
		if i < len(closetBoosts) && *h.Distance <= closetCap {
			by[s] = closetBoosts[i]
		}
	}
	return by, nil
}

// draw orders hits by their distance less the boost of their source, and gives
// boosted ones the text of the best pieces of that source.
func draw(ctx context.Context, drawers Source, hits []Hit, by map[string]float64, words string) error {
	effective := func(h Hit) float64 { return max(0, min(2, *h.Distance-by[sourceOf(h.Record)])) }
	slices.SortStableFunc(hits, func(a, b Hit) int { return descending(effective(b), effective(a)) })
	cache := map[[2]string]passage{}
	for i := range hits {
		h := &hits[i]
		if by[sourceOf(h.Record)] == 0 {
			continue
		}
		parent, _ := h.Metadata["parent_drawer_id"].(string)
		key := [2]string{sourceOf(h.Record), parent}
		p, known := cache[key]
		if !known {
			var err error
			if p, err = passageOf(ctx, drawers, key[0], parent, words); err != nil {
				return err
			}
			cache[key] = p
		}
		if p.found {
			h.Text = p.text
		}
	}
	return nil
}

// passage is the piece of a source that holds most of the words, with its
// neighbours.
type passage struct {
	text  string
	found bool
}

// maxPieces bounds what is read of one source, maxPassage what is shown of it.
const (
	maxPieces  = 10_000
	maxPassage = 10_000
)

func passageOf(ctx context.Context, drawers Source, source, parent, words string) (passage, error) {
	where := backend.Equal("source_file", source)
	if parent != "" {
		where = backend.AllOf(where, backend.Equal("parent_drawer_id", parent))
	}
	type piece struct {
		at   int64
		text string
	}
	var pieces []piece
	q := backend.Query{Filter: backend.Filter{Where: where}, Include: backend.Documents | backend.Metadatas}
	for len(pieces) < maxPieces {
		page, err := drawers.Get(ctx, q)
		if err != nil {
			return passage{}, err
		}
		for _, r := range page.Records {
			at, ok := r.Metadata["chunk_index"].(int64)
			if !ok {
				at = int64(len(pieces))
			}
			text := ""
			if r.Document != nil {
				text = *r.Document
			}
			pieces = append(pieces, piece{at, text})
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if len(pieces) < 2 {
		return passage{}, nil
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return int(min(max(a.at-b.at, -1), 1)) })
	t := newTokenizer()
	terms := distinct(t.tokens(words))
	best, most := 0, -1
	for i, p := range pieces {
		small, n := t.small(p.text), 0
		for _, term := range terms {
			if strings.Contains(small, term) {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	var list []string
	for _, p := range pieces[max(best-1, 0):min(best+2, len(pieces))] {
		list = append(list, p.text)
	}
	text := strings.Join(list, "\n\n")
	if r := []rune(text); len(r) > maxPassage {
		text = string(r[:maxPassage]) + "\n\n[...]"
	}
	return passage{text, true}, nil
}

// withoutRepeats drops a passage of one source that stands there twice because
// a closet pointed to it.
func withoutRepeats(hits []Hit, by map[string]float64) []Hit {
	first := map[[2]string]bool{}
	var kept []Hit
	for _, h := range hits {
		source := sourceOf(h.Record)
		key := [2]string{source, h.Text}
		if source != "" && first[key] && by[source] > 0 {
			continue
		}
		first[key] = true
		kept = append(kept, h)
	}
	return kept
}
