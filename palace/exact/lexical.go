package exact

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"unicode"

	"castellan/palace/backend"
	"castellan/palace/dbfile"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// LexicalHit is one record that a search by words has found.
type LexicalHit struct {
	backend.Record
	// Score is BM25: larger is better.
	Score float64
}

// LexicalSearch finds the k documents that hold any of the words, best first,
// with their metadata. It asks the full-text index; without one, or when the
// index does not answer, it reads every document.
func (c *Collection) LexicalSearch(ctx context.Context, words string, k int, where backend.Where) ([]LexicalHit, error) {
	if err := refuseWhere(where); err != nil {
		return nil, err
	}
	var hits []LexicalHit
	tokens := tokenize(words)
	err := c.ask(ctx, func(q query, in collection) error {
		hits = nil
		if k <= 0 || len(tokens) == 0 {
			return nil
		}
		found, ok, err := q.byFullText(ctx, in, tokens, k, where)
		if err == nil && !ok {
			found, err = q.byReading(ctx, in, tokens, k, where)
		}
		hits = found
		return err
	})
	return hits, err
}

// tokenize is MemPalace's: \w{2,} of the text in small letters, both as Python
// has them.
func tokenize(text string) []string {
	var list []string
	words := strings.FieldsFunc(cases.Lower(language.Und).String(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_'
	})
	for _, w := range words {
		if len(w) > 1 && len([]rune(w)) > 1 {
			list = append(list, w)
		}
	}
	return list
}

// byFullText asks the index; false when it is not there or does not answer.
func (q query) byFullText(ctx context.Context, in collection, tokens []string, k int, where backend.Where) (hits []LexicalHit, ok bool, err error) {
	if !q.has("meta", "key", "value") {
		return nil, false, nil
	}
	said, err := q.number(ctx, "SELECT count(*) FROM meta WHERE key = 'fts5_available' AND value = '1'")
	if err != nil || said == 0 {
		return nil, false, err
	}
	list, err := q.fullTextRanks(ctx, in, tokens, k, where == nil)
	if err != nil {
		return nil, false, unlessUnanswered(err)
	}
	for chunk := range slices.Chunk(list, batch) {
		args := []any{in.id}
		for _, r := range chunk {
			args = append(args, r.id)
		}
		found := make(map[string]row, len(chunk))
		s := scan{query: q, in: in, filter: backend.Filter{Where: where}, include: backend.Documents | backend.Metadatas}
		_, err := s.rows(ctx, condition{sql: "collection_id = ? AND " + inList("id", len(chunk)), args: args}, func(r row) bool {
			found[r.id] = r
			return true
		})
		if err != nil {
			return nil, false, err
		}
		for _, ranked := range chunk {
			r, ok := found[ranked.id]
			if !ok {
				continue
			}
			hits = append(hits, LexicalHit{r.record(s.include), -ranked.rank})
			if len(hits) == k {
				return hits, true, nil
			}
		}
	}
	return hits, true, nil
}

type textRank struct {
	id   string
	rank float64 // SQLite's bm25: less is better
}

// fullTextRanks are the documents with one of the words, best first. Words are
// barewords to FTS5, whose operators are all capitals.
func (q query) fullTextRanks(ctx context.Context, in collection, tokens []string, k int, bounded bool) ([]textRank, error) {
	text, args := "SELECT doc_id, bm25(docs_fts) AS rank FROM docs_fts WHERE docs_fts MATCH ? AND collection_id = ? ORDER BY rank, rowid",
		[]any{strings.Join(tokens, " OR "), in.id}
	if bounded {
		// Some may have no document any more.
		text, args = text+" LIMIT ?", append(args, 5*int64(k))
	}
	rows, err := q.tx.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []textRank
	for rows.Next() {
		var id any
		var r textRank
		if err := rows.Scan(&id, &r.rank); err != nil {
			return nil, err
		}
		r.id, _ = id.(string)
		list = append(list, r)
	}
	return list, rows.Err()
}

// unlessUnanswered passes what has nothing to do with the full-text index: a
// table that is missing or damaged is answered for by reading the documents.
func unlessUnanswered(err error) error {
	var answer *dbfile.SQLError
	switch {
	case errors.Is(err, dbfile.ErrBusy), errors.Is(err, dbfile.ErrIO), errors.Is(err, dbfile.ErrFull), errors.Is(err, sql.ErrConnDone):
		return err
	case errors.As(err, &answer):
		return nil
	}
	return err
}

// inList is column IN (?, ...) for n values.
func inList(column string, n int) string {
	return column + " IN (?" + strings.Repeat(", ?", n-1) + ")"
}
