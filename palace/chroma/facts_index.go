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
func readIndex(ctx context.Context, palace string, row CollectionRow, depth Depth, progress func(done, total int64)) (IndexFacts, *coverage, error) {
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
	found, err := x.readGraph(ctx, row, depth, ids, progress)
	if err != nil {
		return x, nil, err
	}
	cover := newCoverage(len(ids))
	for id, label := range ids {
		if present, reached := found.has(label); present {
			cover.addIndexed(id, !reached)
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

// labels are those that live elements carry, true where a path leads to one.
// The zero value says nothing and takes every label for present; a set that is
// not nil and empty holds none.
type labels struct{ live map[uint64]bool }

func (l labels) has(label uint64) (present, reached bool) {
	if l.live == nil {
		return true, true
	}
	reached, present = l.live[label]
	return present, reached
}

// readGraph judges the binary files and says which labels a search can reach.
// Files that cannot be opened reach nothing.
func (x *IndexFacts) readGraph(ctx context.Context, row CollectionRow, depth Depth, ids map[string]uint64, progress func(done, total int64)) (labels, error) {
	found := labels{live: map[uint64]bool{}}
	r, err := hnswlib.Open(x.Dir)
	if err != nil {
		x.GraphErr = err
		return found, nil
	}
	defer r.Close()
	exam := hnswlib.Exam{Sample: sampledElements, Cosine: row.Config.Space == "cosine", Progress: progress}
	if row.Dimension != nil {
		exam.Dimension = *row.Dimension
	}
	if depth == Full {
		exam.Sample = 0
	}
	whole := depth == Full || x.Files.Level0.Apparent <= sampledLabelBytes
	var f LabelFacts
	found.live = make(map[uint64]bool, len(ids))
	note := func(_ int, label uint64, deleted bool) {
		f.Elements++
		if deleted {
			f.Deleted++
			return
		}
		found.live[label] = true
	}
	if depth == Full {
		exam.Label = note
		exam.Unreached = func(label uint64) { found.live[label] = false }
	}
	g, err := r.ExamineWith(ctx, exam)
	x.Graph = &g
	if ctx.Err() != nil {
		return found, ctx.Err()
	}
	if err != nil {
		x.GraphErr = err
	}
	switch {
	case !whole:
		return labels{}, nil
	case depth == Sampled:
		err = r.Labels(ctx, func(i int, label uint64, deleted bool) error { note(i, label, deleted); return nil })
		var short *hnswlib.ShortError
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if err != nil && !errors.As(err, &short) {
			x.GraphErr = errors.Join(x.GraphErr, err)
		}
	}
	x.Labels = &f
	x.compareLabels(found, ids)
	return found, nil
}

// compareLabels holds the elements' labels against the pickle.
func (x *IndexFacts) compareLabels(found labels, ids map[string]uint64) {
	// Chroma does not follow links where hardly anything is alive: it compares
	// with every vector, and no path is needed.
	f := x.Labels
	live := f.Elements - f.Deleted
	x.Scanned = f.Deleted*5 > f.Elements && live < 100
	if x.Scanned {
		for label := range found.live {
			found.live[label] = true
		}
	}
	named := int64(0)
	for _, label := range ids {
		if present, _ := found.has(label); present {
			named++
		} else {
			f.Absent++
		}
	}
	if x.Pickle != nil {
		f.Unnamed = int64(len(found.live)) - named
	}
}
