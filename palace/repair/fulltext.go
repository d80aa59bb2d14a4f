package repair

import (
	"context"
	"fmt"
	"time"

	"castellan/palace/chroma"
	"castellan/palace/dbfile"
)

// fulltext builds the full-text index again from the documents.
type fulltext struct {
	shadows []string
	present bool
}

const (
	textTable  = "embedding_fulltext_search"
	textSchema = "CREATE VIRTUAL TABLE " + textTable + " USING fts5(string_value, tokenize='trigram')"
	documents  = "FROM embedding_metadata m JOIN embeddings e ON e.id = m.id WHERE m.key = 'chroma:document' AND m.string_value IS NOT NULL"
	// Versions of SQLite split what follows a NUL into other words, and a row
	// can only be removed from an index by the words it went in with: such a
	// document would damage the index when Chroma deletes it.
	indexable = " AND instr(CAST(m.string_value AS BLOB), x'00') = 0"
)

func (x *fulltext) prepare(ctx context.Context, pt *patient) (work, error) {
	w := work{touches: []string{pt.database()}}
	var texts, bytes, left int64
	err := pt.p.DB().View(ctx, func(tx *dbfile.Tx) error {
		x.shadows, x.present = nil, false
		rows, err := tx.Query(ctx, "SELECT name FROM sqlite_master WHERE name = ? OR name GLOB ?", textTable, textTable+"_*")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			switch name {
			case textTable:
				x.present = true
			case textTable + "_data", textTable + "_idx", textTable + "_content", textTable + "_docsize", textTable + "_config":
				x.shadows = append(x.shadows, name)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, "SELECT count(*), COALESCE(sum(length(CAST(m.string_value AS BLOB))), 0) "+documents+indexable, nil, &texts, &bytes); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT count(*) "+documents+" AND NOT (1"+indexable+")", nil, &left)
	})
	w.steps = []string{fmt.Sprintf("build the full-text index again from %s", count(texts, "document", "documents"))}
	if left > 0 {
		w.notes = append(w.notes, fmt.Sprintf("%s stay out of the full-text index, which Chroma's SQLite and this one would split differently; searches by meaning find them", count(left, "document with a NUL character", "documents with a NUL character")))
	}
	w.bytes, w.estimate = 12*bytes, time.Second+time.Duration(bytes)*100*time.Nanosecond
	return w, err
}

func (x *fulltext) perform(ctx context.Context, pt *patient, run *running) error {
	if err := run.phase("build the full-text index", false); err != nil {
		return err
	}
	if err := run.at("fulltext"); err != nil {
		return err
	}
	return run.mend(ctx, pt, func(m *chroma.Mending) error {
		// Dropping reads nothing of a damaged index. Without its declaration what
		// is left of it are ordinary tables.
		if x.present {
			if err := m.Define("DROP TABLE " + textTable); err != nil {
				return err
			}
		} else {
			for _, name := range x.shadows {
				if err := m.Define("DROP TABLE " + name); err != nil {
					return err
				}
			}
		}
		if err := m.Define(textSchema); err != nil {
			return err
		}
		_, err := m.Exec("INSERT INTO " + textTable + " (rowid, string_value) SELECT m.id, m.string_value " + documents + indexable)
		return err
	})
}
