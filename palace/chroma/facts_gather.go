package chroma

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"castellan/palace/dbfile"
)

// movingTries is how often the sets are read again when a writer flushed its
// index meanwhile.
const movingTries = 3

// Facts looks at the database and the index files. It fails only where the
// palace cannot be asked at all: a closed handle, a cancelled context, a
// database that lets nobody read.
func (p *Palace) Facts(ctx context.Context, depth Depth) (*Facts, error) {
	return p.FactsWith(ctx, depth, nil)
}

// FactsWith is Facts with progress, which is told how many bytes of how many of
// the index files have been read.
func (p *Palace) FactsWith(ctx context.Context, depth Depth, progress func(done, total int64)) (*Facts, error) {
	f := &Facts{}
	err := p.view(ctx, func(q querier, s shape) error {
		*f = Facts{SegmentIDs: map[string]bool{}}
		return f.readCatalogue(ctx, q, s, p.dir)
	})
	if err != nil {
		return nil, err
	}
	indexes := make([]indexRead, len(f.Collections))
	tables := &Facts{}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.readIndexes(gctx, f.Collections, indexes, depth, progress) })
	group.Go(func() error {
		return p.view(gctx, func(q querier, s shape) error {
			*tables = Facts{Collections: append([]CollectionFacts(nil), f.Collections...)}
			return tables.readTables(gctx, q, s, depth)
		})
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	f.take(tables)
	if err := p.compareSets(ctx, f, indexes, depth); err != nil {
		return nil, err
	}
	f.conclude()
	return f, nil
}

// tolerate keeps a damaged part from hiding the rest: damage is noted and
// passed over, anything else ends the look.
func (f *Facts) tolerate(err error, question string, around bool) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, dbfile.ErrCorrupt) || errors.Is(err, dbfile.ErrNotDatabase) {
		f.Unread = append(f.Unread, Unread{Question: question, Err: err, Around: around})
		return nil
	}
	return fmt.Errorf("%s: %w", question, err)
}

func (f *Facts) readCatalogue(ctx context.Context, q querier, s shape, path string) error {
	var err error
	f.Schema, err = readSchema(ctx, q, s)
	if err := f.tolerate(err, "the schema", false); err != nil {
		return err
	}
	rows, err := readCatalog(ctx, q, s, path)
	if err := f.tolerate(err, "the list of collections", false); err != nil {
		return err
	}
	f.Text, err = readTextPresence(ctx, q)
	if err := f.tolerate(err, "the full-text index", false); err != nil {
		return err
	}
	for _, r := range rows {
		f.Collections = append(f.Collections, CollectionFacts{Row: r})
		for _, seg := range r.Segments {
			f.SegmentIDs[seg.ID] = true
		}
	}
	return nil
}

// take joins what readTables found on a handle of its own.
func (f *Facts) take(t *Facts) {
	f.BlobSeqIDs, f.HighestSeqID, f.OrphanRows = t.BlobSeqIDs, t.HighestSeqID, t.OrphanRows
	f.Unread = append(f.Unread, t.Unread...)
	for i := range f.Collections {
		f.Collections[i].Applied, f.Collections[i].Bare = t.Collections[i].Applied, t.Collections[i].Bare
	}
}

func (f *Facts) readTables(ctx context.Context, q querier, s shape, depth Depth) error {
	if !s.has("embeddings") {
		return nil
	}
	blobs, highest, err := readBlobSeqIDs(ctx, q)
	if err == nil {
		f.BlobSeqIDs, f.HighestSeqID = &blobs, highest
	}
	if err := f.tolerate(err, "the drawers' sequence numbers", false); err != nil {
		return err
	}
	for i := range f.Collections {
		if err := f.readCollection(ctx, q, &f.Collections[i], depth); err != nil {
			return err
		}
	}
	if depth < Full {
		return nil
	}
	f.OrphanRows = map[string]int64{}
	if s.has("embedding_metadata") {
		if err := f.readSideRows(ctx, q); err != nil {
			return err
		}
	}
	if !s.has("embedding_metadata_array") {
		return nil
	}
	n, err := countOrphans(ctx, q)
	if err == nil {
		f.OrphanRows["embedding_metadata_array"] = n
	}
	return f.tolerate(err, "the rows of embedding_metadata_array without a drawer", false)
}

// readSideRows finds drawers without metadata and metadata without a drawer.
// MemPalace's repair used to die on the former after hours (MemPalace #1458).
func (f *Facts) readSideRows(ctx context.Context, q querier) error {
	orphans, told, err := sideRows(ctx, q)
	if err != nil {
		return f.tolerate(err, "which drawers have metadata", false)
	}
	f.OrphanRows["embedding_metadata"] = orphans
	for i := range f.Collections {
		c := &f.Collections[i]
		seg := c.Row.Segment(ScopeMetadata)
		if seg == nil {
			continue
		}
		n, err := countStored(ctx, q, seg.ID)
		if err == nil {
			bare := n - told[seg.ID]
			c.Bare = &bare
		}
		if err := f.tolerate(err, "the drawers of "+c.Row.Name+" without metadata", false); err != nil {
			return err
		}
	}
	return nil
}

// readCollection asks what is only worth asking where something may be wrong.
func (f *Facts) readCollection(ctx context.Context, q querier, c *CollectionFacts, depth Depth) error {
	seg := c.Row.Segment(ScopeMetadata)
	if seg == nil {
		return nil
	}
	suspect := depth == Full
	for _, s := range c.Row.Segments {
		suspect = suspect || s.MaxSeqID != nil && (s.MaxSeqID.Poisoned() || s.MaxSeqID.Storage != "integer")
	}
	if suspect {
		applied, err := readApplied(ctx, q, seg.ID)
		c.Applied = applied
		if err := f.tolerate(err, "the newest drawer of "+c.Row.Name, false); err != nil {
			return err
		}
	}
	return nil
}

// indexRead is one collection's index, and the ids it holds.
type indexRead struct {
	facts IndexFacts
	sets  *coverage
}

func (p *Palace) readIndexes(ctx context.Context, list []CollectionFacts, into []indexRead, depth Depth, progress func(done, total int64)) error {
	var before int64
	for i, c := range list {
		told := int64(0)
		x, sets, err := readIndex(ctx, p.dir, c.Row, depth, func(done, total int64) {
			if told = total; progress != nil {
				progress(before+done, before+total)
			}
		})
		if err != nil {
			return err
		}
		before += told
		into[i] = indexRead{x, sets}
	}
	if progress != nil {
		progress(before, before)
	}
	return nil
}

// compareSets holds the database's ids against those of the indexes. An index
// must be the same afterwards: Chroma writes the files first and its position
// last, so a flush in between would make vectors look missing.
func (p *Palace) compareSets(ctx context.Context, f *Facts, indexes []indexRead, depth Depth) error {
	for try := 1; ; try++ {
		part := &Facts{}
		err := p.view(ctx, func(q querier, s shape) error {
			*part = Facts{Collections: append([]CollectionFacts(nil), f.Collections...)}
			sets := make([]*coverage, len(indexes))
			for i := range indexes {
				part.Collections[i].Index = indexes[i].facts
				sets[i] = indexes[i].sets
				sets[i].reset()
			}
			return part.readSets(ctx, q, s, p.dir, sets, depth)
		})
		if err != nil {
			return err
		}
		moved := false
		for i := range indexes {
			x := &part.Collections[i].Index
			if x.Dir == "" || x.FilesErr != nil {
				continue
			}
			now, err := stampOfIndex(x.Dir)
			x.Moving = err != nil || now != indexStamp{x.Files.Pickle, x.Files.Header, x.Files.Level0, x.Files.Length}
			moved = moved || x.Moving
		}
		if !moved || try == movingTries {
			f.Collections, f.Queue = part.Collections, part.Queue
			f.Unread = append(f.Unread, part.Unread...)
			return nil
		}
		if err := p.readIndexes(ctx, f.Collections, indexes, depth, nil); err != nil {
			return err
		}
	}
}

// conclude works out what no write can have gone beyond.
func (f *Facts) conclude() {
	f.HighestSeqID = max(f.HighestSeqID, deref(f.Queue.Highest))
	for _, c := range f.Collections {
		for _, s := range c.Row.Segments {
			if pos := s.MaxSeqID; pos != nil && pos.Storage == "integer" && !pos.Poisoned() && s.Scope == ScopeMetadata {
				f.HighestPosition = max(f.HighestPosition, pos.Value)
			}
		}
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
