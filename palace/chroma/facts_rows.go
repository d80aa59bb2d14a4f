package chroma

import (
	"context"
	"database/sql"
)

// eachStoredID hands out every stored user id of a metadata segment. The bytes
// are valid until fn returns. The automatic index of embeddings is the b-tree
// SQLite likes to answer by. When it is damaged the question fails while the
// table beneath still has every row (MemPalace #1362): hence the second form,
// which may not use it.
func eachStoredID(ctx context.Context, q querier, segment string, indexed bool, fn func(id []byte)) error {
	rows, err := q.QueryContext(ctx, "SELECT embedding_id FROM embeddings"+hint(indexed)+" WHERE segment_id = ?", segment)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return err
		}
		fn(id)
	}
	return rows.Err()
}

func hint(indexed bool) string {
	if indexed {
		return ""
	}
	return " NOT INDEXED"
}

// readBlobSeqIDs counts records written by Chroma 0.6 or older, and finds the
// highest number among the others. One pass over the table, no index helps.
func readBlobSeqIDs(ctx context.Context, q querier) (blobs, highest int64, err error) {
	var b, h sql.NullInt64
	err = q.QueryRowContext(ctx, `SELECT sum(typeof(seq_id) = 'blob'),
		max(CASE WHEN typeof(seq_id) = 'integer' AND seq_id <= ? THEN seq_id END)
		FROM embeddings NOT INDEXED`, maxSaneSeqID).Scan(&b, &h)
	return b.Int64, h.Int64, err
}

// readApplied finds the highest sequence number among a collection's stored
// records, blobs decoded: the evidence against a poisoned position. nil when
// there are no records.
func readApplied(ctx context.Context, q querier, segment string) (*int64, error) {
	rows, err := q.QueryContext(ctx, `SELECT max(seq_id) FROM embeddings NOT INDEXED WHERE segment_id = ? GROUP BY typeof(seq_id)`, segment)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var highest *int64
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		// 8 bytes big-endian compare like the numbers they hold.
		n := decodeSeqID(v)
		if n.Storage != "null" && !n.Poisoned() && (highest == nil || n.Value > *highest) {
			highest = &n.Value
		}
	}
	return highest, rows.Err()
}

// countBare counts records without a single metadata row. MemPalace's repair
// used to die on them after hours (MemPalace #1458).
func countBare(ctx context.Context, q querier, segment string) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM embeddings e WHERE e.segment_id = ?
		AND NOT EXISTS (SELECT 1 FROM embedding_metadata m WHERE m.id = e.id AND m.key NOT LIKE 'chroma:%')`, segment).Scan(&n)
	return n, err
}

// countOrphans counts rows of a side table whose record is gone. Record
// numbers are reused, so a new record would show a dead one's list values.
func countOrphans(ctx context.Context, q querier, table string) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM "+table+" t WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.id = t.id)").Scan(&n)
	return n, err
}
