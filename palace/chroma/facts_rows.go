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

// sideRows sums up the rows of embedding_metadata: how many belong to no record,
// and, by segment, how many records have metadata. One pass in the order of its
// primary key; the keys Chroma writes for itself are no metadata.
func sideRows(ctx context.Context, q querier) (orphans int64, told map[string]int64, err error) {
	rows, err := q.QueryContext(ctx, `SELECT e.segment_id, sum(m.told), sum(m.n) FROM
		(SELECT id, max(key < 'chroma:' OR key >= 'chroma;') AS told, count(*) AS n FROM embedding_metadata GROUP BY id) m
		LEFT JOIN embeddings e ON e.id = m.id GROUP BY e.segment_id`)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	told = map[string]int64{}
	for rows.Next() {
		var segment any
		var n, all int64
		if err := rows.Scan(&segment, &n, &all); err != nil {
			return 0, nil, err
		}
		if segment == nil {
			orphans += all
		} else {
			told[textOr(segment, "")] = n
		}
	}
	return orphans, told, rows.Err()
}

// countStored counts the records of a segment, without the index, which may be
// damaged (MemPalace #1362).
func countStored(ctx context.Context, q querier, segment string) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT count(*) FROM embeddings NOT INDEXED WHERE segment_id = ?", segment).Scan(&n)
	return n, err
}

// countOrphans counts the rows of embedding_metadata_array whose record is gone.
// Record numbers are reused, so a new record would show a dead one's list values.
func countOrphans(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT count(*) FROM embedding_metadata_array t WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.id = t.id)").Scan(&n)
	return n, err
}
