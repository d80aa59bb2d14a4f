package search

import (
	"context"
	"errors"

	"castellan/palace/backend"
	"castellan/palace/hnswlib"
)

// Chroma's own ef where a collection records none: how many elements its search
// keeps on the way.
const defaultEf = 100

// StoredParts are a stored index, and what a collection knows beyond it.
type StoredParts struct {
	Graph *hnswlib.Graph
	// IDs are the drawers by label; an element whose label is not in it is
	// passed through and not found.
	IDs map[uint64]string
	// Queued are vectors that the index does not have yet.
	QueuedIDs []string
	Queued    [][]float32
}

// StoredSearch asks the index that Chroma would ask, with Chroma's ef, and
// compares with what waits in the queue.
type StoredSearch struct {
	source Source
	parts  StoredParts
	ef     int
	queued block
	// live are the ids that the collection has; Unreached are those of them in
	// neither part.
	live      map[string]bool
	unreached int
}

// NewStoredSearch joins the parts. Ids that the collection does not have any
// more are not found.
func NewStoredSearch(ctx context.Context, source Source, parts StoredParts) (*StoredSearch, error) {
	if len(parts.IDs) == 0 && len(parts.Queued) == 0 {
		return nil, errors.New("it holds no vector of this collection")
	}
	s := &StoredSearch{source: source, parts: parts, ef: defaultEf, live: map[string]bool{}}
	if ef := source.Info().HNSW.EFSearch; ef != nil && *ef > 0 {
		s.ef = *ef
	}
	var err error
	if s.live, err = idsOf(ctx, source, backend.Filter{}); err != nil {
		return nil, err
	}
	s.queued = block{space: spaceOf(source), dim: parts.Graph.Dimension()}
	reached := map[string]bool{}
	for i, id := range parts.QueuedIDs {
		if s.live[id] && s.queued.add(id, parts.Queued[i]) {
			reached[id] = true
		}
	}
	for _, id := range parts.IDs {
		if s.live[id] {
			reached[id] = true
		}
	}
	s.unreached = len(s.live) - len(reached)
	return s, nil
}

// idsOf are the ids that a filter lets through.
func idsOf(ctx context.Context, source Source, f backend.Filter) (map[string]bool, error) {
	ids := map[string]bool{}
	q := backend.Query{Filter: f, Limit: 10_000}
	for {
		page, err := source.Get(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			ids[r.ID] = true
		}
		if page.Next == "" {
			return ids, nil
		}
		q.After = page.Next
	}
}

// Name is Stored.
func (*StoredSearch) Name() string { return Stored }

// Search finds what Chroma would find, and misses what it would miss.
func (s *StoredSearch) Search(ctx context.Context, q Query) (Found, error) {
	found := Found{Considered: len(s.live) - s.unreached, Unreached: s.unreached}
	asked, err := askable(s.source, q.Vector, s.queued.space)
	if err != nil {
		return found, err
	}
	wanted := s.live
	if !q.Filter.IsZero() {
		if wanted, err = idsOf(ctx, s.source, q.Filter); err != nil {
			return found, err
		}
	}
	best := nearest{k: q.K}
	hits, err := s.parts.Graph.Search(ctx, asked, q.K, s.ef, func(label uint64) bool {
		id, ok := s.parts.IDs[label]
		return ok && wanted[id] && id != q.Except
	})
	if err != nil {
		return found, err
	}
	for i, h := range hits {
		best.offer(near{h.Distance, i, s.parts.IDs[h.Label]})
	}
	// What waits was written later, and so comes behind in ties.
	waiting := nearest{k: q.K + len(s.queued.ids)}
	s.queued.scan(&waiting, asked, make([]float32, stride), len(hits), q.Except)
	for _, r := range waiting.heap {
		if wanted[r.id] {
			best.offer(r)
		}
	}
	found.Hits = best.hits()
	return found, nil
}

// Shape tells how the index is made.
func (s *StoredSearch) Shape() IndexShape {
	g := s.parts.Graph
	shape := g.Shape()
	return IndexShape{
		Elements: g.Len(), Tombstones: g.Len() - g.Live(), Levels: shape.Levels, Unreachable: g.Unreachable(),
		MinDegree: shape.MinDegree, MaxDegree: shape.MaxDegree, MostDegree: shape.MostDegree, MeanDegree: shape.MeanDegree,
	}
}
