package repair

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace"
	"castellan/palace/chroma"
	"castellan/palace/chroma/pickle"
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
	// top is the queue's highest row, whoever's.
	top int64
}

func (g *gathered) have() int { return len(g.places) - g.by[nowhere] }

// missing are ids whose vector exists nowhere.
func (g *gathered) missing() []string {
	var ids []string
	for _, p := range g.places {
		if p.src == nowhere {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// elements are the vectors of an index directory that have a certain owner.
type elements struct {
	at    map[string]int
	torn  map[int]bool
	close func() error
	r     *hnswlib.Reader
}

// owned reads which id each element belongs to, by the index's own metadata.
// Where that cannot be read nothing is guessed: a label is a number that says
// nothing of its owner.
func owned(ctx context.Context, dir string, dimension int, space hnswlib.Space) (*elements, error) {
	meta, err := pickle.ReadFile(ctx, filepath.Join(dir, hnswlib.PickleFile))
	if err != nil {
		return nil, err
	}
	r, err := hnswlib.Open(dir)
	if err != nil {
		return nil, err
	}
	if r.Header().Dimension() != dimension {
		return nil, errors.Join(fmt.Errorf("%s holds vectors of %d dimensions, not %d", dir, r.Header().Dimension(), dimension), r.Close())
	}
	// Where a label stands twice the later element counts, as in Chroma's own
	// table. An element marked deleted has no vector any more.
	at := map[uint64]int{}
	err = r.Labels(ctx, func(internal int, label uint64, deleted bool) error {
		if deleted {
			delete(at, label)
		} else {
			at[label] = internal
		}
		return nil
	})
	var short *hnswlib.ShortError
	if err != nil && !errors.As(err, &short) {
		return nil, errors.Join(err, r.Close())
	}
	owners := map[uint64]int{}
	for _, label := range meta.IDs {
		owners[label]++
	}
	e := &elements{at: map[string]int{}, torn: map[int]bool{}, r: r}
	var internals []int
	for id, label := range meta.IDs {
		// A label with two owners is nobody's.
		if internal, ok := at[label]; ok && owners[label] == 1 {
			e.at[id] = internal
			internals = append(internals, internal)
		}
	}
	slices.Sort(internals)
	return e, e.judge(ctx, internals, space)
}

// judge drops vectors that cannot be what was stored, and marks those of which
// only the direction can be.
func (e *elements) judge(ctx context.Context, internals []int, space hnswlib.Space) error {
	bad := map[int]bool{}
	seen := map[int]bool{}
	err := e.r.Vectors(ctx, internals, func(internal int, v []float32) error {
		seen[internal] = true
		norm, ok := length(v)
		switch {
		case !ok:
			bad[internal] = true
		case space != hnswlib.Cosine:
		case norm == 0:
			// A vector that was all zeros when it was filed says so in length.bin.
			if n, err := e.r.Norm(internal); err != nil || n != 0 {
				bad[internal] = true
			}
		case math.Abs(norm-1) > 1e-3:
			e.torn[internal] = true
		}
		return nil
	})
	var element *hnswlib.ElementError
	var short *hnswlib.ShortError
	if err != nil && !errors.As(err, &element) && !errors.As(err, &short) {
		return errors.Join(err, e.r.Close())
	}
	for id, internal := range e.at {
		if bad[internal] || !seen[internal] {
			delete(e.at, id)
		}
	}
	return nil
}

// length is the norm of a vector; false where a part of it is no number.
func length(v []float32) (float64, bool) {
	s := 0.0
	for _, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, false
		}
		s += f * f
	}
	return math.Sqrt(s), true
}

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

// readLive reads the live index; nil where it names no owners.
func (g *gathered) readLive(ctx context.Context, pt *patient) (*elements, error) {
	e, err := owned(ctx, g.live, g.dimension, g.space)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		return e, nil
	}
	// That it cannot be read is why we are here. Without a sound header the
	// elements are still where they were.
	stand, err := pt.behead(ctx, g)
	if err != nil || stand == "" {
		return nil, err
	}
	if e, err = owned(ctx, stand, g.dimension, g.space); err != nil {
		return nil, ctx.Err()
	}
	g.dirs[0] = stand
	return e, nil
}

const queueQuestion = `SELECT seq_id, operation, id, typeof(vector), length(vector), COALESCE(upper(encoding), ''), strftime('%s', created_at) IS NOT NULL,
	metadata IS NULL OR (json_valid(metadata) AND json_type(metadata) = 'object') FROM embeddings_queue WHERE topic = ? ORDER BY seq_id`

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

func (e *elements) find(id string) (int, bool) {
	if e == nil {
		return 0, false
	}
	i, ok := e.at[id]
	return i, ok
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

// each hands out all vectors in the order of the drawers, as they were filed.
// v is fn's to keep.
func (g *gathered) each(ctx context.Context, p *chroma.Palace, fn func(id string, v []float32) error) error {
	readers := make([]*hnswlib.Reader, len(g.dirs))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.Close()
			}
		}
	}()
	for chunk := range slices.Chunk(g.places, 500) {
		out := make([][]float32, len(chunk))
		if err := g.fromQueue(ctx, p, chunk, out); err != nil {
			return err
		}
		for dir := range g.dirs {
			if err := g.fromDir(ctx, readers, dir, chunk, out); err != nil {
				return err
			}
		}
		for i, pl := range chunk {
			if pl.src == nowhere {
				continue
			}
			if out[i] == nil {
				return fmt.Errorf("the vector of %q is gone since it was found; somebody changes the palace", pl.id)
			}
			if err := fn(pl.id, out[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gathered) fromQueue(ctx context.Context, p *chroma.Palace, chunk []place, out [][]float32) error {
	at := map[int64]int{}
	var list []string
	for i, pl := range chunk {
		if pl.src == inQueue {
			at[pl.seq] = i
			list = append(list, fmt.Sprint(pl.seq))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return p.DB().View(ctx, func(tx *dbfile.Tx) error {
		rows, err := tx.Query(ctx, "SELECT seq_id, vector FROM embeddings_queue WHERE seq_id IN ("+strings.Join(list, ",")+")")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var seq int64
			var blob []byte
			if err := rows.Scan(&seq, &blob); err != nil {
				return err
			}
			if len(blob) == 4*g.dimension {
				out[at[seq]] = floats(blob)
			}
		}
		return rows.Err()
	})
}

func (g *gathered) fromDir(ctx context.Context, readers []*hnswlib.Reader, dir int, chunk []place, out [][]float32) error {
	at := map[int]int{}
	var internals []int
	for i, pl := range chunk {
		if (pl.src == inIndex || pl.src == inTorn || pl.src == inCopy) && pl.dir == dir {
			at[pl.internal] = i
			internals = append(internals, pl.internal)
		}
	}
	if len(internals) == 0 {
		return nil
	}
	if readers[dir] == nil {
		r, err := hnswlib.Open(g.dirs[dir])
		if err != nil {
			return err
		}
		readers[dir] = r
	}
	slices.Sort(internals)
	err := readers[dir].Vectors(ctx, internals, func(internal int, v []float32) error {
		v = slices.Clone(v)
		if g.space == hnswlib.Cosine && chunk[at[internal]].src != inTorn {
			// They lie there divided by their length, which stands in a file of its
			// own; where that is lost the direction is as good.
			norm, err := readers[dir].Norm(internal)
			if err == nil && norm > 0 && !math.IsInf(float64(norm), 0) {
				for i := range v {
					v[i] *= norm
				}
			}
		}
		out[at[internal]] = v
		return nil
	})
	return err
}

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func blobOf(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
