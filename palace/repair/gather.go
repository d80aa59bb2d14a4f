package repair

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"
	"castellan/palace/hnswlib"
)

// source is where a vector was found.
type source uint8

const (
	nowhere source = iota
	inIndex        // the live index
	inQueue        // a row of the queue
	inCopy         // an index that was put aside, or that no collection uses
	inTorn         // the live index, with a length that cannot be right
	sources = int(inTorn) + 1
)

// place is one stored drawer, and where its vector is.
type place struct {
	id  string
	src source
	// seq is the queue's row, internal the element of the index dir.
	seq      int64
	dir      int
	internal int
}

// gathered is all there is of a collection's vectors.
type gathered struct {
	row       chroma.CollectionRow
	dimension int
	space     hnswlib.Space
	// position is the last write that the stored drawers contain.
	position int64
	places   []place // in the order of their filing
	by       [sources]int
	// live is the directory of the index, dirs those that vectors are read
	// from; the first is the live one, or stands for it.
	live string
	dirs []string
	// replayed is what Chroma would make of the queue on an empty index: the
	// row that each id ends with.
	replayed map[string]int64
	// waiting counts rows that the stored drawers do not contain yet.
	waiting int64
	// mends put right rows that Chroma stumbles over.
	mends    []mend
	setAside int
	// nameless counts elements of the live index that belong to no id.
	nameless int
	// borrowed are the names of a live index that its own metadata lacks.
	borrowed int
	// top is the queue's highest row, whoever's.
	top int64
}

func (g *gathered) have() int { return len(g.places) - g.by[nowhere] }

// gather finds the vector of every stored drawer of a collection.
func (pt *patient) gather(ctx context.Context, c chroma.CollectionFacts) (*gathered, error) {
	g := &gathered{row: c.Row, replayed: map[string]int64{}}
	vec, meta := c.Row.Segment(chroma.ScopeVector), c.Row.Segment(chroma.ScopeMetadata)
	subject := c.Row.Name
	switch {
	case vec == nil || meta == nil || len(c.Row.Segments) != 2:
		return nil, refuse(Mismatch, subject, "castellan export writes every text", "it has %d segments where one for metadata and one for vectors are needed", len(c.Row.Segments))
	case c.Row.ConfigErr != nil:
		return nil, refuse(Mismatch, subject, "put a backup back, or castellan export", "its configuration cannot be read: %v", c.Row.ConfigErr)
	case c.Row.Dimension == nil:
		return nil, refuse(Mismatch, subject, "some other program wrote it; ask it", "it has no dimension recorded")
	}
	g.dimension = *c.Row.Dimension
	var err error
	if g.space, err = hnswlib.ParseSpace(c.Row.Config.Space); err != nil {
		return nil, refuse(Mismatch, subject, "castellan export writes every text", "how its vectors compare is not known: %v", err)
	}
	if want, ok := c.Row.Metadata["hnsw:space"].(string); ok && want != c.Row.Config.Space {
		return nil, refuse(Mismatch, subject, "castellan export --vectors; the recorded schema was lost", "it was made to compare by %s, and Chroma opens it as %s now", want, c.Row.Config.Space)
	}
	if x := c.Index.Graph; x != nil && x.Dimension != 0 && x.Dimension != g.dimension && c.Index.Flushed() {
		return nil, refuse(Mismatch, subject, "find out which is right before anything is built", "it records %d dimensions, and its index holds vectors of %d", g.dimension, x.Dimension)
	}
	g.position = pt.soundPosition(c)
	g.live = filepath.Join(pt.dir, vec.ID)
	g.dirs = []string{g.live}
	at, err := g.readLive(ctx, pt)
	if err != nil {
		return nil, err
	}
	flushed := int64(0)
	if at != nil {
		flushed = pt.soundFlushed(c)
		defer at.r.Close()
	}
	if err := g.readRows(ctx, pt, meta.ID, at, flushed); err != nil {
		return nil, err
	}
	if g.by[nowhere] > 0 {
		if err := g.searchCopies(ctx, pt, vec.ID); err != nil {
			return nil, err
		}
	}
	return g, nil
}

const queueQuestion = `SELECT seq_id, operation, id, typeof(vector), length(vector), COALESCE(upper(encoding), ''), strftime('%s', created_at) IS NOT NULL,
	metadata IS NULL OR CASE WHEN json_valid(metadata) THEN json_type(metadata) = 'object' ELSE 0 END FROM embeddings_queue WHERE topic = ? ORDER BY seq_id`

// readRows goes through the queue as Chroma does when it loads a segment, once
// above the index and once from nothing, and then through the stored drawers.
func (g *gathered) readRows(ctx context.Context, pt *patient, segment string, at *elements, flushed int64) error {
	above := map[string]int64{} // the row of an id's newest vector; 0 = deleted
	return pt.p.DB().View(ctx, func(tx *dbfile.Tx) error {
		if err := tx.QueryRow(ctx, "SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue", nil, &g.top); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, queueQuestion, g.row.Topic())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var q queued
			if err := rows.Scan(&q.seq, &q.op, &q.id, &q.kind, &q.bytes, &q.encoding, &q.visible, &q.metadata); err != nil {
				return err
			}
			m, id, op, vector := q.judge(g.dimension, g.position)
			if m != nil {
				g.mends = append(g.mends, *m)
				if m.aside {
					g.setAside++
					continue
				}
			}
			if q.seq > g.position {
				g.waiting++
				continue // replayed by whoever opens the palace
			}
			if q.seq > flushed {
				_, based := at.find(id)
				replay(above, based, q.seq, op, id, vector)
			}
			replay(g.replayed, false, q.seq, op, id, vector)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return g.readStored(ctx, tx, segment, at, above)
	})
}

// replay applies one row: an add of a known id and an update of an unknown one
// change nothing. based says that the index below has the id.
func replay(last map[string]int64, based bool, seq int64, op chroma.Operation, id string, vector bool) {
	had, seen := last[id]
	known := had > 0 || !seen && based
	switch {
	case op == chroma.OpDelete:
		last[id] = 0
	case !vector:
	case op == chroma.OpUpsert, op == chroma.OpAdd && !known, op == chroma.OpUpdate && known:
		last[id] = seq
	}
}

// readStored decides for each drawer. What the index or the queue above it says
// comes first; a row of the queue below the index stands in for an element that
// is lost.
func (g *gathered) readStored(ctx context.Context, tx *dbfile.Tx, segment string, at *elements, above map[string]int64) error {
	rows, err := tx.Query(ctx, "SELECT embedding_id FROM embeddings WHERE segment_id = ? ORDER BY id", segment)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		p := place{}
		if err := rows.Scan(&p.id); err != nil {
			return err
		}
		seq := above[p.id]
		internal, ok := at.find(p.id)
		switch {
		case seq > 0:
			p.src, p.seq = inQueue, seq
		case ok && !at.torn[internal]:
			p.src, p.internal = inIndex, internal
		case g.replayed[p.id] > 0:
			p.src, p.seq = inQueue, g.replayed[p.id]
		case ok:
			p.src, p.internal = inTorn, internal
		}
		g.by[p.src]++
		g.places = append(g.places, p)
	}
	return rows.Err()
}

// searchCopies looks for what is missing in directories that no collection
// uses: those that MemPalace put aside, the newest first, then the others.
func (g *gathered) searchCopies(ctx context.Context, pt *patient, segment string) error {
	site := pt.r.site
	quarantined := slices.Clone(site.Layout.Quarantined)
	slices.SortFunc(quarantined, func(a, b palace.Quarantined) int {
		// Copies of this very segment first.
		return cmp.Or(cmp.Compare(foreign(a.Segment, segment), foreign(b.Segment, segment)), b.At.Compare(a.At))
	})
	var dirs []string
	for _, q := range quarantined {
		dirs = append(dirs, q.Path)
	}
	for _, s := range site.Layout.Segments {
		if !pt.facts.SegmentIDs[s.ID] {
			dirs = append(dirs, s.Path)
		}
	}
	for _, dir := range dirs {
		if g.by[nowhere] == 0 {
			return nil
		}
		e, err := owned(ctx, dir, g.dimension, g.space)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		n := len(g.dirs)
		used := false
		for i := range g.places {
			p := &g.places[i]
			if internal, ok := e.find(p.id); p.src == nowhere && ok && !e.torn[internal] {
				p.src, p.dir, p.internal, used = inCopy, n, internal, true
				g.by[nowhere]--
				g.by[inCopy]++
			}
		}
		if used {
			g.dirs = append(g.dirs, dir)
		}
		if err := e.r.Close(); err != nil {
			return err
		}
	}
	return nil
}

func foreign(a, b string) int {
	if strings.EqualFold(a, b) {
		return 0
	}
	return 1
}
