package chroma

import (
	"context"
	"encoding/binary"
	"math"
	"strings"

	"castellan/palace/backend"
)

// queueRow is one write as the queue has it.
type queueRow struct {
	seq      int64
	op       Operation
	id       string
	metadata backend.Metadata // chroma:document and chroma:uri included
	deleted  []string         // keys that the write removes
	fault    FaultKind        // "" when the engine takes the row
}

// queueColumns are those of a row without its vector: of that the type and the
// length are known without reading it. A row whose created_at does not parse
// is invisible to the engine, as is one that lies beyond the year 2262.
const queueColumns = `seq_id, operation, id, typeof(vector), length(vector), encoding, metadata,
	COALESCE(CAST(strftime('%s', created_at) AS INTEGER) <= 9223372036, 0)`

// eachQueued reads the collection's rows above a position, in order.
func (sc *scope) eachQueued(ctx context.Context, above int64, fn func(queueRow) error) error {
	rows, err := sc.q.QueryContext(ctx, "SELECT "+queueColumns+" FROM embeddings_queue WHERE seq_id > ? AND topic = ? ORDER BY seq_id",
		above, sc.c.row.Topic())
	if err != nil {
		return sc.c.damaged("embeddings_queue", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var seq, op, id, kind, length, encoding, metadata, visible any
		if err := rows.Scan(&seq, &op, &id, &kind, &length, &encoding, &metadata, &visible); err != nil {
			return err
		}
		if err := fn(readQueueRow(sc.dimension, seq, op, id, kind, length, encoding, metadata, visible)); err != nil {
			return err
		}
	}
	return sc.c.damaged("embeddings_queue", rows.Err())
}

func readQueueRow(dimension *int, seq, op, id, kind, length, encoding, metadata, visible any) queueRow {
	var r queueRow
	r.seq, _ = seq.(int64)
	r.id = textOr(id, "")
	code, isInt := op.(int64)
	r.op = Operation(code)
	bytes, _ := length.(int64)
	seen, _ := visible.(int64)
	parsed := metadata == nil
	if t := text(metadata); t != nil {
		var err error
		r.metadata, r.deleted, err = parseQueued(*t)
		parsed = err == nil
	}
	r.fault = queueRowFault(rowShape{
		known: isInt && code >= int64(OpAdd) && code <= int64(OpDelete), op: r.op, id: r.id,
		vector: textOr(kind, "null") == "blob", encoding: strings.ToUpper(textOr(encoding, "")), bytes: bytes,
		dimension: dimension, unseen: seen == 0, metadata: parsed,
	})
	return r
}

// parseQueued reads a row's metadata. The engine panics on a document that is
// no text.
func parseQueued(s string) (backend.Metadata, []string, error) {
	m, deleted, err := backend.ParseMetadata([]byte(s))
	if err != nil {
		return nil, nil, err
	}
	for _, key := range deleted {
		if key == documentKey {
			return nil, nil, errDocument
		}
	}
	if doc, ok := m[documentKey]; ok {
		if _, isText := doc.(string); !isText {
			return nil, nil, errDocument
		}
	}
	return m, deleted, nil
}

// apply merges a write into a record's metadata: keys it does not name stay.
func (r queueRow) apply(m backend.Metadata) {
	for _, key := range r.deleted {
		delete(m, key)
	}
	for key, v := range r.metadata {
		m[key] = v
	}
}

// decodeVector reads float32s, little-endian; nil when their number is not the
// collection's.
func decodeVector(b []byte, dimension *int) []float32 {
	if len(b) == 0 || len(b)%4 != 0 || dimension != nil && len(b) != 4**dimension {
		return nil
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
