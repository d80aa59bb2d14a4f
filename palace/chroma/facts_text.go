package chroma

import (
	"context"
	"database/sql"
)

// ftsTable is the full-text index over the documents, and ftsShadows the
// tables FTS5 keeps it in.
const ftsTable = "embedding_fulltext_search"

// TextFacts says how the full-text index stands beside the documents. Chroma
// does not notice a missing or damaged one; only filters on text miss rows.
type TextFacts struct {
	// Present says that the virtual table is declared; Shadows that its data
	// is there. Shadows without Present is what a broken repair leaves
	// (MemPalace #1238): quick_check calls it ok.
	Present, Shadows bool
	// Documents and Rows are the two sides' counts, nil where not asked for.
	Documents, Rows *int64
	// NotIndexed counts documents without a row in the index, Dead rows
	// without a document, Differing those that hold another text; nil where
	// not asked for.
	NotIndexed, Dead, Differing *int64
	// Damage is what SQLite's own check of the index says; nil where it was
	// not run, empty when all is well.
	Damage []string
	// Checked says that the check was run.
	Checked bool
	// NULDocuments counts documents that hold a NUL, asked for only where the
	// check found something. Versions of SQLite index what follows a NUL
	// differently, so the check calls a sound index of such documents damaged,
	// and its word counts for nothing.
	NULDocuments int64
}

func readTextPresence(ctx context.Context, q querier) (TextFacts, error) {
	var f TextFacts
	var sqlText sql.NullString
	err := q.QueryRowContext(ctx, "SELECT sql FROM sqlite_master WHERE name = ?", ftsTable).Scan(&sqlText)
	if err != nil && err != sql.ErrNoRows {
		return f, err
	}
	f.Present = err == nil
	var shadows int64
	err = q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name IN (?, ?)", ftsTable+"_content", ftsTable+"_data").Scan(&shadows)
	f.Shadows = shadows == 2
	return f, err
}

// compareText holds the index's own copy of every document against the
// document. It reads both whole, so it belongs on a private copy.
func compareText(ctx context.Context, q querier, f *TextFacts) error {
	if !f.Shadows {
		return nil
	}
	for _, ask := range []struct {
		into  **int64
		query string
	}{
		{&f.Documents, "SELECT count(*) FROM embedding_metadata WHERE key = 'chroma:document' AND string_value IS NOT NULL"},
		{&f.Rows, "SELECT count(*) FROM " + ftsTable + "_content"},
		{&f.NotIndexed, "SELECT count(*) FROM embedding_metadata m WHERE m.key = 'chroma:document' AND m.string_value IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " + ftsTable + "_content c WHERE c.id = m.id)"},
		{&f.Dead, "SELECT count(*) FROM " + ftsTable + "_content c WHERE NOT EXISTS (SELECT 1 FROM embedding_metadata m WHERE m.id = c.id AND m.key = 'chroma:document' AND m.string_value IS NOT NULL)"},
		{&f.Differing, "SELECT count(*) FROM " + ftsTable + "_content c JOIN embedding_metadata m ON m.id = c.id AND m.key = 'chroma:document' WHERE m.string_value IS NOT NULL AND m.string_value IS NOT c.c0"},
	} {
		var n int64
		if err := q.QueryRowContext(ctx, ask.query).Scan(&n); err != nil {
			return err
		}
		*ask.into = &n
	}
	return nil
}

func countNULDocuments(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT count(*) FROM embedding_metadata WHERE key = 'chroma:document' AND instr(string_value, char(0)) > 0").Scan(&n)
	return n, err
}
