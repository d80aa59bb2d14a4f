package health

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"
)

// fileReport is everything that follows from a palace's files alone.
type fileReport struct {
	state       State
	err         error
	collections []Collection
	findings    []Finding
	notDone     []string
}

// files adds what the palace's files say, from memory where nothing changed.
func (e *Examiner) files(ctx context.Context, r *Report, s *palace.Site, depth Depth, inUse bool, m *meter) {
	cfg := e.opts.Manager.Config()
	part := e.readFiles(ctx, s, cfg, depth, inUse, m)
	r.Palace.State = part.state
	if part.err != nil {
		r.Error = errorDocument(s.Ref.Path, part.state, part.err)
	}
	r.Collections = append(r.Collections, part.collections...)
	r.Findings = append(r.Findings, part.findings...)
	r.CheckedWith.NotDone = part.notDone
}

func (e *Examiner) readFiles(ctx context.Context, s *palace.Site, cfg palace.Config, depth Depth, inUse bool, m *meter) *fileReport {
	p, err := e.opts.Manager.Open(ctx, s.Ref)
	if err != nil {
		return unreadable(s, err)
	}
	key := keptKey{path: s.Ref.Path, id: s.Ref.ID, depth: depth}
	// Before the reading: what is written meanwhile then shows next time.
	now, err := stampOf(ctx, p, s, cfg)
	if err != nil {
		return unreadable(s, err)
	}
	if part := e.recall(key, now); part != nil {
		m.found(part.findings)
		return part
	}
	var part *fileReport
	err = p.With(ctx, func(b backend.Backend) (err error) {
		if c, ok := b.(*chroma.Palace); ok {
			part, err = e.readChroma(ctx, c, s, cfg, depth, inUse, m)
			return err
		}
		part, err = readOther(ctx, b)
		return err
	})
	if err != nil {
		return unreadable(s, err)
	}
	if ctx.Err() == nil {
		e.keep(key, now, part)
	}
	return part
}

func unreadable(s *palace.Site, err error) *fileReport {
	part := &fileReport{state: Unreadable, err: err}
	if f, ok := errorFinding(s.Ref.Path, err); ok {
		part.findings = append(part.findings, f)
	}
	return part
}

// readChroma reads a Chroma palace: in full depth the pages and texts of the
// database beside everything else.
func (e *Examiner) readChroma(ctx context.Context, p *chroma.Palace, s *palace.Site, cfg palace.Config, depth Depth, inUse bool, m *meter) (*fileReport, error) {
	var check chroma.DatabaseCheck
	var checkErr error
	group, gctx := errgroup.WithContext(ctx)
	if depth == Full {
		group.Go(func() error {
			check, checkErr = p.CheckDatabase(gctx, chroma.Check{
				Copied: inUse, Dir: e.opts.CopyDir,
				Progress: func(done, total int64) { m.part(partDatabase, done, total) },
			})
			return nil
		})
	}
	var f *chroma.Facts
	part := &fileReport{state: OK}
	add := func(list []Finding) {
		m.found(list)
		part.findings = append(part.findings, list...)
	}
	group.Go(func() (err error) {
		if f, err = e.readFacts(gctx, p, depth, inUse, part, add, m); err != nil {
			return err
		}
		add(fileFindings(p.DB().Facts(), p.DB().Access()))
		add(queueFindings(p.DB().Path(), f))
		add(collectionFindings(f, s, cfg, depth))
		add(layoutFindings(gctx, s, f, depth, e.opts.Now()))
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	path := p.DB().Path()
	if checkErr != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		add([]Finding{unchecked(path, checkErr)})
	} else if depth == Full {
		f.Text, part.notDone = check.Text, check.NotDone
	}
	add(damageFindings(path, f, check.Damage))
	if part.state != Uninitialised {
		add(schemaFindings(path, f.Schema))
		add(textFindings(path, f.Text))
	}
	return part, nil
}

// readFacts fills in the collections.
func (e *Examiner) readFacts(ctx context.Context, p *chroma.Palace, depth Depth, inUse bool, part *fileReport, add func([]Finding), m *meter) (*chroma.Facts, error) {
	want := chroma.Sampled
	if depth == Full {
		want = chroma.Full
	}
	const page = 4096
	f, err := p.FactsWith(ctx, want, func(done, total int64) { m.part(partIndex, done/page, total/page) })
	if err != nil {
		return nil, err
	}
	if len(f.Collections) == 0 && len(f.Unread) == 0 {
		part.state = Uninitialised
	}
	part.collections = make([]Collection, len(f.Collections))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, c := range f.Collections {
		state, found := indexFindings(c, inUse, e.opts.Now())
		add(found)
		part.collections[i] = collectionDocument(c, state)
		part.collections[i].OpenedBy = &OpenedBy{MemPalace: opinion(c, e.opts.Now())}
		group.Go(func() error {
			part.collections[i].Wings = e.wings(gctx, p, c)
			return nil
		})
	}
	return f, group.Wait()
}

// unchecked says that the thorough check could not be made, which is not the
// same as nothing being wrong.
func unchecked(path string, err error) Finding {
	f := Finding{
		Code: BtreeDamaged, Severity: Warning, Subject: path,
		Cause:    "the database could not be checked page by page: " + err.Error(),
		Evidence: map[string]any{"said": err.Error()},
		Remedy:   &Remedy{Reason: "everything else in this report was read; run the doctor again when nothing writes"},
	}
	if errors.Is(err, dbfile.ErrCorrupt) {
		f.Severity = Danger
	}
	return f
}

func collectionDocument(c chroma.CollectionFacts, state IndexState) Collection {
	d := Collection{Name: c.Row.Name, Rows: c.Rows, Dimension: c.Row.Dimension, Index: indexDocument(c, state), Wings: []Wing{}}
	if c.Row.ID != "" {
		d.ID = &c.Row.ID
	}
	if c.Row.Config.Space != "" {
		d.Space = &c.Row.Config.Space
	}
	if e := c.Row.Config.Embedder; e.Name != "" {
		d.Embedder = ptr(embedderModel(e.Name))
	}
	if v := c.Coverage; v != nil {
		d.Vectors = Vectors{Indexed: &v.Indexed, Queued: &v.Queued, Searchable: &v.Searchable, Missing: &v.Missing, Stale: &v.Stale}
	}
	return d
}

func indexDocument(c chroma.CollectionFacts, state IndexState) *Index {
	x := c.Index
	d := &Index{State: state}
	if x.Segment != "" {
		d.Segment = &x.Segment
	}
	if n := c.Row.Config.HNSW.SyncThreshold; n != nil {
		d.SyncThreshold = ptr(int64(*n))
	}
	if x.FilesErr != nil || absent(x.Files) {
		return d
	}
	d.Bytes = &Bytes{Apparent: x.Files.Apparent(), Allocated: x.Files.Allocated()}
	if x.Files.Level0.Present {
		d.LinkRatio = ptr(x.Files.LinkRatio())
	}
	if g := x.Graph; g != nil {
		h := g.Header
		d.Elements, d.Capacity = ptr(int64(h.Elements)), ptr(int64(h.Capacity))
		d.MaxLevel, d.M, d.Dimension = ptr(int(h.MaxLevel)), ptr(int(h.M)), ptr(h.Dimension())
		d.Deleted = (&judge{x: x}).deleted()
	}
	return d
}

// wings counts drawers by wing. The figures add up to the rows, because
// drawers without a wing are a group of their own.
func (e *Examiner) wings(ctx context.Context, p backend.Backend, c chroma.CollectionFacts) []Wing {
	col, err := p.Collection(ctx, c.Row.Name)
	if err != nil {
		return []Wing{}
	}
	return wingsOf(ctx, col)
}

func wingsOf(ctx context.Context, col backend.Collection) []Wing {
	facets, err := col.Facets(ctx, backend.Filter{}, "wing")
	if err != nil {
		return []Wing{}
	}
	out := make([]Wing, 0, len(facets))
	for _, f := range facets {
		w := Wing{Rows: f.Rows}
		if v := f.Values[0]; v != nil {
			w.Name = ptr(backend.Text(v))
		}
		// Two types can have the same text, such as 3 and "3".
		if at := slices.IndexFunc(out, func(o Wing) bool { return o.Name != nil && w.Name != nil && *o.Name == *w.Name }); at >= 0 {
			out[at].Rows += w.Rows
			continue
		}
		out = append(out, w)
	}
	return out
}

// readOther reports a palace without an approximate index: what is stored can
// be found.
func readOther(ctx context.Context, b backend.Backend) (*fileReport, error) {
	list, err := b.Collections(ctx)
	if err != nil {
		return nil, err
	}
	part := &fileReport{state: OK, collections: []Collection{}}
	if len(list) == 0 {
		part.state = Uninitialised
	}
	for _, info := range list {
		d := Collection{Name: info.Name, Dimension: info.Dimension, Wings: []Wing{}, Index: &Index{State: IndexNone}}
		if info.ID != "" {
			d.ID = ptr(info.ID)
		}
		if info.Space != "" {
			d.Space = ptr(info.Space)
		}
		if info.Embedder != "" {
			d.Embedder = ptr(info.Embedder)
		}
		col, err := b.Collection(ctx, info.Name)
		var rows int64
		if err == nil {
			rows, err = col.Count(ctx, backend.Filter{})
		}
		if err != nil {
			part.findings = append(part.findings, Finding{
				Code: BtreeDamaged, Severity: Danger, Subject: info.Name,
				Cause: fmt.Sprintf("the drawers cannot be counted: %v", err), Evidence: map[string]any{"said": err.Error()},
				Remedy: &Remedy{Reason: "restore a backup"},
			})
		} else {
			d.Rows, d.Wings = &rows, wingsOf(ctx, col)
			d.Vectors = Vectors{Searchable: &rows, Missing: ptr(int64(0)), Stale: ptr(int64(0)), Queued: ptr(int64(0)), Indexed: ptr(int64(0))}
		}
		part.collections = append(part.collections, d)
	}
	return part, nil
}
