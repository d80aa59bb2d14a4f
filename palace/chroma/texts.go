package chroma

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode/utf8"
)

// errForeignText ends an attempt to apply a write that Chroma has to apply.
var errForeignText = errors.New("a document's full-text row is Chroma's to change")

// isForeignText reports a text that SQLite's trigram tokenizer splits in other
// ways from version to version: Chroma's 3.46 stops at a NUL, later ones pass
// over it. A row is taken out of the index by splitting it again, so that
// the wrong version leaves words of it behind, which SQLite calls a malformed
// database. Every other code point was found to be split alike.
func isForeignText(s string) bool {
	return strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)
}

// texts gathers what a write makes of the full-text index, by record number,
// and does it at once: between two of its rows any statement that SQLite keeps
// a savepoint for would have the index flushed, a segment for every record.
type texts struct {
	tx      *writeTx
	by      map[int64]*textChange
	numbers []int64 // in the order they came
	size    int     // of the documents, in bytes
}

type textChange struct {
	stale bool    // there is a row to take out first
	doc   *string // nil for none
}

// The texts held at once: a segment of the index should be large, and memory
// bounded.
const (
	maxTexts    = 5_000
	maxTextSize = 32 << 20
)

// replace gives a record another document, or none.
func (t *texts) replace(number int64, doc *string, known bool) error {
	if doc != nil && isForeignText(*doc) {
		return errForeignText
	}
	c := t.by[number]
	if c == nil {
		if len(t.by) >= maxTexts || t.size >= maxTextSize {
			if err := t.flush(); err != nil {
				return err
			}
		}
		c = &textChange{}
		t.by[number] = c
		t.numbers = append(t.numbers, number)
		if known {
			stale, err := t.indexed(number)
			if err != nil {
				return err
			}
			c.stale = stale
		}
	}
	c.doc = doc
	if doc != nil {
		t.size += len(*doc)
	}
	return nil
}

// indexed looks for a record's row in the index, and at its text: a row is
// taken out by splitting that again.
func (t *texts) indexed(number int64) (bool, error) {
	s, err := t.tx.prepare("SELECT string_value FROM " + ftsTable + " WHERE rowid = ?")
	if err != nil {
		return false, writeError(t.tx.path, ftsTable, err)
	}
	var doc any
	err = s.QueryRowContext(context.Background(), number).Scan(&doc)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, writeError(t.tx.path, ftsTable, err)
	case isForeignText(textOr(doc, "")):
		return false, errForeignText
	}
	return true, nil
}

func (t *texts) flush() error {
	for _, number := range t.numbers {
		c := t.by[number]
		if c.stale {
			if _, err := t.tx.again(ftsTable, "DELETE FROM "+ftsTable+" WHERE rowid = ?", number); err != nil {
				return err
			}
		}
		if c.doc == nil {
			continue
		}
		if _, err := t.tx.again(ftsTable, "INSERT INTO "+ftsTable+" (rowid, string_value) VALUES (?, ?)", number, *c.doc); err != nil {
			return err
		}
	}
	clear(t.by)
	t.numbers, t.size = t.numbers[:0], 0
	return nil
}
