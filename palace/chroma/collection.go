package chroma

import (
	"context"
	"path/filepath"

	"castellan/palace/backend"
)

// Collection reads one collection of a palace.
type Collection struct {
	p   *Palace
	row CollectionRow
	// segment and vectors are the ids of the metadata and the vector segment.
	segment, vectors string
}

// Collection opens a view of a collection by its name.
func (p *Palace) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c, err := p.collection(ctx, name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (p *Palace) collection(ctx context.Context, name string) (*Collection, error) {
	rows, err := p.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Name == name {
			return p.newCollection(r)
		}
	}
	return nil, notFound(p.dir, name, rows)
}

func notFound(dir, name string, rows []CollectionRow) error {
	err := &backend.CollectionNotFoundError{Palace: dir, Name: name}
	for _, r := range rows {
		err.Known = append(err.Known, r.Name)
	}
	return err
}

func (p *Palace) newCollection(r CollectionRow) (*Collection, error) {
	c := &Collection{p: p, row: r}
	metadata, vectors := r.Segment(ScopeMetadata), r.Segment(ScopeVector)
	if metadata == nil {
		return nil, &backend.SchemaError{Path: p.dir, Detail: "collection " + r.Name + " has no segment for its metadata"}
	}
	c.segment = metadata.ID
	if vectors != nil {
		c.vectors = vectors.ID
	}
	return c, nil
}

// Info is what the catalogue said when the collection was opened.
func (c *Collection) Info() backend.CollectionInfo { return c.row.Info() }

// Row is the catalogue's row behind Info.
func (c *Collection) Row() CollectionRow { return c.row }

// view runs do on the collection in one read transaction; do may run again and
// must start from nothing.
func (c *Collection) view(ctx context.Context, do func(*scope) error) error {
	return c.p.view(ctx, func(q querier, s shape) error {
		sc, err := c.scope(ctx, q, s)
		if err != nil {
			return err
		}
		return do(sc)
	})
}

// Count counts the records that a filter lets through.
func (c *Collection) Count(ctx context.Context, f backend.Filter) (int64, error) {
	var n int64
	err := c.view(ctx, func(sc *scope) error {
		q, err := sc.ask(ctx, f)
		if err != nil {
			return err
		}
		n, err = q.count(ctx)
		return err
	})
	return n, err
}

func (q *question) count(ctx context.Context) (int64, error) {
	n, err := q.countStored(ctx)
	if err != nil || q.sc.pending.none() {
		return n, err
	}
	for _, list := range [][]*pendingRecord{q.sc.pending.changed, q.sc.pending.fresh} {
		list = q.pending(list)
		if q.Where == nil && q.WhereDocument == nil {
			n += int64(len(list))
			continue
		}
		err := q.sc.eachPending(ctx, list, q.Filter, func(*pendingRecord, backend.Metadata) (bool, error) {
			n++
			return true, nil
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (q *question) countStored(ctx context.Context) (int64, error) {
	cond, err := q.condition(ctx, wholeSets, 0, 0)
	if err != nil {
		return 0, err
	}
	base, args := q.base()
	var n int64
	err = q.sc.q.QueryRowContext(ctx, "SELECT count(*) FROM embeddings e NOT INDEXED WHERE "+base+cond.and(), cond.around(args...)...).Scan(&n)
	return n, q.sc.c.damaged("embeddings", err)
}

// The sizes of a page: what an unbounded query gets, and what it may ask for.
// A page is one read transaction, and those are kept short.
const (
	defaultPage = 500
	largestPage = 10_000
)

// Get answers with a page of records, stored ones in the order of their
// insertion and then those that wait in the queue. A page has 500 records if
// none is asked for, and never more than 10,000.
func (c *Collection) Get(ctx context.Context, q backend.Query) (backend.Page, error) {
	var page backend.Page
	from, err := parseCursor(q.After)
	if err != nil {
		return page, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, largestPage)
	err = c.withIndex(ctx, q.Include.Has(backend.Embeddings), func(ix *index) error {
		return c.view(ctx, func(sc *scope) (err error) {
			page, err = sc.page(ctx, q, from, limit, ix)
			return err
		})
	})
	return page, err
}

// withIndex runs do with the index files as they are, and once more when they
// changed under it: Chroma writes them in place.
func (c *Collection) withIndex(ctx context.Context, wanted bool, do func(*index) error) error {
	if !wanted {
		return do(nil)
	}
	if err := c.p.file.Enter(); err != nil {
		return err
	}
	defer c.p.file.Leave()
	dir := c.indexDir()
	for try := 0; ; try++ {
		ix, release, err := c.p.indexes.acquire(ctx, dir)
		if err != nil {
			return err
		}
		err = do(ix)
		if rerr := release(); err == nil {
			err = rerr
		}
		now, serr := stampOfIndex(dir)
		if serr != nil || try == 2 || now == ix.stamp {
			return err
		}
	}
}

// indexDir is where the vector segment's files are. Its name comes from the
// database: what is no plain name leads nowhere.
func (c *Collection) indexDir() string {
	if c.vectors == "" || filepath.Base(c.vectors) != c.vectors || c.vectors == ".." {
		return filepath.Join(c.p.dir, "no-segment")
	}
	return filepath.Join(c.p.dir, c.vectors)
}

func (sc *scope) page(ctx context.Context, ask backend.Query, from cursor, limit int, ix *index) (backend.Page, error) {
	var page backend.Page
	q, err := sc.ask(ctx, ask.Filter)
	if err != nil {
		return page, err
	}
	list, err := q.behind(ctx, from, ask.Offset, limit+1)
	if err != nil {
		return page, err
	}
	if len(list) > limit {
		list = list[:limit]
		page.Next = list[limit-1].cursor(sc.stamp).String()
	}
	if page.Records, err = sc.records(ctx, list, ask.Include); err != nil {
		return page, err
	}
	if ix == nil {
		return page, nil
	}
	vectors, err := sc.vectors(ctx, ix, list)
	for i, v := range vectors {
		page.Records[i].Embedding = v
	}
	return page, err
}

// behind passes over some records first.
func (q *question) behind(ctx context.Context, from cursor, offset, need int) ([]place, error) {
	if offset <= 0 {
		return q.after(ctx, from, need)
	}
	if q.sc.pending.none() && from.queued == 0 {
		set, err := q.all(ctx)
		if err != nil {
			return nil, err
		}
		set = set.after(from.record)
		set = set[min(offset, len(set)):]
		return q.places(ctx, set[:min(need, len(set))])
	}
	for offset > 0 {
		list, err := q.after(ctx, from, min(offset, largestPage))
		if err != nil || len(list) == 0 {
			return nil, err
		}
		offset -= len(list)
		from = list[len(list)-1].cursor(q.sc.stamp)
	}
	return q.after(ctx, from, need)
}

func (sc *scope) records(ctx context.Context, list []place, include backend.Include) ([]backend.Record, error) {
	var stored idSet
	for _, p := range list {
		if p.pending == nil {
			stored = append(stored, p.stored)
		}
	}
	contents := map[int64]backend.Metadata{}
	if keys, any := keysFor(include); any {
		var err error
		if contents, err = sc.metadataOf(ctx, stored, keys); err != nil {
			return nil, err
		}
	}
	records := make([]backend.Record, len(list))
	for i, p := range list {
		m := p.contents
		if p.pending == nil {
			m = contents[p.stored]
		}
		records[i] = recordOf(p.id, m, include)
	}
	return records, nil
}

// QueueFaults are the rows that wait in the queue and are passed over, because
// the engine would stumble over them or cannot see them.
func (c *Collection) QueueFaults(ctx context.Context) ([]QueueFault, error) {
	var list []QueueFault
	err := c.view(ctx, func(sc *scope) error {
		list = sc.pending.faults
		return nil
	})
	return list, err
}

// IndexErr is a *IndexError when the index files hold vectors that cannot be
// read; Get leaves those out, since the records are sound without them.
func (c *Collection) IndexErr(ctx context.Context) error {
	return c.withIndex(ctx, true, func(ix *index) error { return ix.err })
}

// EachVector hands out the vector of every live record that has one, in the
// order of Get, a transaction for every few hundred. v is the caller's to
// keep. When index files cannot be read the others come all the same, and the
// *IndexError at the end says so.
func (c *Collection) EachVector(ctx context.Context, fn func(id string, v []float32) error) error {
	q := backend.Query{Include: backend.Embeddings, Limit: defaultPage}
	for {
		page, err := c.Get(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			if r.Embedding == nil {
				continue
			}
			if err := fn(r.ID, r.Embedding); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return c.IndexErr(ctx)
		}
		q.After = page.Next
	}
}
