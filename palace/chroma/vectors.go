package chroma

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"castellan/palace/hnswlib"
)

// vectors finds the vectors of some records. A vector lies in the queue when
// its write came after the last flush of the index, else in the index files;
// what lies nowhere is left nil.
//
// The queue has no index by id. But a stored record carries the number of its
// last write, and where that row has a vector it is the newest there is. Only
// ids which that does not settle (metadata changed later, a queue that was
// refilled by a repair) cost a walk through the queue.
func (sc *scope) vectors(ctx context.Context, ix *index, list []place) ([][]float32, error) {
	out := make([][]float32, len(list))
	flushed := ix.flushed(sc.flushed)
	bySeq := map[int64]int{}
	for i, p := range list {
		if p.pending == nil && p.seq > flushed {
			bySeq[p.seq] = i
		}
	}
	if err := sc.queuedVectors(ctx, list, bySeq, out); err != nil {
		return nil, err
	}
	inIndex := map[int]int{} // internal index → place
	var open []int
	for i, p := range list {
		if out[i] != nil {
			continue
		}
		internal, ok := ix.ids.find(p.id)
		if ok && p.pending == nil && p.seq <= flushed {
			inIndex[internal] = i
		} else {
			open = append(open, i)
		}
	}
	if len(open) > 0 && sc.stamp.queueTop > flushed {
		last, err := sc.p.replays.get(ctx, sc, ix, flushed)
		if err != nil {
			return nil, err
		}
		clear(bySeq)
		for _, i := range open {
			seq, known := last[list[i].id]
			internal, ok := ix.ids.find(list[i].id)
			switch {
			case known && seq > 0:
				bySeq[seq] = i
			case !known && ok:
				inIndex[internal] = i
			}
		}
		if err := sc.queuedVectors(ctx, list, bySeq, out); err != nil {
			return nil, err
		}
	} else {
		for _, i := range open {
			if internal, ok := ix.ids.find(list[i].id); ok {
				inIndex[internal] = i
			}
		}
	}
	return out, sc.indexVectors(ctx, ix, inIndex, out)
}

// queuedVectors reads the rows with these sequence numbers; a row that is not
// the record's, or has no sound vector, gives nothing.
func (sc *scope) queuedVectors(ctx context.Context, list []place, bySeq map[int64]int, out [][]float32) error {
	if len(bySeq) == 0 {
		return nil
	}
	seqs := make(idSet, 0, len(bySeq))
	for seq := range bySeq {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	rows, err := sc.q.QueryContext(ctx, `SELECT seq_id, operation, id, vector, encoding FROM embeddings_queue
		WHERE seq_id IN (SELECT value FROM json_each(?)) AND topic = ? AND strftime('%s', created_at) IS NOT NULL`, seqs.json(), sc.c.row.Topic())
	if err != nil {
		return sc.c.damaged("embeddings_queue", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var op, id, vector, encoding any
		if err := rows.Scan(&seq, &op, &id, &vector, &encoding); err != nil {
			return err
		}
		i := bySeq[seq]
		code, isInt := op.(int64)
		blob, isBlob := vector.([]byte)
		if isInt && isBlob && code >= int64(OpAdd) && code <= int64(OpUpsert) &&
			textOr(id, "") == list[i].id && strings.EqualFold(textOr(encoding, ""), "FLOAT32") {
			out[i] = decodeVector(blob, sc.dimension)
		}
	}
	return sc.c.damaged("embeddings_queue", rows.Err())
}

// indexVectors reads vectors from the index files. For cosine they lie there
// divided by their length, which stands in a file of its own; where that is
// lost the unit vector is what is left, and for cosine as good.
func (sc *scope) indexVectors(ctx context.Context, ix *index, at map[int]int, out [][]float32) error {
	space := sc.c.row.Config.Space
	if len(at) == 0 || ix.reader == nil || space == "" {
		return nil
	}
	if d := ix.reader.Header().Dimension(); sc.dimension != nil && d != *sc.dimension {
		return nil
	}
	internals := make([]int, 0, len(at))
	for internal := range at {
		internals = append(internals, internal)
	}
	slices.SortFunc(internals, cmp.Compare[int])
	var unreadable *hnswlib.ElementError
	var short *hnswlib.ShortError
	err := ix.reader.Vectors(ctx, internals, func(internal int, v []float32) error {
		out[at[internal]] = slices.Clone(v)
		return nil
	})
	if errors.As(err, &unreadable) || errors.As(err, &short) {
		err = nil
	}
	if err != nil || space != "cosine" {
		return err
	}
	for _, internal := range internals {
		v := out[at[internal]]
		norm, err := ix.reader.Norm(internal)
		if v == nil || err != nil || !(norm > 0) || math.IsInf(float64(norm), 0) {
			continue
		}
		for i := range v {
			v[i] *= norm
		}
	}
	return ctx.Err()
}

// A replay says for each id in the queue where its newest vector is: the
// sequence number of the row that has it, 0 when the id was deleted since. Ids
// that are not in it have what the index has.
type replay map[string]int64

// replayCache keeps the replay of each collection while nothing changes.
type replayCache struct {
	mu sync.Mutex
	by map[string]cachedReplay
}

type cachedReplay struct {
	stamp   stamp
	index   indexStamp
	flushed int64
	replay  replay
}

func (c *replayCache) get(ctx context.Context, sc *scope, ix *index, flushed int64) (replay, error) {
	c.mu.Lock()
	found, ok := c.by[sc.c.row.ID]
	c.mu.Unlock()
	if ok && found.stamp == sc.stamp && found.index == ix.stamp && found.flushed == flushed {
		return found.replay, nil
	}
	r, err := sc.replay(ctx, ix, flushed)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]cachedReplay{}
	}
	c.by[sc.c.row.ID] = cachedReplay{sc.stamp, ix.stamp, flushed, r}
	return r, nil
}

// replay walks through the rows above the last flush as the engine does when
// it loads the segment: an add of a known id and an update of an unknown one
// change nothing.
func (sc *scope) replay(ctx context.Context, ix *index, flushed int64) (replay, error) {
	last := replay{}
	err := sc.eachQueuedVector(ctx, flushed, func(r queueRow, vector bool) {
		seq, seen := last[r.id]
		known := seq > 0
		if !seen {
			_, known = ix.ids.find(r.id)
		}
		switch {
		case r.op == OpDelete:
			last[r.id] = 0
		case !vector:
		case r.op == OpUpsert, r.op == OpAdd && !known, r.op == OpUpdate && known:
			last[r.id] = r.seq
		}
	})
	return last, err
}

// eachQueuedVector reads rows without their metadata, which lies behind the
// vector and would have to be parsed.
func (sc *scope) eachQueuedVector(ctx context.Context, above int64, fn func(r queueRow, vector bool)) error {
	rows, err := sc.q.QueryContext(ctx, `SELECT seq_id, operation, id, typeof(vector), length(vector), encoding,
		strftime('%s', created_at) IS NOT NULL FROM embeddings_queue WHERE seq_id > ? AND topic = ? ORDER BY seq_id`,
		above, sc.c.row.Topic())
	if err != nil {
		return sc.c.damaged("embeddings_queue", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var seq, op, id, kind, length, encoding, visible any
		if err := rows.Scan(&seq, &op, &id, &kind, &length, &encoding, &visible); err != nil {
			return err
		}
		r := readQueueRow(sc.dimension, seq, op, id, kind, length, encoding, nil, visible)
		if r.fault == "" {
			fn(r, textOr(kind, "") == "blob")
		}
	}
	return sc.c.damaged("embeddings_queue", rows.Err())
}
