package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"castellan/palace/backend"
)

func texts(list ...string) *memory {
	m := collection("cosine", make([][]float32, len(list))...)
	for i := range list {
		m.records[i].Document = &list[i]
	}
	return m
}

func find(t *testing.T, m *memory, index TextIndex, words string, k int) Found {
	t.Helper()
	found, err := NewKeywordSearch(m, index).Search(t.Context(), Query{Words: words, K: k})
	must(t, err)
	return found
}

func TestWholeWordsComeBeforePartsOfWords(t *testing.T) {
	t.Parallel()
	m := texts("vectors of vectors", "nothing", "a VECTOR here", "vectorise", "")
	found := find(t, m, nil, "vector", 9)
	sameIDs(t, found.Hits, "a2", "a0", "a3")
	if *found.Hits[0].BM25 <= 0 || *found.Hits[1].BM25 != 0 {
		t.Errorf("BM25 is %g and %g", *found.Hits[0].BM25, *found.Hits[1].BM25)
	}
}

func TestShortWordsAreLookedForToo(t *testing.T) {
	t.Parallel()
	m := texts("we go home", "we stay", "go", "ego")
	index := &listed{}
	found := find(t, m, index, "go", 9)
	sameIDs(t, found.Hits, "a2", "a0", "a3")
	if index.asked > 0 {
		t.Error("an index of trigrams was asked for two letters")
	}
	if found := find(t, m, nil, "? a", 9); len(found.Hits) != 0 || found.Note == "" {
		t.Errorf("no word at all finds %q: %q", ids(found.Hits), found.Note)
	}
}

func TestTheNewestAreKeptWhereTooManyMatch(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 1300 {
		list = append(list, fmt.Sprintf("copper %d", i))
	}
	list[3] = "copper copper copper"
	for _, index := range []TextIndex{nil, &listed{err: fmt.Errorf("%w: it is gone", ErrNoTextIndex)}} {
		found := find(t, texts(list...), index, "copper", 3)
		if found.Considered != maxCandidates || !strings.Contains(found.Note, "the newest 500") {
			t.Errorf("%d considered: %q", found.Considered, found.Note)
		}
		sameIDs(t, found.Hits, "a800", "a801", "a802")
	}
}

func TestEveryDocumentIsReadWhereTheIndexDoesNotAnswer(t *testing.T) {
	t.Parallel()
	m := texts("copper", "lead")
	found := find(t, m, &listed{err: fmt.Errorf("%w: it is gone", ErrNoTextIndex)}, "copper", 3)
	sameIDs(t, found.Hits, "a0")
	if !strings.Contains(found.Note, "every document was read: it is gone") {
		t.Errorf("note %q", found.Note)
	}
	_, err := NewKeywordSearch(m, &listed{err: errors.New("disk")}).Search(t.Context(), Query{Words: "copper", K: 1})
	if err == nil || err.Error() != "disk" {
		t.Errorf("an index that fails gives %v", err)
	}
}

// listed is a full-text index that answers with these, the best first.
type listed struct {
	list  []pick
	text  func(id string) string
	err   error
	asked int
}

func (l *listed) EachMatch(_ context.Context, _ []string, _ backend.Filter, fn func(string, int64, string) bool) error {
	l.asked++
	for _, p := range l.list {
		if !fn(p.id, p.at, l.text(p.id)) {
			break
		}
	}
	return l.err
}

func TestTheBestOfTheIndexAreRankedInTheOrderOfFiling(t *testing.T) {
	t.Parallel()
	m := texts("copper", "coppery", "copper", "lead", "copper")
	index := &listed{text: func(id string) string { return *m.records[id[1]-'0'].Document }}
	for _, at := range []int64{4, 1, 2, 0} {
		index.list = append(index.list, pick{fmt.Sprintf("a%d", at), at})
	}
	found := find(t, m, index, "copper", 9)
	sameIDs(t, found.Hits, "a0", "a2", "a4", "a1")
	if found.Note != "" || index.asked != 1 {
		t.Errorf("asked %d times: %q", index.asked, found.Note)
	}
}

func TestAFilterOfFewDrawersIsReadAndNotLookedUp(t *testing.T) {
	t.Parallel()
	m, index := texts("copper", "copper"), &listed{}
	m.records[1].Metadata = backend.Metadata{"wing": "w"}
	found, err := NewKeywordSearch(m, index).Search(t.Context(), Query{Words: "copper", K: 9, Filter: backend.Filter{Where: backend.Equal("wing", "w")}})
	must(t, err)
	sameIDs(t, found.Hits, "a1")
	if index.asked != 0 {
		t.Error("the index was asked")
	}
}

func TestTokensArePythons(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Hello, wORLD!":     {"hello", "world"},
		"a I x_y __":        {"x_y", "__"},
		"ΣΊΣΥΦΟΣ Straße":    {"σίσυφος", "straße"},
		"日本語 本 v2 ½½ ²³":    {"日本語", "v2", "½½", "²³"},
		"cafe\u0301 İstan":  {"cafe", "stan"}, // combining marks are no letters
		"don't co-op\x00ok": {"don", "co", "op", "ok"},
		"":                  nil,
	} {
		if got := newTokenizer().tokens(text); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
