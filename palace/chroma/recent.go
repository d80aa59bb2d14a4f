package chroma

import (
	"context"
	"encoding/json"
	"time"
)

// Write is one row of the queue, for people: who wrote what, and when.
type Write struct {
	SeqID int64
	// At is when the row was written; zero when it cannot be read.
	At time.Time
	Op Operation
	ID string
	// What the write says of the record; empty where it does not say.
	Wing, Room, Source, AddedBy string
}

// RecentWrites are the newest n writes of a collection that the queue still
// has, the newest first.
func (p *Palace) RecentWrites(ctx context.Context, collection string, n int) ([]Write, error) {
	c, err := p.collection(ctx, collection)
	if err != nil {
		return nil, err
	}
	var list []Write
	err = c.view(ctx, func(sc *scope) error {
		list, err = sc.recentWrites(ctx, n)
		return err
	})
	return list, err
}

func (sc *scope) recentWrites(ctx context.Context, n int) ([]Write, error) {
	rows, err := sc.q.QueryContext(ctx, `SELECT seq_id, operation, id, metadata, strftime('%Y-%m-%dT%H:%M:%SZ', created_at)
		FROM embeddings_queue WHERE topic = ? ORDER BY seq_id DESC LIMIT ?`, sc.c.row.Topic(), max(n, 0))
	if err != nil {
		return nil, sc.c.damaged("embeddings_queue", err)
	}
	defer rows.Close()
	var list []Write
	for rows.Next() {
		var w Write
		var op, id, metadata, at any
		if err := rows.Scan(&w.SeqID, &op, &id, &metadata, &at); err != nil {
			return nil, err
		}
		code, ok := op.(int64)
		if w.Op = Operation(code); !ok {
			w.Op = -1
		}
		w.ID = textOr(id, "")
		w.At, _ = time.Parse(time.RFC3339, textOr(at, ""))
		w.describe(textOr(metadata, ""))
		list = append(list, w)
	}
	return list, sc.c.damaged("embeddings_queue", rows.Err())
}

// describe takes what it can from a row's metadata; a row that cannot be read
// was written all the same.
func (w *Write) describe(metadata string) {
	var m map[string]any
	if json.Unmarshal([]byte(metadata), &m) != nil {
		return
	}
	w.Wing, w.Room = textOr(m["wing"], ""), textOr(m["room"], "")
	w.Source, w.AddedBy = textOr(m["source_file"], ""), textOr(m["added_by"], "")
}
