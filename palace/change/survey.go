package change

import (
	"context"
	"errors"
	"slices"

	"castellan/palace/backend"
)

// everything of a record.
const everything = backend.Documents | backend.Metadatas | backend.Embeddings | backend.URIs

// step bounds the values of one condition, and the rows of one write.
const step = 500

// visitor is given every row that is meant, once.
type visitor func(collection string, r backend.Record) error

// survey finds what a selection means, as the palace is now. Closets come
// first: where a delete stops half-way, a drawer without its closet is whole,
// and a closet without its drawers would quote what is gone.
//
// Which closets go with the drawers is MemPalace's own rule (3.11). By source:
// those of the source, like its delete_by_source. By ids: all of the drawers'
// sources, like its delete_drawer, since closets are made for a source and not
// for a drawer. It has no delete by wing or room; there the closets of that wing
// or room go, and those of sources that are left without a drawer, as its sync
// does it. (A row that only keeps the books of a source is no drawer.)
type survey struct {
	t      Target
	s      Selection
	open   func(ctx context.Context, name string) (backend.Collection, error)
	parts  []part
	met    map[string]bool // of the selection's ids, those that some row answers to
	absent []string        // the others
}

// part is what goes of one collection.
type part struct {
	Name string
	IDs  []string
}

func (v *survey) rows() (n int) {
	for _, p := range v.parts {
		n += len(p.IDs)
	}
	return n
}

// run visits every row; visit may be nil.
func (v *survey) run(ctx context.Context, visit visitor) error {
	v.parts, v.met, v.absent = nil, map[string]bool{}, nil
	if err := v.each(ctx, visit); err != nil {
		return err
	}
	v.absent = slices.DeleteFunc(slices.Clone(v.s.IDs), func(id string) bool { return v.met[id] })
	return nil
}

func (v *survey) each(ctx context.Context, visit visitor) error {
	if name := v.s.Collection; name != "" {
		c, err := v.open(ctx, name)
		if err != nil {
			return err
		}
		ids, _, err := v.chosen(ctx, c)
		if err != nil {
			return err
		}
		return v.visit(ctx, c, ids, visit)
	}
	drawers, err := v.open(ctx, v.t.Drawers)
	if err != nil {
		return err
	}
	ids, sources, err := v.chosen(ctx, drawers)
	if err != nil {
		return err
	}
	closets, err := v.open(ctx, v.t.Closets)
	var none *backend.CollectionNotFoundError
	switch {
	case errors.As(err, &none): // a palace of conversations has none
	case err != nil:
		return err
	default:
		theirs, err := v.closetsOf(ctx, drawers, closets, ids, sources)
		if err != nil {
			return err
		}
		if err := v.visit(ctx, closets, theirs, visit); err != nil {
			return err
		}
	}
	return v.visit(ctx, drawers, ids, visit)
}

// chosen finds the rows that the selection itself names, and their sources.
func (v *survey) chosen(ctx context.Context, c backend.Collection) (ids, sources []string, err error) {
	seen, from := map[string]bool{}, map[string]bool{}
	collect := func(f backend.Filter) error {
		return backend.Walk(ctx, c, backend.Query{Filter: f, Include: backend.Metadatas}, func(r backend.Record) error {
			if !seen[r.ID] {
				seen[r.ID] = true
				ids = append(ids, r.ID)
			}
			v.meet(r)
			if s, ok := r.Metadata[keySource].(string); ok && s != "" && !from[s] {
				from[s] = true
				sources = append(sources, s)
			}
			return nil
		})
	}
	if len(v.s.IDs) == 0 {
		err := collect(backend.Filter{Where: v.s.where()})
		return ids, sources, err
	}
	for chunk := range slices.Chunk(v.s.IDs, step) {
		if err := collect(backend.Filter{IDs: chunk}); err != nil {
			return nil, nil, err
		}
		// An id that no row has may be that of a text which was cut in parts.
		whole := slices.DeleteFunc(slices.Clone(chunk), func(id string) bool { return seen[id] })
		if len(whole) == 0 {
			continue
		}
		if err := collect(backend.Filter{Where: anyOf(whole, parentKeys...)}); err != nil {
			return nil, nil, err
		}
	}
	return ids, sources, nil
}

// meet notes which of the selection's ids a row answers to.
func (v *survey) meet(r backend.Record) {
	v.met[r.ID] = true
	for _, key := range parentKeys {
		if whole, ok := r.Metadata[key].(string); ok {
			v.met[whole] = true
		}
	}
}

// closetsOf finds the closets that go with some drawers.
func (v *survey) closetsOf(ctx context.Context, drawers, closets backend.Collection, ids, sources []string) ([]string, error) {
	var theirs []string
	seen := map[string]bool{}
	collect := func(f backend.Filter) error {
		return backend.Walk(ctx, closets, backend.Query{Filter: f}, func(r backend.Record) error {
			if !seen[r.ID] {
				seen[r.ID] = true
				theirs = append(theirs, r.ID)
			}
			return nil
		})
	}
	switch v.s.mode() {
	case "source":
		err := collect(backend.Filter{Where: v.s.where()})
		return theirs, err
	case "ids": // a closet can be named too
		for chunk := range slices.Chunk(v.s.IDs, step) {
			if err := collect(backend.Filter{IDs: chunk}); err != nil {
				return nil, err
			}
		}
		for _, id := range theirs {
			v.met[id] = true
		}
	default:
		if err := collect(backend.Filter{Where: v.s.where()}); err != nil {
			return nil, err
		}
		var err error
		if sources, err = emptied(ctx, drawers, ids, sources); err != nil {
			return nil, err
		}
	}
	for chunk := range slices.Chunk(sources, step) {
		if err := collect(backend.Filter{Where: anyOf(chunk, keySource)}); err != nil {
			return nil, err
		}
	}
	return theirs, nil
}

// emptied are the sources that have no drawer beside these ids.
func emptied(ctx context.Context, drawers backend.Collection, ids, sources []string) ([]string, error) {
	going := make(map[string]bool, len(ids))
	for _, id := range ids {
		going[id] = true
	}
	stays := map[string]bool{}
	for chunk := range slices.Chunk(sources, step) {
		q := backend.Query{Filter: backend.Filter{Where: anyOf(chunk, keySource)}, Include: backend.Metadatas}
		err := backend.Walk(ctx, drawers, q, func(r backend.Record) error {
			if s, ok := r.Metadata[keySource].(string); ok && !going[r.ID] && !isBookkeeping(r) {
				stays[s] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(sources), func(s string) bool { return stays[s] }), nil
}

// visit hands over the rows of one collection, whole.
func (v *survey) visit(ctx context.Context, c backend.Collection, ids []string, visit visitor) error {
	if len(ids) == 0 {
		return nil
	}
	if visit == nil {
		v.parts = append(v.parts, part{c.Info().Name, ids})
		return nil
	}
	p := part{Name: c.Info().Name}
	for chunk := range slices.Chunk(ids, step) {
		q := backend.Query{Filter: backend.Filter{IDs: chunk}, Include: everything}
		err := backend.Walk(ctx, c, q, func(r backend.Record) error {
			p.IDs = append(p.IDs, r.ID)
			return visit(p.Name, r)
		})
		if err != nil {
			return err
		}
	}
	if len(p.IDs) > 0 {
		v.parts = append(v.parts, p)
	}
	return nil
}
