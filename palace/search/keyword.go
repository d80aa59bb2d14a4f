package search

import (
	"cmp"
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

// readFiltered is up to how many drawers a filter may let through for these to
// be read rather than looked up: looking up ranks the matches of the whole
// palace first.
const readFiltered = 20_000

// TextIndex is a full-text index over the drawers.
type TextIndex interface {
	// EachMatch hands out drawers that hold one of the terms anywhere in their
	// text, whatever the case, those that match best first; at is their place
	// in the order of filing. It ends when fn answers false. It fails with
	// ErrNoTextIndex, wrapped, where it cannot answer or would leave drawers
	// out, perhaps after it has handed out some.
	EachMatch(ctx context.Context, terms []string, f backend.Filter, fn func(id string, at int64, text string) bool) error
}

// ErrNoTextIndex says that the documents have to be read instead.
var ErrNoTextIndex = errors.New("every document was read")

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
	p := picker{terms: terms, tokenizer: newTokenizer()}
	if len(terms) == 0 {
		p.terms = all
	}
	look, err := k.lookUp(ctx, terms, f)
	if err != nil {
		return nil, err
	}
	if look {
		err := k.texts.EachMatch(ctx, terms, f, p.offer)
		if err == nil {
			ids := p.pick(false)
			found.Considered = len(ids)
			if p.more {
				found.Note = fmt.Sprintf("the %s drawers that match best were ranked", humanize.Comma(maxCandidates))
			}
			return ids, nil
		}
		if !errors.Is(err, ErrNoTextIndex) {
			return nil, err
		}
		found.Note = err.Error()
		p.whole, p.part, p.more = nil, nil, false
	}
	if err := k.read(ctx, &p, f); err != nil {
		return nil, err
	}
	ids := p.pick(true)
	found.Considered = len(ids)
	if p.more {
		found.Note = joined(found.Note, fmt.Sprintf("the newest %s of the drawers that match were ranked", humanize.Comma(maxCandidates)))
	}
	return ids, nil
}

// lookUp decides between the full-text index and reading.
func (k *KeywordSearch) lookUp(ctx context.Context, terms []string, f backend.Filter) (bool, error) {
	if k.texts == nil || len(terms) == 0 {
		return false, nil
	}
	if f.IsZero() {
		return true, nil
	}
	n, err := k.source.Count(ctx, f)
	return n > readFiltered, err
}

// read walks through every document, the oldest first.
func (k *KeywordSearch) read(ctx context.Context, p *picker, f backend.Filter) error {
	q := backend.Query{Filter: f, Include: backend.Documents}
	var at int64
	for {
		page, err := k.source.Get(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			at++
			if r.Document != nil {
				p.consider(r.ID, at, *r.Document)
			}
		}
		if page.Next == "" {
			return nil
		}
		q.After = page.Next
	}
}

// picker chooses candidates as MemPalace does: drawers that hold one of the
// terms as a whole word before those that hold it inside of another one.
type picker struct {
	tokenizer
	terms       []string
	whole, part []pick
	more        bool // than could be kept
}

type pick struct {
	id string
	at int64
}

// offer takes what comes the best first; false when no more can be of use.
func (p *picker) offer(id string, at int64, text string) bool {
	switch whole := p.isWhole(text); {
	case whole && len(p.whole) == maxCandidates:
		p.more = true
		return false
	case whole:
		p.whole = append(p.whole, pick{id, at})
	case len(p.part) < maxCandidates:
		p.part = append(p.part, pick{id, at})
	default:
		p.more = true
	}
	return true
}

// consider takes what comes the oldest first, matching or not.
func (p *picker) consider(id string, at int64, text string) {
	small := p.small(text)
	if !slices.ContainsFunc(p.terms, func(term string) bool { return strings.Contains(small, term) }) {
		return
	}
	list := &p.part
	if p.isWhole(text) {
		list = &p.whole
	}
	if *list = append(*list, pick{id, at}); len(*list) > 2*maxCandidates {
		p.more = true
		*list = append((*list)[:0], newest(*list, maxCandidates)...)
	}
}

func (p *picker) isWhole(text string) bool {
	return slices.ContainsFunc(p.tokens(text), func(w string) bool { return slices.Contains(p.terms, w) })
}

// pick gives the chosen ids in the order of filing.
func (p *picker) pick(newestFirst bool) []string {
	first := func(list []pick, n int) []pick { return list[:min(n, len(list))] }
	if newestFirst {
		first = newest[pick]
	}
	chosen := slices.Clone(first(p.whole, maxCandidates))
	chosen = append(chosen, first(p.part, maxCandidates-len(chosen))...)
	p.more = p.more || len(chosen) < len(p.whole)+len(p.part)
	slices.SortFunc(chosen, func(a, b pick) int { return cmp.Compare(a.at, b.at) })
	ids := make([]string, len(chosen))
	for i, c := range chosen {
		ids[i] = c.id
	}
	return ids
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
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
