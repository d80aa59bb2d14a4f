package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace"
	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// readLive reads the live index; nil where nothing of it has an owner. Names
// come from its metadata, from what is left of it, and from copies of the same
// segment.
func (g *gathered) readLive(ctx context.Context, pt *patient) (*elements, error) {
	e, err := owned(ctx, g.live, g.dimension, g.space)
	if err == nil && len(e.names) > 0 || ctx.Err() != nil {
		return e, ctx.Err()
	}
	if err == nil {
		err = e.r.Close()
	}
	var unsafe *pickle.UnsafeError
	if errors.As(err, &unsafe) {
		return nil, nil // whoever wrote that is not to be believed in anything
	}
	// Without a sound header the elements are still where they were.
	stand, err := pt.behead(ctx, g)
	if err != nil {
		return nil, err
	}
	if stand != "" {
		g.dirs[0] = stand
		if e, err = owned(ctx, stand, g.dimension, g.space); err != nil {
			return nil, ctx.Err()
		}
		return e, nil
	}
	// That it cannot be read is why we are here.
	if e, err = unnamed(ctx, g.live, g.dimension); err != nil {
		return nil, ctx.Err()
	}
	if e.names, _, err = pickle.Salvage(ctx, filepath.Join(g.live, hnswlib.PickleFile)); err != nil || e.names == nil {
		e.names = map[string]uint64{}
	}
	if err := e.borrow(ctx, pt, g); err != nil {
		return nil, errors.Join(err, e.r.Close())
	}
	g.nameless = len(e.labels) - len(e.names)
	if len(e.names) == 0 {
		return nil, e.r.Close()
	}
	g.borrowed = len(e.names)
	return e, e.judge(ctx, g.space)
}

// borrow takes the names that copies of this very segment give to labels: one
// counts where the element with the label is the same to the bit in both, so
// that it is the same write's.
func (e *elements) borrow(ctx context.Context, pt *patient, g *gathered) error {
	taken := map[uint64]bool{}
	for _, label := range e.names {
		taken[label] = true
	}
	for _, dir := range pt.copiesOf(filepath.Base(g.live)) {
		c, err := owned(ctx, dir, g.dimension, g.space)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		mine, theirs := make([]float32, g.dimension), make([]float32, g.dimension)
		for id, internal := range c.at {
			label := c.names[id]
			at, ok := e.labels[label]
			if _, named := e.names[id]; !ok || named || taken[label] || c.torn[internal] {
				continue
			}
			if e.r.Vector(at, mine) == nil && c.r.Vector(internal, theirs) == nil && slices.Equal(mine, theirs) {
				e.names[id], taken[label] = label, true
			}
		}
		if err := c.r.Close(); err != nil {
			return err
		}
	}
	return nil
}

// copiesOf are directories that were this segment's once, the newest first:
// what MemPalace put aside, and what is in backups of Castellan's.
func (pt *patient) copiesOf(segment string) []string {
	quarantined := slices.Clone(pt.r.site.Layout.Quarantined)
	slices.SortFunc(quarantined, func(a, b palace.Quarantined) int { return b.At.Compare(a.At) })
	var dirs []string
	for _, q := range quarantined {
		if strings.EqualFold(q.Segment, segment) {
			dirs = append(dirs, q.Path)
		}
	}
	beside, err := os.ReadDir(filepath.Dir(pt.dir)) // by name, so by time
	if err != nil {
		return dirs
	}
	for _, e := range slices.Backward(beside) {
		if strings.HasPrefix(e.Name(), filepath.Base(pt.dir)+BackupInfix) {
			dirs = append(dirs, filepath.Join(filepath.Dir(pt.dir), e.Name(), segment))
		}
	}
	return dirs
}
