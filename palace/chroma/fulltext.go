package chroma

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// ErrNoFullText says that the full-text index cannot be relied on for an
// answer: the documents have to be read.
var ErrNoFullText = errors.New("the full-text index cannot be used")

// Bounds of a question to the full-text index: MemPalace reads as many matches,
// and an expression of more terms is more than FTS5 likes to parse.
const (
	maxMatches = 50_000
	maxTerms   = 200
)

// EachTextMatch hands out the records that hold one of the terms in their text,
// whatever the case and also inside of words, in the order of the full-text
// index: what it takes for the best match first. number orders records as they
// were filed. It ends when fn answers false or after 50,000. The index knows no
// term shorter than three characters.
//
// It fails with ErrNoFullText where the index is missing, does not hold as many
// texts as there are documents, stumbles, or where writes wait that it cannot
// know. What was handed out until then is of no use.
func (c *Collection) EachTextMatch(ctx context.Context, terms []string, f backend.Filter, fn func(id string, number int64, text string) bool) error {
	started := false
	return c.view(ctx, func(sc *scope) error {
		if started {
			return fmt.Errorf("%w: the database changed while it was asked", ErrNoFullText)
		}
		if err := sc.trustText(ctx); err != nil {
			return err
		}
		q, err := sc.ask(ctx, f)
		if err != nil {
			return err
		}
		cond, err := q.condition(ctx, wholeSets, 0, 0)
		if err != nil {
			return err
		}
		base, args := q.base()
		args = append(args, matchExpression(terms), maxMatches)
		rows, err := sc.q.QueryContext(ctx, "SELECT e.embedding_id, e.id, t.string_value FROM "+ftsTable+" t JOIN embeddings e ON e.id = t.rowid WHERE t."+
			ftsTable+" MATCH ?4 AND "+base+cond.and()+" ORDER BY t.rank LIMIT ?5", cond.around(args...)...)
		if err != nil {
			return unanswered(err)
		}
		defer rows.Close()
		for rows.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			var id, doc any
			var number int64
			if err := rows.Scan(&id, &number, &doc); err != nil {
				return err
			}
			started = true
			if !fn(textOr(id, ""), number, textOr(doc, "")) {
				return nil
			}
		}
		if err := rows.Err(); err != nil {
			return unanswered(err)
		}
		return nil
	})
}

// matchExpression is "a" OR "b"; a quote within a term is doubled.
func matchExpression(terms []string) string {
	quoted := make([]string, 0, len(terms))
	for _, t := range terms[:min(len(terms), maxTerms)] {
		quoted = append(quoted, `"`+strings.ReplaceAll(t, `"`, `""`)+`"`)
	}
	return strings.Join(quoted, " OR ")
}

// trustText compares the two sides' counts: what the index has lost would be
// lost to the answer, and it is the part of a palace that breaks most.
func (sc *scope) trustText(ctx context.Context) error {
	if !sc.pending.none() {
		return fmt.Errorf("%w: writes wait that it does not hold yet", ErrNoFullText)
	}
	var f TextFacts
	f, err := readTextPresence(ctx, sc.q)
	if err != nil {
		return err
	}
	if !f.Present || !f.Shadows {
		return fmt.Errorf("%w: it is missing", ErrNoFullText)
	}
	count := func(query string) (n int64, err error) {
		err = sc.q.QueryRowContext(ctx, query).Scan(&n)
		return n, unanswered(err)
	}
	texts, err := count("SELECT count(*) FROM " + ftsTable + "_docsize")
	if err != nil {
		return err
	}
	// Nearly every record has a document. Counting those goes through the texts
	// themselves, seconds in a large palace, so it waits until it must be.
	records, err := count("SELECT count(*) FROM embeddings")
	if err != nil || records == texts {
		return err
	}
	documents, err := count("SELECT count(*) FROM embedding_metadata WHERE key = '" + documentKey + "' AND string_value IS NOT NULL")
	if err != nil {
		return err
	}
	if documents != texts {
		return fmt.Errorf("%w: it holds %d texts of %d", ErrNoFullText, texts, documents)
	}
	return nil
}

// unanswered tells what is wrong with the full-text index from what is wrong
// with the database.
func unanswered(err error) error {
	var answer *dbfile.SQLError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dbfile.ErrBusy), errors.Is(err, dbfile.ErrIO), errors.Is(err, dbfile.ErrFull):
		return err
	case errors.As(err, &answer):
		return fmt.Errorf("%w: %w", ErrNoFullText, err)
	}
	return err
}
