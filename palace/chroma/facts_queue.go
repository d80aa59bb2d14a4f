package chroma

import (
	"context"
	"strings"
)

// QueueFacts sums up the write-ahead queue.
type QueueFacts struct {
	Rows int64
	// Lowest and Highest sequence numbers, nil when the queue is empty.
	Lowest, Highest *int64
	// Faults are rows Chroma stumbles over, the first of them; FaultCount is
	// all of them.
	Faults     []QueueFault
	FaultCount int64
	// Strangers counts rows whose topic no collection has.
	Strangers int64
}

// maxFaults bounds the evidence kept.
const maxFaults = 20

// queuedWrite is a queue row as far as sets of ids need it.
type queuedWrite struct {
	seq    int64
	op     Operation
	id     string
	vector bool
}

// queueScan is one pass over the queue for every collection at once: with a
// threshold of 50,000 a queue holds 50,000 vectors, a page of the file each.
type queueScan struct {
	facts QueueFacts
	// writes by topic, in sequence order; rows Chroma cannot see left out.
	writes map[string][]queuedWrite
}

// scanQueue reads every row. The vector's length is known without reading it.
// The metadata is parsed only where all is asked for or the row waits for the
// metadata segment; of the others its two ends are looked at, which is where a
// text that was cut or overwritten shows. AND does not keep SQLite from asking a
// text that is no JSON for its type, which fails; CASE does. Rows with a fault are passed over,
// as they are when records are read.
func scanQueue(ctx context.Context, q querier, s shape, rows []CollectionRow, all bool) (queueScan, error) {
	scan := queueScan{writes: map[string][]queuedWrite{}}
	if !s.hasColumn("embeddings_queue", "seq_id") {
		return scan, nil
	}
	byTopic := make(map[string]CollectionRow, len(rows))
	lowest := int64(-1)
	for _, r := range rows {
		byTopic[r.Topic()] = r
		if n := r.maxSeqID(ScopeMetadata); lowest < 0 || n < lowest {
			lowest = n
		}
	}
	if all {
		lowest = -1
	}
	res, err := q.QueryContext(ctx, `SELECT seq_id, topic, operation, id, typeof(vector), length(vector), encoding,
		strftime('%s', created_at) IS NULL,
		CASE WHEN seq_id > ? THEN metadata IS NULL OR CASE WHEN json_valid(metadata) THEN json_type(metadata) = 'object' ELSE 0 END
			ELSE metadata IS NULL OR (substr(metadata, 1, 1) = '{' AND substr(metadata, -1) = '}') END
		FROM embeddings_queue ORDER BY seq_id`, lowest)
	if err != nil {
		return scan, err
	}
	defer res.Close()
	for res.Next() {
		var seq int64
		var topic, op, id, kind, length, encoding, metadata any
		var unseen bool
		if err := res.Scan(&seq, &topic, &op, &id, &kind, &length, &encoding, &unseen, &metadata); err != nil {
			return scan, err
		}
		scan.facts.count(seq)
		row, ok := byTopic[textOr(topic, "")]
		if !ok {
			scan.facts.Strangers++
			continue
		}
		code, isInt := op.(int64)
		n, _ := length.(int64)
		w := queuedWrite{seq: seq, op: Operation(code), id: textOr(id, "")}
		hasVector := textOr(kind, "null") == "blob"
		fault := queueRowFault(rowShape{
			known: isInt && code >= 0 && code <= int64(OpDelete), op: w.op, id: w.id,
			vector: hasVector, encoding: strings.ToUpper(textOr(encoding, "")), bytes: n,
			dimension: row.Dimension, unseen: unseen, metadata: truthy(metadata),
		})
		if fault != "" {
			scan.facts.fault(QueueFault{SeqID: seq, Kind: fault})
		}
		if fault != "" {
			continue
		}
		w.vector = hasVector
		t := row.Topic()
		scan.writes[t] = append(scan.writes[t], w)
	}
	return scan, res.Err()
}

func (f *QueueFacts) count(seq int64) {
	f.Rows++
	if f.Lowest == nil {
		f.Lowest = &seq
	}
	top := seq
	f.Highest = &top
}

func (f *QueueFacts) fault(q QueueFault) {
	f.FaultCount++
	if len(f.Faults) < maxFaults {
		f.Faults = append(f.Faults, q)
	}
}

func truthy(v any) bool {
	n, ok := v.(int64)
	return !ok || n != 0
}
