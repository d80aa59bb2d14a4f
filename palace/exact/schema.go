package exact

import (
	"context"
	"fmt"

	"castellan/palace/backend"
)

// The tables as MemPalace 3.11 makes them (backends/sqlite_exact.py), so that
// either program finds what it would have made itself.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS meta (
		key TEXT PRIMARY KEY,
		value TEXT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS collections (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		name TEXT NOT NULL UNIQUE,
		dimension INTEGER,
		created_at TEXT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS documents (
		collection_id INTEGER NOT NULL,
		id TEXT NOT NULL,
		document TEXT NOT NULL,
		metadata_json TEXT NOT NULL,
		embedding BLOB NOT NULL,
		dim INTEGER NOT NULL,
		created_at TEXT NOT NULL,
		updated_at TEXT NOT NULL,
		PRIMARY KEY (collection_id, id),
		FOREIGN KEY(collection_id) REFERENCES collections(id) ON DELETE CASCADE
	)`,
	`CREATE INDEX IF NOT EXISTS idx_documents_collection
		ON documents(collection_id)`,
}

var indexes = []string{
	`CREATE INDEX IF NOT EXISTS idx_documents_coll_wing_room_hall
		ON documents(collection_id, wing, room, hall)`,
	`CREATE INDEX IF NOT EXISTS idx_documents_coll_source_file
		ON documents(
			collection_id,
			(json_extract(metadata_json, '$.source_file'))
		)`,
}

const fullText = `CREATE VIRTUAL TABLE IF NOT EXISTS docs_fts
	USING fts5(collection_id UNINDEXED, doc_id UNINDEXED, document)`

// written are the columns that a write names. Further ones are tomorrow's and
// have to do without us.
var written = []shape{
	{"meta", []string{"key", "value"}},
	{"collections", []string{"id", "name", "dimension", "created_at"}},
	{"documents", []string{"collection_id", "id", "document", "metadata_json", "embedding", "dim", "created_at", "updated_at"}},
}

// ensureSchema makes what is missing, which is everything in a new file and
// columns in an older one, and refuses a database of another shape. It is
// part of the transaction: a write that fails leaves an old file old.
func (t *writeTx) ensureSchema(ctx context.Context, palace string) (query, error) {
	const doing = "bringing the tables up to date in"
	before, err := newQuery(ctx, t, palace)
	if err != nil {
		return query{}, err
	}
	if len(before.columns) == 0 {
		// A database that holds other things is none of ours.
		n, err := before.number(ctx, "SELECT count(*) FROM sqlite_master")
		if err != nil {
			return query{}, err
		}
		if n > 0 {
			return query{}, &backend.SchemaError{Path: t.path, Detail: "it holds tables, but none of sqlite_exact"}
		}
	}
	for _, s := range tables {
		if err := t.exec(doing, s); err != nil {
			return query{}, err
		}
	}
	if before.has("collections") && !before.has("collections", "dimension") {
		// MemPalace leaves the new column empty, after which the next write may have any length and makes the rows that
		// are there invisible to searches. They say themselves what they have.
		for _, s := range []string{
			"ALTER TABLE collections ADD COLUMN dimension INTEGER",
			"UPDATE collections SET dimension = (SELECT d.dim FROM documents d WHERE d.collection_id = collections.id ORDER BY d.rowid LIMIT 1)",
		} {
			if err := t.exec(doing, s); err != nil {
				return query{}, err
			}
		}
	}
	for _, field := range locusFields {
		if before.has("documents", field) {
			continue
		}
		err := t.exec(doing, fmt.Sprintf("ALTER TABLE documents ADD COLUMN %s TEXT GENERATED ALWAYS AS (json_extract(metadata_json, '$.%s')) VIRTUAL", field, field))
		if err != nil {
			return query{}, err
		}
	}
	for _, s := range indexes {
		if err := t.exec(doing, s); err != nil {
			return query{}, err
		}
	}
	if err := t.ensureFullText(ctx, before); err != nil {
		return query{}, err
	}
	after, err := newQuery(ctx, t, palace)
	if err != nil {
		return query{}, err
	}
	return after, after.need(written)
}

// ensureFullText makes the full-text index. A file that was written by a
// SQLite without FTS5 has documents and no index yet. MemPalace would make an
// empty one and then find nothing of them; it is filled here.
func (t *writeTx) ensureFullText(ctx context.Context, q query) error {
	const doing = "making the full-text index of"
	made, err := q.number(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'docs_fts'")
	if err != nil {
		return err
	}
	if made == 0 {
		if err := t.exec(doing, fullText); err != nil {
			return err
		}
		err := t.exec(doing, "INSERT INTO docs_fts(collection_id, doc_id, document) SELECT collection_id, id, document FROM documents ORDER BY rowid")
		if err != nil {
			return err
		}
	}
	said, err := q.number(ctx, "SELECT count(*) FROM meta WHERE key = 'fts5_available' AND value = '1'")
	if err != nil || said == 1 {
		return err
	}
	return t.setMeta("fts5_available", "1")
}

func (t *writeTx) setMeta(key, value string) error {
	return t.exec("writing meta of", "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", key, value)
}
