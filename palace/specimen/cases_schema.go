package specimen

import (
	"context"
	"os"
	"path/filepath"
)

// schemaCases are about tables, configuration and who made the vectors.
func schemaCases() []Sickness {
	return []Sickness{
		{
			Name: "future-migration", Title: "made by a newer Chroma", Case: "Chroma: migrations", Base: "fresh", Effect: Works,
			Story: "A newer Chroma has opened this palace and applied a migration that ours does not know. Chroma 1.5.9 takes no notice.",
			Apply: statements(`INSERT INTO migrations(dir, version, filename, sql, hash)
				VALUES('sysdb', 11, '00011-collection-shards.sqlite.sql', 'ALTER TABLE collections ADD COLUMN shards INTEGER;', '0123456789abcdef0123456789abcdef')`,
				"ALTER TABLE collections ADD COLUMN shards INTEGER"),
		},
		{
			Name: "migration-altered", Title: "migration of another text", Case: "Chroma: migrations", Base: "fresh", Effect: Refuses,
			Story: "A recorded migration is not the one that Chroma has under that number: a fork of Chroma made this palace.",
			Apply: statements("UPDATE migrations SET hash = '0123456789abcdef0123456789abcdef', sql = sql || '-- forked' WHERE dir = 'metadb' AND version = 5"),
		},
		{
			Name: "future-column", Title: "a column we do not know", Case: "Chroma: schema_str came in 1.2", Base: "fresh", Effect: Works,
			Story: "Another tool added a column to embeddings.",
			Apply: statements("ALTER TABLE embeddings ADD COLUMN tier TEXT"),
		},
		{
			Name: "config-without-type", Title: "configuration without _type", Case: "MemPalace #1611", Base: "healthy", Healthy: true, Effect: Works,
			Story: "The configuration is {}: some versions of chromadb raise KeyError '_type' over it and the command line then says \"No palace found\".",
			Apply: statements("UPDATE collections SET config_json_str = '{}'"),
		},
		{
			Name: "config-unreadable", Title: "configuration cut off", Case: "Chroma #4380", Base: "healthy", Effect: Refuses,
			Story: "The drawers' configuration is no JSON and the newer schema is not there.",
			Apply: statements(`UPDATE collections SET config_json_str = '{"vector_index":{"hnsw":{"spa', schema_str = NULL WHERE name = 'mempalace_drawers'`),
		},
		{
			Name: "space-forgotten", Title: "cosine taken for l2", Case: "Chroma: schema_str NULL", Base: "healthy", Effect: Wrong,
			Story: "The schema was lost and the configuration is {}: Chroma falls back to l2, though the collection's metadata says cosine. Distances come out doubled.",
			Apply: statements("UPDATE collections SET schema_str = NULL, config_json_str = '{}'"),
		},
		{
			Name: "dimension-mismatch", Title: "dimension does not fit the index", Case: "MemPalace #903", Base: "synced", Effect: Wrong,
			Story: "The collection says 768 numbers a vector, the index holds 384: another embedding model was configured in between.",
			Apply: statements("UPDATE collections SET dimension = 768"),
		},
		{
			Name: "dimension-unset", Title: "no dimension recorded", Case: "Chroma: dimension NULL", Base: "fresh", Effect: Wrong,
			Story: "The collection has drawers but no dimension, so Chroma never looks into the queue.",
			Apply: statements("UPDATE collections SET dimension = NULL"),
		},
		{
			Name: "embedder-mismatch", Title: "two embedding models", Case: "MemPalace #2150", Base: "healthy", Effect: Works,
			Story: "Chroma records that the default model made the drawers, MemPalace's own note says embeddinggemma; the closets were made by minilm. A repair that embeds again would change the model.",
			Apply: inTurn(
				statements(`UPDATE collections SET schema_str = json_set(schema_str,
					'$.keys."#embedding".float_list.vector_index.config.embedding_function', json('{"type":"known","name":"default","config":{}}'))`),
				embedderNote(`{"mempalace_drawers": {"model_name": "embeddinggemma", "dimension": 384}, "mempalace_closets": {"model_name": "minilm", "dimension": 384}}`),
			),
		},
	}
}

// embedderNote writes the file in which MemPalace notes the model.
func embedderNote(text string) apply {
	return func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "mempalace_embedder.json"), []byte(text), 0o600)
	}
}
