package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"

	"github.com/dustin/go-humanize"
)

// maxCandidates is how many drawers BM25 ranks at most: MemPalace's bound.
const maxCandidates = 500

// TextIndex is a full-text index over the drawers.
type TextIndex interface {
	// Matching gives the ids of drawers that hold one of the terms anywhere in
	// their text, whatever the case, in the order of the index: those that
	// match best first, at most limit. It fails with ErrNoTextIndex, wrapped,
	// where it cannot answer or would leave drawers out.
	Matching(ctx context.Context, terms []string, f backend.Filter, limit int) ([]string, error)
}

// ErrNoTextIndex says that the documents have to be read instead.
var ErrNoTextIndex = errors.New("no full-text index answers")

// KeywordSearch ranks drawers by BM25 over those that hold one of the words.
// It needs no vectors, so it answers where nothing else does.
type KeywordSearch struct {
	source Source
	texts  TextIndex
}

// NewKeywordSearch asks texts where it is not nil, and otherwise reads every
// document.
func NewKeywordSearch(source Source, texts TextIndex) *KeywordSearch {
	return &KeywordSearch{source, texts}
}

// Name is Keyword.
func (*KeywordSearch) Name() string { return Keyword }

// Search gives the K best, their records whole. Drawers that hold a word only
// inside of another one come last, with a score of 0: "vectors" for "vector".
func (k *KeywordSearch) Search(ctx context.Context, q Query) (Found, error) {
	var found Found
	all := distinct(newTokenizer().tokens(q.Words))
	terms := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return length(w, 3) < 3 })
	if len(all) == 0 {
		found.Note = "no word of two letters or more to look for"
		return found, nil
	}
	ids, err := k.candidates(ctx, all, terms, q.Filter, &found)
	if err != nil {
		return found, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == q.Except })
	records, err := fetch(ctx, k.source, ids, backend.Documents|backend.Metadatas)
	if err != nil {
		return found, err
	}
	found.Hits = make([]Hit, len(records))
	texts := make([]string, len(records))
	for i, r := range records {
		found.Hits[i].Record = r
		if r.Document != nil {
			texts[i] = *r.Document
		}
		found.Hits[i].Text = texts[i]
	}
	scores := bm25(q.Words, texts)
	best := slices.Max(append(slices.Clone(scores), 0))
	for i := range found.Hits {
		found.Hits[i].BM25 = &scores[i]
		if best > 0 {
			found.Hits[i].Score = scores[i] / best
		}
	}
	slices.SortStableFunc(found.Hits, func(a, b Hit) int { return descending(a.Score, b.Score) })
	found.Hits = fold(found.Hits)
	found.Hits = found.Hits[:min(max(q.K, 0), len(found.Hits))]
	return found, nil
}

// candidates are ids in the order of filing. A full-text index of trigrams
// finds no word shorter than three letters; where the question has only such,
// every document is read.
func (k *KeywordSearch) candidates(ctx context.Context, all, terms []string, f backend.Filter, found *Found) ([]string, error) {
	if k.texts != nil && len(terms) > 0 {
		ids, err := k.texts.Matching(ctx, terms, f, maxCandidates)
		if err == nil {
			found.Considered = len(ids)
			if len(ids) == maxCandidates {
				found.Note = fmt.Sprintf("the %s drawers that match best were ranked", humanize.Comma(maxCandidates))
			}
			return ids, nil
		}
		if !errors.Is(err, ErrNoTextIndex) {
			return nil, err
		}
		found.Note = err.Error()
	}
	if len(terms) == 0 {
		terms = all
	}
	ids, more, err := k.read(ctx, terms, f)
	found.Considered = len(ids)
	if more {
		found.Note = fmt.Sprintf("the newest %s of the drawers that match were ranked", humanize.Comma(maxCandidates))
	}
	return ids, err
}

// read walks through every document for those that hold a term. Those that hold
// one as a whole word come before those that hold it inside of another, the
// newer before the older, as MemPalace picks them.
func (k *KeywordSearch) read(ctx context.Context, terms []string, f backend.Filter) (ids []string, more bool, err error) {
	type place struct {
		id string
		at int
	}
	var whole, part []place
	keep := func(list []place, p place) []place {
		if list = append(list, p); len(list) > 2*maxCandidates {
			more = true
			list = append(list[:0], list[len(list)-maxCandidates:]...)
		}
		return list
	}
	words := make(map[string]bool, len(terms))
	for _, t := range terms {
		words[t] = true
	}
	t, at := newTokenizer(), 0
	look := func(r backend.Record) {
		at++
		if r.Document == nil {
			return
		}
		small := t.small(*r.Document)
		switch {
		case !slices.ContainsFunc(terms, func(term string) bool { return strings.Contains(small, term) }):
		case slices.ContainsFunc(t.tokens(*r.Document), func(w string) bool { return words[w] }):
			whole = keep(whole, place{r.ID, at})
		default:
			part = keep(part, place{r.ID, at})
		}
	}
	q := backend.Query{Filter: f, Include: backend.Documents}
	for {
		page, err := k.source.Get(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, r := range page.Records {
			look(r)
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	picked := newest(whole, maxCandidates)
	rest := newest(part, maxCandidates-len(picked))
	more = more || len(picked)+len(rest) < len(whole)+len(part)
	picked = append(slices.Clone(picked), rest...)
	slices.SortFunc(picked, func(a, b place) int { return a.at - b.at })
	for _, p := range picked {
		ids = append(ids, p.id)
	}
	return ids, more, nil
}

func newest[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }

// fetchPage is how many records are asked for by id at once.
const fetchPage = 250

// fetch reads records by their ids, in the order of the ids; those that are
// gone are left out.
func fetch(ctx context.Context, s Source, ids []string, include backend.Include) ([]backend.Record, error) {
	byID := make(map[string]backend.Record, len(ids))
	for chunk := range slices.Chunk(ids, fetchPage) {
		q := backend.Query{Filter: backend.Filter{IDs: chunk}, Include: include, Limit: len(chunk)}
		for {
			page, err := s.Get(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, r := range page.Records {
				byID[r.ID] = r
			}
			if page.Next == "" {
				break
			}
			q.After = page.Next
		}
	}
	list := make([]backend.Record, 0, len(byID))
	for _, id := range ids {
		if r, ok := byID[id]; ok {
			list = append(list, r)
		}
	}
	return list, nil
}
