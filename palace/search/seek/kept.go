package seek

import (
	"context"
	"errors"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/search"
)

// maxKept is how many vectors stay in memory between questions: some 150 MB of
// 384 floats.
const maxKept = 100_000

// Kept is what the questions of a session share: the vectors, and the stored
// index, of the collection that was searched last. Both are read again when a
// file of the palace has changed.
type Kept struct {
	turn chan struct{} // holds one token; whoever has it may use the rest

	palace     *palace.Palace
	collection string
	stamp      palace.Stamp
	vectors    *search.Vectors
	stored     search.Engine
}

// NewKept keeps nothing yet.
func NewKept() *Kept {
	k := &Kept{turn: make(chan struct{}, 1)}
	k.turn <- struct{}{}
	return k
}

// errStream sends a question to the scan that keeps nothing.
var errStream = errors.New("not kept in memory")

// enter waits for the turn, and forgets what does not fit any more.
func (k *Kept) enter(ctx context.Context, p *palace.Palace, c backend.Collection) (leave func(), err error) {
	select {
	case <-k.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave = func() { k.turn <- struct{}{} }
	// The stamp comes before the reading: what is written meanwhile shows next
	// time.
	now, changed, err := p.Changed(ctx, k.stamp)
	if err != nil {
		leave()
		return nil, err
	}
	if name := c.Info().Name; changed || k.palace != p || k.collection != name {
		k.palace, k.collection, k.stamp = p, name, now
		k.vectors, k.stored = nil, nil
	}
	return leave, nil
}

// exact is the scan over memory, for questions about the whole collection.
func (k *Kept) exact(ctx context.Context, p *palace.Palace, c backend.Collection, f backend.Filter) (search.Engine, error) {
	if !f.IsZero() {
		return nil, errStream
	}
	leave, err := k.enter(ctx, p, c)
	if err != nil {
		return nil, err
	}
	defer leave()
	if k.vectors == nil {
		n, err := c.Count(ctx, f)
		if err != nil {
			return nil, err
		}
		if n > maxKept {
			return nil, errStream
		}
		v, err := search.LoadVectors(ctx, c, f, 0)
		if err != nil {
			return nil, err
		}
		if v.Len() == 0 {
			return nil, errStream // the scan says what there is to say
		}
		k.vectors = v
	}
	return k.vectors, nil
}

func (k *Kept) index(ctx context.Context, p *palace.Palace, c backend.Collection) (search.Engine, error) {
	leave, err := k.enter(ctx, p, c)
	if err != nil {
		return nil, err
	}
	defer leave()
	if k.stored == nil {
		e, err := stored(ctx, p, c)
		if err != nil {
			return nil, err
		}
		k.stored = e
	}
	return k.stored, nil
}

// stored loads the index of a collection.
func stored(ctx context.Context, p *palace.Palace, c backend.Collection) (search.Engine, error) {
	var index *chroma.StoredIndex
	err := withCollection(ctx, p, c.Info().Name, func(c *chroma.Collection) (err error) {
		index, err = c.StoredIndex(ctx, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	parts := search.StoredParts{Graph: index.Graph, IDs: index.IDs}
	for _, q := range index.Queued {
		parts.QueuedIDs, parts.Queued = append(parts.QueuedIDs, q.ID), append(parts.Queued, q.Vector)
	}
	return search.NewStoredSearch(ctx, c, parts)
}
