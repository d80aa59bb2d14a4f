package chroma

import (
	"context"
	"errors"
	"fmt"

	"castellan/palace/backend"
)

// Writer is a collection that can be changed. Every call is one transaction.
type Writer struct {
	*Collection
	to *Writable
}

// Add files records whose ids are new; the engine leaves a record that it
// knows as it is.
func (c *Writer) Add(ctx context.Context, list []backend.Record) error {
	return c.file(ctx, OpAdd, list)
}

// Upsert files new records and merges the others.
func (c *Writer) Upsert(ctx context.Context, list []backend.Record) error {
	return c.file(ctx, OpUpsert, list)
}

func (c *Writer) file(ctx context.Context, op Operation, list []backend.Record) error {
	entries, err := checkRecords(op, list)
	if err != nil {
		return err
	}
	return c.write(ctx, entries)
}

// Update merges like Upsert but passes over unknown ids.
func (c *Writer) Update(ctx context.Context, list []backend.Change) error {
	entries, err := checkChanges(list)
	if err != nil {
		return err
	}
	return c.write(ctx, entries)
}

func (c *Writer) write(ctx context.Context, entries []entry) error {
	if len(entries) == 0 {
		return c.to.stillOpen()
	}
	return c.run(ctx, func(g *ground) ([]entry, error) {
		return entries, g.settleDimension(entries)
	})
}

// Delete removes the records that match and says how many there were. The
// filter is resolved to ids in the transaction that deletes them.
func (c *Writer) Delete(ctx context.Context, f backend.Filter) (int64, error) {
	if saysNothing(f) {
		return 0, &backend.UnsupportedFilterError{Subject: "delete", Reason: "an empty filter would delete everything; name the ids or a condition"}
	}
	var n int64
	err := c.run(ctx, func(g *ground) ([]entry, error) {
		ids, err := g.resolve(ctx, f)
		entries := make([]entry, len(ids))
		for i, id := range ids {
			entries[i] = entry{queueRow: queueRow{op: OpDelete, id: id}, text: "{}"}
		}
		n = int64(len(ids))
		return entries, err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// run makes one write of what prepare answers with. Where the full-text index
// must be left to Chroma the write is made once more, for the queue alone.
func (c *Writer) run(ctx context.Context, prepare func(*ground) ([]entry, error)) error {
	err := c.attempt(ctx, false, prepare)
	if errors.Is(err, errForeignText) {
		err = c.attempt(ctx, true, prepare)
	}
	return err
}

func (c *Writer) attempt(ctx context.Context, queueOnly bool, prepare func(*ground) ([]entry, error)) error {
	return c.to.writeTo(ctx, func(tx *writeTx) error {
		f, err := c.to.stand(ctx, tx)
		if err != nil {
			return err
		}
		g, err := f.enterCollection(ctx, c.row.ID, c.row.Name)
		if err != nil {
			return err
		}
		entries, err := prepare(g)
		if err != nil || len(entries) == 0 {
			return err
		}
		return g.put(ctx, entries, queueOnly)
	})
}

// resolve finds the ids that a filter lets through, waiting writes applied.
func (g *ground) resolve(ctx context.Context, f backend.Filter) ([]string, error) {
	sc, err := g.c.scope(ctx, g.tx, g.s)
	if err != nil {
		return nil, err
	}
	q, err := sc.ask(ctx, f)
	if err != nil {
		return nil, err
	}
	var ids []string
	for from := (cursor{}); ; {
		list, err := q.after(ctx, from, largestPage)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			ids = append(ids, p.id)
		}
		if len(list) < largestPage {
			return ids, nil
		}
		from = list[len(list)-1].cursor(sc.stamp)
	}
}

// settleDimension holds every vector to the collection's dimension; the first
// write decides it.
func (g *ground) settleDimension(entries []entry) error {
	want, known := 0, g.row.Dimension != nil
	if known {
		want = *g.row.Dimension
	}
	for i, e := range entries {
		n := e.dimension()
		switch {
		case n == 0:
		case !known && want == 0:
			want = n
		case n != want:
			return &backend.InvalidRecordError{ID: e.id, Index: i, Reason: fmt.Sprintf("its vector has %d dimensions, the collection %d", n, want)}
		}
	}
	if !known && want != 0 {
		g.row.Dimension, g.decided = &want, true
	}
	return nil
}

// put appends entries to the queue, and applies them when nobody else has the
// palace open. Rows of the queue are never removed here, and its top row least
// of all: the purge is Chroma's, which knows what its index holds.
func (g *ground) put(ctx context.Context, entries []entry, queueOnly bool) error {
	// Asked in any case: it is also the last chance to say that our lock was lost.
	alone, err := g.w.alone(ctx)
	if err != nil {
		return err
	}
	if g.decided {
		// While it is NULL Chroma passes over the collection's queue.
		if err := g.tx.exec("collections", "UPDATE collections SET dimension = ? WHERE id = ?", *g.row.Dimension, g.row.ID); err != nil {
			return err
		}
	}
	var ap *applier
	if alone && !queueOnly {
		if ap, err = g.catchUp(ctx); err != nil {
			return err
		}
	}
	const appendRow = "INSERT INTO embeddings_queue (seq_id, operation, topic, id, vector, encoding, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
	topic := g.row.Topic()
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &entries[i]
		g.last++
		e.seq = g.last
		var vector, encoding any
		if e.vector != nil {
			vector, encoding = e.vector, "FLOAT32"
		}
		if _, err := g.tx.again("embeddings_queue", appendRow, e.seq, int64(e.op), topic, e.id, vector, encoding, e.text); err != nil {
			return err
		}
		if ap == nil {
			continue
		}
		if err := ap.apply(e.queueRow); err != nil {
			return err
		}
	}
	if ap == nil {
		return nil
	}
	return ap.moveTo(g.last)
}
