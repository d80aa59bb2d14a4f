package specimen

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// collection is what SQLite knows of one collection.
type collection struct {
	id, name         string
	vectors, records string // segment ids of scope VECTOR and METADATA
}

// newCollection makes up a collection's ids from the seed, so that a palace
// can be generated again.
func newCollection(name string, seed uint64) collection {
	return collection{
		id: makeUUID(name, seed, "collection"), name: name,
		vectors: makeUUID(name, seed, "VECTOR"), records: makeUUID(name, seed, "METADATA"),
	}
}

// makeUUID is a version 4 UUID that depends on its arguments alone.
func makeUUID(name string, seed uint64, what string) string {
	b := sha256.Sum256(fmt.Appendf(nil, "castellan specimen %s %d %s", name, seed, what))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// topic is where the collection's writes are queued.
func (c collection) topic() string { return "persistent://default/default/" + c.id }

// create inserts a collection that has or will have rows, as Chroma does for
// MemPalace: the parameters in schema_str, and once more in collection_metadata, where MemPalace looks.
func (c collection) create(ctx context.Context, tx *sql.Tx, s Spec, rows int) error {
	const database = "00000000-0000-0000-0000-000000000000" // Chroma's default
	var dimension any                                       // NULL until the first write
	if rows > 0 {
		dimension = s.Dimension
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO collections(id, name, dimension, database_id, config_json_str, schema_str)
		VALUES(?, ?, ?, ?, '{}', ?)`, c.id, c.name, dimension, database, schema(s))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO segments(id, type, scope, collection) VALUES
		(?, 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', ?),
		(?, 'urn:chroma:segment/metadata/sqlite', 'METADATA', ?)`, c.vectors, c.id, c.records, c.id)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO collection_metadata(collection_id, key, str_value, int_value) VALUES
		(?1, 'hnsw:space', 'cosine', NULL), (?1, 'hnsw:num_threads', NULL, 1),
		(?1, 'hnsw:batch_size', NULL, ?2), (?1, 'hnsw:sync_threshold', NULL, ?3)`, c.id, s.batchSize(), s.SyncThreshold)
	return err
}

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

// schema is schema_str of a cosine collection whose vectors Chroma's default
// embedding function made, with one entry for each metadata key of a drawer.
func schema(s Spec) string {
	index := func(enabled bool, config object) object { return object{"enabled": enabled, "config": config} }
	text := func(words, values bool) object {
		return object{"string": object{"fts_index": index(words, object{}), "string_inverted_index": index(values, object{})}}
	}
	scalar := func(kind string) object {
		return object{kind: object{kind + "_inverted_index": index(true, object{})}}
	}
	vector := func(enabled bool) object {
		config := object{
			"space":              "cosine",
			"embedding_function": object{"type": "known", "name": "default", "config": object{}},
			"hnsw": object{
				"ef_construction": 100, "max_neighbors": maxM, "ef_search": 100, "num_threads": 1,
				"batch_size": s.batchSize(), "sync_threshold": s.SyncThreshold, "resize_factor": 1.2,
			},
		}
		if enabled {
			config["source_key"] = "#document"
		}
		return object{"float_list": object{"vector_index": index(enabled, config)}}
	}
	bm25 := object{"embedding_function": object{"type": "unknown"}, "bm25": false}
	defaults := object{"sparse_vector": object{"sparse_vector_index": index(false, bm25)}}
	for _, part := range []object{text(false, true), vector(false), scalar("int"), scalar("float"), scalar("bool")} {
		maps.Copy(defaults, part)
	}
	keys := object{"#document": text(true, false), "#embedding": vector(true)}
	for _, key := range strings.Fields("wing room source_file added_by filed_at content_date content_date_source id_recipe hall entities") {
		keys[key] = text(false, true)
	}
	for _, key := range strings.Fields("chunk_index normalize_version line_start line_end chunk_total drawer_count") {
		keys[key] = scalar("int")
	}
	keys["source_mtime"] = scalar("float")
	b, err := json.Marshal(object{"defaults": defaults, "keys": keys})
	if err != nil {
		panic(err) // maps of strings, numbers and booleans only
	}
	return string(b)
}
