package specimen

import (
	"context"
	"fmt"
	"path/filepath"
)

// collectionCases are about collections and their two segments.
func collectionCases() []Sickness {
	return []Sickness{
		{
			Name: "collection-missing", Title: "no collection", Case: "MemPalace #830", Base: "empty", Healthy: true, Effect: Works,
			Story: "Chroma has made its database; nothing has been filed yet.",
			Apply: nothing,
		},
		{
			Name: "collection-empty", Title: "collection without drawers", Case: "MemPalace #830", Base: "empty", Healthy: true, Effect: Works,
			Story: "The collection was made, then the first mine was stopped.",
			Apply: func(ctx context.Context, dir string) error { return Generate(ctx, dir, Spec{}) },
		},
		{
			Name: "collection-left-over", Title: "a second copy of everything", Case: "MemPalace #1516", Base: "healthy", Effect: Works,
			Story: "An interrupted repair left a whole collection behind, under a name that MemPalace never reads. It doubles the database.",
			Apply: copyDrawers("mempalace_drawers_20260101", 1500),
		},
		{
			Name: "rebuild-unfinished", Title: "repair stopped half-way", Case: "MemPalace #1458", Base: "healthy", Effect: Works,
			Story: "A repair was killed after 900 of 1,500 drawers: its temporary collection is still there, the drawers are whole.",
			Apply: copyDrawers("mempalace_drawers__repair_tmp", 900),
		},
		{
			Name: "segments-doubled", Title: "four segments for one collection", Case: "Chroma: segments", Base: "fresh", Effect: Wrong,
			Story: "A merge of two databases left the collection with a second pair of segments, which hold nothing.",
			Apply: statements(`INSERT INTO segments(id, type, scope, collection) SELECT '00000000-0000-4000-8000-00000000000' || rowid, type, scope, collection FROM segments`),
		},
		{
			Name: "segment-scope-wrong", Title: "both segments say METADATA", Case: "Chroma: segments", Base: "fresh", Effect: Refuses,
			Story: "The index's segment has the wrong scope, so the collection has none for vectors.",
			Apply: statements("UPDATE segments SET scope = 'METADATA' WHERE scope = 'VECTOR'"),
		},
		{
			Name: "segment-missing", Title: "no segment for vectors", Case: "Chroma: segments", Base: "fresh", Effect: Refuses,
			Story: "The row of the index's segment is gone.",
			Apply: statements("DELETE FROM segments WHERE scope = 'VECTOR'"),
		},
	}
}

// copyDrawers files the first n drawers of the sample "healthy" once more,
// into another collection. There ids and sequence numbers run from 1 to 1,600,
// the drawers first.
func copyDrawers(name string, n int) apply {
	const last = 1600
	c := newCollection(name, 0)
	return inTurn(
		statements(
			fmt.Sprintf(`INSERT INTO collections(id, name, dimension, database_id, config_json_str, schema_str)
				SELECT '%s', '%s', dimension, database_id, config_json_str, schema_str FROM collections WHERE id = {drawers}`, c.id, c.name),
			fmt.Sprintf(`INSERT INTO collection_metadata(collection_id, key, str_value, int_value)
				SELECT '%s', key, str_value, int_value FROM collection_metadata WHERE collection_id = {drawers}`, c.id),
			fmt.Sprintf(`INSERT INTO segments(id, type, scope, collection)
				SELECT CASE scope WHEN 'VECTOR' THEN '%s' ELSE '%s' END, type, scope, '%s' FROM segments WHERE collection = {drawers}`, c.vectors, c.records, c.id),
			fmt.Sprintf(`INSERT INTO embeddings_queue(seq_id, created_at, operation, topic, id, vector, encoding, metadata)
				SELECT seq_id + %d, created_at, operation, '%s', id, vector, encoding, metadata FROM embeddings_queue WHERE seq_id <= %d`, last, c.topic(), n),
			fmt.Sprintf(`INSERT INTO embeddings(id, segment_id, embedding_id, seq_id, created_at)
				SELECT id + %d, '%s', embedding_id, seq_id + %d, created_at FROM embeddings WHERE id <= %d`, last, c.records, last, n),
			fmt.Sprintf(`INSERT INTO embedding_metadata(id, key, string_value, int_value)
				SELECT id + %d, key, string_value, int_value FROM embedding_metadata WHERE id <= %d`, last, n),
			fmt.Sprintf(`INSERT INTO embedding_fulltext_search(rowid, string_value)
				SELECT rowid + %d, string_value FROM embedding_fulltext_search WHERE rowid <= %d`, last, n),
			fmt.Sprintf(`INSERT INTO max_seq_id(segment_id, seq_id) VALUES('%s', %d)`, c.records, last+n),
		),
		func(_ context.Context, dir string) error {
			w, err := newIndexWriter(filepath.Join(dir, c.vectors), 0, 384)
			if err != nil {
				return err
			}
			return w.finish()
		},
	)
}
