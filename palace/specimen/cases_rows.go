package specimen

import (
	"context"
)

// rowCases are about the drawers themselves.
func rowCases() []Sickness {
	return []Sickness{
		{
			Name: "drawers-without-wing", Title: "drawers nobody shelved", Case: "MemPalace #1458", Base: "healthy", Effect: Works,
			Story: "Forty drawers have neither wing nor room, one has an empty wing and one a number for a wing. A listing by wing must still add up.",
			Apply: statements(
				"DELETE FROM embedding_metadata WHERE key IN ('wing', 'room') AND id BETWEEN 101 AND 140",
				"UPDATE embedding_metadata SET string_value = '' WHERE key = 'wing' AND id = 141",
				"UPDATE embedding_metadata SET string_value = NULL, int_value = 42 WHERE key = 'wing' AND id = 142",
			),
		},
		{
			Name: "drawers-without-metadata", Title: "drawers without a word", Case: "MemPalace #1009", Base: "healthy", Effect: Works,
			Story: "Three drawers have no metadata and no text at all, only their id and vector: a repair died on them after seven hours.",
			Apply: statements(
				"DELETE FROM embedding_fulltext_search WHERE rowid BETWEEN 201 AND 203",
				"DELETE FROM embedding_metadata WHERE id BETWEEN 201 AND 203",
			),
		},
		{
			Name: "ten-thousand-wall", Title: "more than 10,000 drawers", Case: "MemPalace #1208", Base: "empty", Healthy: true, Effect: Works,
			Story: "The small wings were filed last. Whoever reads the first 10,000 rows never sees them.",
			Apply: func(ctx context.Context, dir string) error {
				return Generate(ctx, dir, Spec{Rows: 10012, Dimension: 64, DocumentChars: 80, Queued: 12, SmallWings: 6})
			},
		},
		{
			Name: "rows-without-embedding", Title: "metadata without a drawer", Case: "Chroma #5259", Base: "healthy", Effect: Wrong,
			Story: "A delete was cut short: the drawers' rows are gone, their metadata and their text are left. Row numbers are used again, so a new drawer would inherit them.",
			Apply: statements("DELETE FROM embeddings WHERE id BETWEEN 1491 AND 1500"),
		},
	}
}

// sequenceCases are about max_seq_id, by which Chroma knows what it has done.
func sequenceCases() []Sickness {
	// A shim turned the number into an INTEGER before Chroma's own migration,
	// which then read the decimal digits as bytes: 0x1111 and "502498".
	const poison = "1229822654365841720"
	return []Sickness{
		{
			Name: "seq-id-poisoned", Title: "sequence number poisoned", Case: "MemPalace #1134", Base: "healthy", Effect: Swallows,
			Story: "The drawers' sequence number is 0x1111 and six digits, far beyond any write. New drawers are accepted and never appear.",
			Apply: statements("UPDATE max_seq_id SET seq_id = " + poison + " WHERE segment_id = {metadata}"),
		},
		{
			Name: "seq-id-poisoned-vector", Title: "index's sequence number poisoned", Case: "MemPalace #1295", Base: "synced", Effect: Loses,
			Story: "The index's sequence number is poisoned: new vectors never reach it and are then purged from the queue.",
			Apply: statements("UPDATE max_seq_id SET seq_id = " + poison + " WHERE segment_id = {vector}"),
		},
		{
			Name: "seq-id-poisoned-queued", Title: "poisoned, with writes waiting", Case: "MemPalace #1597", Base: "fresh", Effect: Swallows,
			Story: "The sequence number is poisoned and three writes wait in the queue that were never applied.",
			Apply: inTurn(
				appendQueue("2, 'late_1', "+goodVector+", 'FLOAT32', '{\"wing\":\"wing_late\"}'", "2, 'late_2', "+goodVector+", 'FLOAT32', '{}'", "2, 'late_3', "+goodVector+", 'FLOAT32', '{}'"),
				statements("UPDATE max_seq_id SET seq_id = "+poison+" WHERE segment_id = {metadata}"),
			),
		},
		{
			Name: "seq-id-blob", Title: "sequence numbers as bytes", Case: "MemPalace #1254", Base: "healthy", Effect: Works,
			Story: "The drawers' sequence numbers are 8-byte big-endian blobs, as chromadb before 1.0 wrote them.",
			Apply: statements("UPDATE embeddings SET seq_id = unhex(printf('%016X', seq_id))"),
		},
		{
			Name: "seq-id-blob-max", Title: "highest number as bytes", Case: "MemPalace #1714", Base: "healthy", Effect: Refuses,
			Story: "max_seq_id holds an 8-byte blob, which a current Chroma cannot read: every operation fails.",
			Apply: statements("UPDATE max_seq_id SET seq_id = unhex(printf('%016X', seq_id)) WHERE segment_id = {metadata}"),
		},
		{
			Name: "vector-seq-without-pickle", Title: "flush recorded, index never flushed", Case: "Chroma: purge", Base: "healthy", Effect: Loses,
			Story: "The index is said to hold everything and has never been written. All vectors wait in the queue; the next write purges them.",
			Apply: statements("INSERT INTO max_seq_id(segment_id, seq_id) VALUES({vector}, 1500)"),
		},
		{
			Name: "queue-top-lost", Title: "queue emptied by hand", Case: "Chroma: bare rowid", Base: "synced", Effect: Swallows,
			Story: "Somebody emptied the queue to save space. SQLite hands out low numbers again, and what is written under them is taken for old and dropped.",
			Apply: statements("DELETE FROM embeddings_queue"),
		},
	}
}
