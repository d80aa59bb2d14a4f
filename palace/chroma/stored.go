package chroma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"castellan/palace/hnswlib"
)

// ErrNoIndex says that a collection has no index files yet: every vector waits
// in the queue, which is how most palaces are.
var ErrNoIndex = errors.New("no index has been written yet, every vector waits in the queue")

// StoredIndex is the index of a collection in memory, and what of the queue it
// lacks.
type StoredIndex struct {
	Graph *hnswlib.Graph
	// IDs are the ids by label: of those elements whose vector is the newest
	// there is. The collection may have lost some of the records.
	IDs map[uint64]string
	// Queued are the vectors of ids that were written after the last flush.
	Queued []QueuedVector
}

// QueuedVector is a vector that waits in the queue.
type QueuedVector struct {
	ID     string
	Vector []float32
}

// StoredIndex loads the index with at most limit bytes of memory; 0 means
// hnswlib's own bound. It fails with ErrNoIndex, an *IndexError, or what
// hnswlib.Load says.
func (c *Collection) StoredIndex(ctx context.Context, limit int64) (*StoredIndex, error) {
	space, err := hnswlib.ParseSpace(c.row.Config.Space)
	if err != nil {
		return nil, err
	}
	var out *StoredIndex
	err = c.withIndex(ctx, true, func(ix *index) error {
		out = nil
		switch {
		case ix.err != nil:
			return ix.err
		case ix.reader == nil:
			return ErrNoIndex
		}
		s := &StoredIndex{IDs: map[uint64]string{}}
		if s.Graph, err = hnswlib.Load(ctx, ix.reader, space, limit); err != nil {
			return &IndexError{Dir: ix.dir, Err: err}
		}
		if err := ix.labels(ctx, s.IDs); err != nil {
			return &IndexError{Dir: ix.dir, Err: err}
		}
		if err := c.view(ctx, func(sc *scope) error { return sc.addQueued(ctx, ix, s) }); err != nil {
			return err
		}
		out = s
		return nil
	})
	if err == nil && c.row.Dimension != nil && out.Graph.Dimension() != *c.row.Dimension {
		return nil, &IndexError{Dir: c.indexDir(), Err: fmt.Errorf("its vectors have %d floats, those of the collection %d", out.Graph.Dimension(), *c.row.Dimension)}
	}
	return out, err
}

// labels fills in the id of each label that counts.
func (ix *index) labels(ctx context.Context, ids map[uint64]string) error {
	byInternal := make(map[uint32]int, len(ix.ids.internal))
	for i, internal := range ix.ids.internal {
		byInternal[internal] = i
	}
	err := ix.reader.Labels(ctx, func(internal int, label uint64, _ bool) error {
		if i, ok := byInternal[uint32(internal)]; ok {
			ids[label] = ix.ids.at(i)
		}
		return nil
	})
	var short *hnswlib.ShortError
	if errors.As(err, &short) {
		return nil
	}
	return err
}

// addQueued takes out of the index what the queue has deleted or written again,
// and adds that.
func (sc *scope) addQueued(ctx context.Context, ix *index, s *StoredIndex) error {
	s.Queued = nil
	flushed := ix.flushed(sc.flushed)
	if sc.stamp.queueTop <= flushed {
		return nil
	}
	last, err := sc.p.replays.get(ctx, sc, ix, flushed)
	if err != nil {
		return err
	}
	var list []place
	for id, seq := range last {
		if seq > 0 {
			list = append(list, place{id: id, seq: seq})
		}
	}
	slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.seq, b.seq) })
	bySeq := make(map[int64]int, len(list))
	for i, p := range list {
		bySeq[p.seq] = i
	}
	vectors := make([][]float32, len(list))
	if err := sc.queuedVectors(ctx, list, bySeq, vectors); err != nil {
		return err
	}
	for i, v := range vectors {
		if v != nil {
			s.Queued = append(s.Queued, QueuedVector{list[i].id, v})
		}
	}
	for label, id := range s.IDs {
		if _, newer := last[id]; newer {
			delete(s.IDs, label)
		}
	}
	return nil
}
