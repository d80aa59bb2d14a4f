package chroma

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// Bounds of a sampled look at an index.
const (
	sampledElements = 2000
	// sampledLabelBytes is how much of level 0 a sampled look reads for its
	// labels: all of it for palaces of some 600,000 drawers.
	sampledLabelBytes = 1 << 30
)

// readIndex reads the files of a collection's vector segment and returns a
// coverage that holds the ids they contain. Damage is in the facts; the error
// is the context's.
func readIndex(ctx context.Context, palace string, row CollectionRow, depth Depth) (IndexFacts, *coverage, error) {
	seg := row.Segment(ScopeVector)
	if seg == nil {
		return IndexFacts{}, newCoverage(0), nil
	}
	x := IndexFacts{Segment: seg.ID, Dir: filepath.Join(palace, seg.ID)}
	if x.Files, x.FilesErr = hnswlib.Stat(x.Dir); x.FilesErr != nil {
		return x, newCoverage(0), nil
	}
	ids, err := x.readPickle(ctx)
	if err != nil {
		return x, nil, err
	}
	if !x.Files.Header.Present && !x.Files.Level0.Present && !x.Files.Pickle.Present {
		// An empty directory is as good as none.
		return x, newCoverage(0), nil
	}
	present, err := x.readGraph(ctx, row.Dimension, depth, ids)
	if err != nil {
		return x, nil, err
	}
	cover := newCoverage(len(ids))
	for id, label := range ids {
		if present == nil || present(label) {
			cover.addIndexed(id)
		}
	}
	return x, cover, nil
}

// readPickle keeps everything but the id map, which it returns.
func (x *IndexFacts) readPickle(ctx context.Context) (map[string]uint64, error) {
	if !x.Files.Pickle.Present {
		return nil, nil
	}
	m, err := pickle.ReadFile(ctx, filepath.Join(x.Dir, hnswlib.PickleFile))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		x.PickleErr = err
		return nil, nil
	}
	ids := m.IDs
	m.IDs = nil
	x.Pickle, x.IDs = m, len(ids)
	return ids, nil
}

// readGraph judges the binary files and says which labels a search can reach.
// A nil function means that the labels were not read. Files that cannot be
// opened reach nothing.
func (x *IndexFacts) readGraph(ctx context.Context, dimension *int, depth Depth, ids map[string]uint64) (func(uint64) bool, error) {
	nothing := func(uint64) bool { return false }
	r, err := hnswlib.Open(x.Dir)
	if err != nil {
		x.GraphErr = err
		return nothing, nil
	}
	defer r.Close()
	want, sample := 0, sampledElements
	if dimension != nil {
		want = *dimension
	}
	if depth == Full {
		sample = 0
	}
	g, err := r.Examine(ctx, want, sample)
	x.Graph = &g
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		x.GraphErr = err
	}
	if depth == Sampled && x.Files.Level0.Apparent > sampledLabelBytes {
		return nil, nil
	}
	return x.readLabels(ctx, r, ids)
}

func (x *IndexFacts) readLabels(ctx context.Context, r *hnswlib.Reader, ids map[string]uint64) (func(uint64) bool, error) {
	live := make(map[uint64]struct{}, len(ids))
	var f LabelFacts
	err := r.Labels(ctx, func(_ int, label uint64, deleted bool) error {
		f.Elements++
		if deleted {
			f.Deleted++
			return nil
		}
		live[label] = struct{}{}
		return nil
	})
	var short *hnswlib.ShortError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.As(err, &short):
		x.GraphErr = errors.Join(x.GraphErr, err)
	}
	named := int64(0)
	for _, label := range ids {
		if _, ok := live[label]; ok {
			named++
		} else {
			f.Absent++
		}
	}
	if x.Pickle != nil {
		f.Unnamed = int64(len(live)) - named
	}
	x.Labels = &f
	return func(label uint64) bool { _, ok := live[label]; return ok }, nil
}
