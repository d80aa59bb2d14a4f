package chroma

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"castellan/palace/backend"
)

// footing is the state of a palace that a write starts from, read within the
// write's own transaction, so that nobody can change it meanwhile.
type footing struct {
	w    *Writable
	tx   *writeTx
	s    shape
	rows []CollectionRow
	// queueTop is the highest sequence number in the queue, last the highest
	// that was ever given out as far as can be told.
	queueTop, last int64
}

// stand reads the palace's state and refuses one that must not be written to.
func (w *Writable) stand(ctx context.Context, tx *writeTx) (*footing, error) {
	f := &footing{w: w, tx: tx}
	path := filepath.Join(w.dir, DatabaseFile)
	var err error
	if f.s, err = readShape(ctx, tx); err != nil {
		return nil, err
	}
	schema, err := readSchema(ctx, tx, f.s)
	if err != nil {
		return nil, err
	}
	var text int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = '"+ftsTable+"'").Scan(&text); err != nil {
		return nil, err
	}
	switch {
	case !schema.Known():
		return nil, &backend.SchemaError{Path: path, Detail: "a newer Chroma made it: " + strings.Join(append(schema.Newer, schema.Unknown...), ", ")}
	case f.s.empty() || len(schema.MissingTables) > 0 || text == 0:
		return nil, &backend.SchemaError{Path: path, Detail: "tables of Chroma's are missing: " + strings.Join(schema.MissingTables, ", ")}
	case len(schema.Older) > 0:
		return nil, w.refuse("", RefusedOldSchema, "its schema is older than Chroma 1.5 (%s)", strings.Join(schema.Older, ", "))
	}
	for table, columns := range neededColumns {
		if err := f.s.need(path, table, columns...); err != nil {
			return nil, err
		}
	}
	if f.rows, err = readCatalog(ctx, tx, f.s, w.dir); err != nil {
		return nil, err
	}
	return f, f.countNumbers()
}

func (w *Writable) refuse(collection string, why Refusal, detail string, args ...any) error {
	return &RefusedError{Palace: w.dir, Collection: collection, Reason: why, Detail: fmt.Sprintf(detail, args...)}
}

// countNumbers finds the numbers that were given out. SQLite would hand out
// the queue's top plus one: when rows at the top are gone that may lie below a
// position, and what gets such a number is acknowledged and then purged
// unseen. Positions that cannot be true are no guide; those of the collection
// that is written to are refused later.
func (f *footing) countNumbers() error {
	top, _, err := f.tx.number("embeddings_queue", "SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue")
	if err != nil {
		return err
	}
	if top > maxSaneSeqID {
		return f.w.refuse("", RefusedOutOfNumber, "the queue's highest sequence number is %d", top)
	}
	highest, err := f.tx.highestPosition()
	f.queueTop, f.last = top, max(top, highest, 0)
	return err
}

// highestPosition is the highest that is recorded for any segment and can be
// true; 0 without one.
func (t *writeTx) highestPosition() (int64, error) {
	rows, err := t.QueryContext(context.Background(), "SELECT seq_id FROM max_seq_id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var highest int64
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return 0, err
		}
		if n := decodeSeqID(v); !n.Poisoned() {
			highest = max(highest, n.Value)
		}
	}
	return highest, rows.Err()
}

// find returns the row of a collection that has been opened.
func (f *footing) find(id, name string) (CollectionRow, error) {
	for _, r := range f.rows {
		if r.ID == id {
			return r, nil
		}
	}
	return CollectionRow{}, notFound(f.w.dir, name, f.rows)
}

// ground is a collection that a write may go to.
type ground struct {
	*footing
	row CollectionRow
	c   *Collection
	// decided says that this write decides the dimension.
	decided bool
}

// segmentTypes are those of a collection that is kept in a directory.
var segmentTypes = map[string]string{
	ScopeVector:   "urn:chroma:segment/vector/hnsw-local-persisted",
	ScopeMetadata: "urn:chroma:segment/metadata/sqlite",
}

// enterCollection refuses a collection in which a write would be lost, or
// would have Chroma lose what is there.
func (f *footing) enterCollection(ctx context.Context, id, name string) (*ground, error) {
	row, err := f.find(id, name)
	if err != nil {
		return nil, err
	}
	if row.ConfigErr != nil {
		return nil, row.ConfigErr
	}
	scopes := map[string]int{}
	for _, s := range row.Segments {
		scopes[s.Scope]++
		if s.Type != segmentTypes[s.Scope] {
			return nil, f.w.refuse(row.Name, RefusedSegments, "its %s segment is of the type %q, which no local Chroma keeps", s.Scope, s.Type)
		}
		if s.MaxSeqID == nil {
			continue
		}
		switch {
		case s.MaxSeqID.Poisoned():
			return nil, f.w.refuse(row.Name, RefusedPosition, "the position of its %s segment is %d, which no queue ever reached", s.Scope, s.MaxSeqID.Value)
		case s.MaxSeqID.Storage != "integer":
			return nil, f.w.refuse(row.Name, RefusedBlob, "the position of its %s segment is stored as %s, which Chroma 1.x cannot read", s.Scope, s.MaxSeqID.Storage)
		}
	}
	if len(row.Segments) != 2 || scopes[ScopeMetadata] != 1 || scopes[ScopeVector] != 1 {
		return nil, f.w.refuse(row.Name, RefusedSegments, "it has %d segments where one for metadata and one for vectors are needed", len(row.Segments))
	}
	// A handle of its own keeps the readers' caches free of what this
	// transaction sees and may yet roll back.
	c, err := (&Palace{dir: f.w.dir}).newCollection(row)
	if err != nil {
		return nil, err
	}
	g := &ground{footing: f, row: row, c: c}
	return g, g.checkCovered(ctx)
}

// checkCovered refuses the most dangerous state there is: loading counts a
// vector position without an index as 0, but Chroma's purge goes by it, and
// the next write deletes the queue rows that are the only copy of vectors. An
// index that was emptied by deletes looks alike and is sound: no record is as
// old as its position.
func (g *ground) checkCovered(ctx context.Context) error {
	position := g.row.maxSeqID(ScopeVector)
	if position == 0 {
		return nil
	}
	ix, release, err := g.w.indexes.acquire(ctx, g.c.indexDir())
	if err != nil {
		return err
	}
	exists := ix.exists()
	if err := release(); err != nil {
		return err
	}
	if exists {
		return nil
	}
	old, _, err := g.tx.number("embeddings", "SELECT EXISTS (SELECT 1 FROM embeddings WHERE segment_id = ? AND (typeof(seq_id) <> 'integer' OR seq_id <= ?))", g.c.segment, position)
	if err == nil && old != 0 {
		err = g.w.refuse(g.row.Name, RefusedUncovered, "its vector position is %d, but its directory holds no index", position)
	}
	return err
}
