package search

import (
	"context"
	"errors"
	"strings"
	"testing"

	"castellan/palace/backend"
)

// library is some texts with vectors, and an embedder that knows two questions.
func library() (*memory, Options) {
	m := collection("cosine", []float32{1, 0}, []float32{0.9, 0.1}, []float32{0, 1}, []float32{-1, 0})
	m.info.Embedder = "fixed"
	for i, text := range []string{"the harbor at night", "ships in the harbor", "a ledger of copper", "harbour harbormaster"} {
		m.records[i].Document = &text
		m.records[i].Metadata = backend.Metadata{"wing": []string{"sea", "land"}[i/2]}
	}
	return m, Options{Embedder: fixed{identity: "fixed", vectors: map[string][]float32{"harbor": {1, 0}}}}
}

func ask(t *testing.T, m *memory, o Options, q Question) Answer {
	t.Helper()
	if q.Results == 0 {
		q.Results = 2
	}
	a, err := New(m, o).Search(t.Context(), q)
	must(t, err)
	return a
}

// degraded checks that an answer is told as less than what was asked for.
func degraded(t *testing.T, a Answer, engine, why string) {
	t.Helper()
	if !a.Degraded || a.Engine != engine || !strings.Contains(a.Reason, why) {
		t.Errorf("degraded %t by %s: %s", a.Degraded, a.Engine, a.Reason)
	}
}

func TestWordsWithoutAModelAreSearchedForAsWords(t *testing.T) {
	t.Parallel()
	m, _ := library()
	a := ask(t, m, Options{NoEmbedder: "no model is here"}, Question{Words: "harbor"})
	degraded(t, a, Keyword, "no model is here, so words were searched for and not meaning")
	sameIDs(t, a.Hits, "a0", "a1")
	if h := a.Hits[0]; h.Distance != nil || h.BM25 == nil || h.Score != 1 {
		t.Errorf("the first hit is %+v", h)
	}
}

func TestAnotherModelsVectorsAreNotCompared(t *testing.T) {
	t.Parallel()
	m, o := library()
	m.info.Embedder = "default"
	a := ask(t, m, o, Question{Words: "harbor"})
	degraded(t, a, Keyword, "the vectors were made by default and the model here is fixed")
}

func TestAModelThatFailsIsTold(t *testing.T) {
	t.Parallel()
	m, _ := library()
	a := ask(t, m, Options{Embedder: fixed{identity: "fixed", err: errors.New("out of order")}}, Question{Words: "harbor"})
	degraded(t, a, Keyword, "out of order")
}

func TestVectorsThatAreGoneLeaveTheWords(t *testing.T) {
	t.Parallel()
	m, o := library()
	for i := range m.records {
		m.records[i].Embedding = nil
	}
	a := ask(t, m, o, Question{Words: "harbor"})
	degraded(t, a, Keyword, "the vectors cannot be read")
	sameIDs(t, a.Hits, "a0", "a1")
	a = ask(t, m, o, Question{Like: "a1"})
	degraded(t, a, Keyword, "so its words were compared")
	sameIDs(t, a.Hits, "a0", "a3") // harbor as a word, then inside of a word: "the", "in" and "ships" are nowhere else
}

func TestDrawersWithoutVectorAreCountedInTheReason(t *testing.T) {
	t.Parallel()
	m, o := library()
	m.records[3].Embedding = nil
	a := ask(t, m, o, Question{Words: "harbor"})
	degraded(t, a, Exact, "1 drawer has no vector that can be read")
	if a.Unreached != 1 || a.Considered != 3 {
		t.Errorf("%d considered, %d unreached", a.Considered, a.Unreached)
	}
}

func TestAWholeAnswerSaysWhoGaveIt(t *testing.T) {
	t.Parallel()
	m, o := library()
	a := ask(t, m, o, Question{Words: "harbor", Results: 4})
	if a.Degraded || a.Engine != Exact || !strings.HasPrefix(a.Reason, "exact scan: 4 vectors, ") {
		t.Errorf("degraded %t by %s: %s", a.Degraded, a.Engine, a.Reason)
	}
	sameIDs(t, a.Hits, "a0", "a1", "a2", "a3")
	a = ask(t, m, o, Question{Words: "harbor", Engine: Keyword})
	if a.Degraded || a.Engine != Keyword {
		t.Errorf("keyword search that was asked for is degraded: %s", a.Reason)
	}
}

func TestLikeComparesStoredVectors(t *testing.T) {
	t.Parallel()
	m, _ := library()
	a := ask(t, m, Options{}, Question{Like: "a0", Results: 9})
	if a.Degraded || a.Engine != Exact {
		t.Errorf("degraded %t by %s: %s", a.Degraded, a.Engine, a.Reason)
	}
	sameIDs(t, a.Hits, "a1", "a2", "a3")
	if h := a.Hits[0]; h.Document == nil || h.BM25 != nil || h.Score != similarity(*h.Distance, "cosine") {
		t.Errorf("the first hit is %+v", h)
	}
	a = ask(t, m, Options{}, Question{Like: "a0", Results: 9, Filter: backend.Filter{Where: backend.Equal("wing", "land")}})
	sameIDs(t, a.Hits, "a2", "a3")

	var none *NotFoundError
	if _, err := New(m, Options{}).Search(t.Context(), Question{Like: "nobody"}); !errors.As(err, &none) || none.ID != "nobody" {
		t.Errorf("a drawer that is not there gives %v", err)
	}
}

func TestAnEngineThatCannotAnswerIsReplacedAndTold(t *testing.T) {
	t.Parallel()
	m, o := library()
	o.Engines = map[string]func(context.Context, backend.Filter) (Engine, error){
		Stored: func(context.Context, backend.Filter) (Engine, error) { return nil, errors.New("it is torn") },
	}
	a := ask(t, m, o, Question{Words: "harbor", Engine: Stored})
	degraded(t, a, Exact, "not the stored index: it is torn")
	sameIDs(t, a.Hits, "a0", "a1")
	a = ask(t, m, o, Question{Words: "harbor", Engine: Graph})
	degraded(t, a, Exact, "not the graph: this kind of palace has none")

	var engine *EngineError
	if _, err := New(m, o).Search(t.Context(), Question{Words: "x", Engine: "magic"}); !errors.As(err, &engine) {
		t.Errorf("an unknown engine gives %v", err)
	}
}

func TestAPalaceThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	m, o := library()
	m.broken = &backend.DamagedError{Path: "chroma.sqlite3", Part: "embeddings", Err: errors.New("malformed")}
	for _, q := range []Question{{Words: "harbor"}, {Words: "harbor", Engine: Keyword}, {Like: "a0"}} {
		var damaged *backend.DamagedError
		if _, err := New(m, o).Search(t.Context(), q); !errors.As(err, &damaged) {
			t.Errorf("%+v gives %v", q, err)
		}
	}
}

func TestLaterTextsComeFirstInTies(t *testing.T) {
	t.Parallel()
	hits := make([]Hit, 4)
	for i, m := range []backend.Metadata{{"authored_at": "2024-01-01"}, {"filed_at": "2026-01-01"}, {}, {"authored_at": "2025-01-01", "filed_at": "2027"}} {
		hits[i] = Hit{Record: backend.Record{ID: "a" + string(rune('0'+i)), Metadata: m}, Text: "same"}
	}
	rank(hits, "same", "cosine", DefaultWeights)
	sameIDs(t, hits, "a2", "a1", "a3", "a0") // "unknown" sorts behind digits, as in MemPalace
}
