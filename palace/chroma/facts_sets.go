package chroma

import (
	"context"
	"errors"
	"slices"

	"castellan/palace/dbfile"
)

// readSets scans the queue once and then every collection's ids, all in one
// transaction.
func (f *Facts) readSets(ctx context.Context, q querier, s shape, path string, sets []*coverage, depth Depth) error {
	rows, err := readCatalog(ctx, q, s, path)
	if err := f.tolerate(err, "the segments' positions", false); err != nil {
		return err
	}
	now := make([]CollectionRow, len(f.Collections))
	for i, c := range f.Collections {
		// The positions may have moved since the indexes were read.
		if at := slices.IndexFunc(rows, func(r CollectionRow) bool { return r.ID == c.Row.ID }); at >= 0 {
			f.Collections[i].Row = rows[at]
		}
		now[i] = f.Collections[i].Row
	}
	scan, err := scanQueue(ctx, q, s, now, depth == Full)
	f.Queue = scan.facts
	if err := f.tolerate(err, "the write queue", false); err != nil {
		return err
	}
	if !s.has("embeddings") {
		return nil
	}
	for i := range f.Collections {
		if err := f.coverOne(ctx, q, &f.Collections[i], sets[i], scan.writes[now[i].Topic()]); err != nil {
			return err
		}
	}
	return nil
}

// coverOne replays a collection's queue over its index, then hands in its live
// ids: the stored ones with the writes applied that wait for the metadata
// segment.
func (f *Facts) coverOne(ctx context.Context, q querier, c *CollectionFacts, sets *coverage, writes []queuedWrite) error {
	applied := c.Row.maxSeqID(ScopeMetadata)
	loaded := int64(0)
	if c.Index.Flushed() {
		loaded = c.Row.maxSeqID(ScopeVector)
	}
	purged := min(c.Row.maxSeqID(ScopeVector), applied)
	waiting := pending{}
	for _, w := range writes {
		if w.seq > loaded {
			sets.replay(w.op, w.id, w.vector)
		}
		if w.vector && !c.Index.Flushed() && w.seq < purged {
			c.AtStake++
		}
		if w.seq > applied {
			c.Unapplied++
			waiting.add(w)
		}
	}
	seg := c.Row.Segment(ScopeMetadata)
	if seg == nil {
		return nil
	}
	name := "the ids of " + c.Row.Name
	hand := func(id []byte) {
		if waiting.keeps(id) {
			sets.addLive(id)
		}
	}
	err := eachStoredID(ctx, q, seg.ID, true, hand)
	if errors.Is(err, dbfile.ErrCorrupt) {
		// Half of the ids may have been handed in already.
		waiting.forget()
		sets.forgetLive()
		if around := eachStoredID(ctx, q, seg.ID, false, hand); around != nil {
			return f.tolerate(around, name, false)
		}
		err = f.tolerate(err, name, true)
	} else if err != nil {
		return f.tolerate(err, name, false)
	}
	if err != nil {
		return err
	}
	for id := range waiting {
		if waiting.appears(id) {
			sets.addLive([]byte(id))
		}
	}
	result := sets.result()
	c.Coverage, c.Rows = &result, &result.Live
	return nil
}

// pending is what waiting writes will make of the ids they name.
type pending map[string]*fate

type fate struct{ deleted, created, stored bool }

func (p pending) add(w queuedWrite) {
	f := p[w.id]
	if f == nil {
		f = &fate{}
		p[w.id] = f
	}
	switch w.op {
	case OpDelete:
		f.deleted, f.created = true, false
	case OpAdd, OpUpsert:
		f.created = true
	}
}

// keeps reports whether a stored id is still live once the writes are applied.
func (p pending) keeps(id []byte) bool {
	f := p[string(id)]
	if f == nil {
		return true
	}
	f.stored = true
	return !f.deleted || f.created
}

// appears reports whether an id comes to life that is not stored yet.
func (p pending) appears(id string) bool { return p[id].created && !p[id].stored }

func (p pending) forget() {
	for _, f := range p {
		f.stored = false
	}
}
