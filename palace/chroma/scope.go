package chroma

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// scope is one collection within one read transaction: everything that a
// question about it starts from.
type scope struct {
	p *Palace
	c *Collection
	q querier
	s shape
	// position is the last queued write that the metadata segment contains, 0
	// when nothing is recorded; flushed that of the vector segment, nil then.
	position  int64
	flushed   *int64
	dimension *int
	stamp     stamp
	pending   *overlay
}

// neededColumns is what no Chroma did without.
var neededColumns = map[string][]string{
	"embeddings":         {"id", "segment_id", "embedding_id", "seq_id"},
	"embedding_metadata": {"id", "key", "string_value"},
	"embeddings_queue":   {"seq_id", "created_at", "operation", "topic", "id", "vector", "encoding", "metadata"},
	"max_seq_id":         {"segment_id", "seq_id"},
}

// scope starts a question. The collection's row is read each time: another
// process may have deleted it, and positions move.
func (c *Collection) scope(ctx context.Context, q querier, s shape) (*scope, error) {
	for table, columns := range neededColumns {
		if err := s.need(c.p.dir, table, columns...); err != nil {
			return nil, err
		}
	}
	sc := &scope{p: c.p, c: c, q: q, s: s}
	var dimension any
	err := q.QueryRowContext(ctx, "SELECT "+s.pick("collections", "c", "dimension")+" FROM collections c WHERE c.id = ?", c.row.ID).Scan(&dimension)
	if errors.Is(err, sql.ErrNoRows) {
		rows, err := readCatalog(ctx, q, s, c.p.dir)
		if err != nil {
			return nil, err
		}
		return nil, notFound(c.p.dir, c.row.Name, rows)
	}
	if err != nil {
		return nil, c.damaged("collections", err)
	}
	if n, ok := dimension.(int64); ok {
		d := int(n)
		sc.dimension = &d
	}
	position, err := sc.maxSeqID(ctx, c.segment)
	if err != nil {
		return nil, err
	}
	if position != nil {
		sc.position = *position
	}
	if sc.flushed, err = sc.maxSeqID(ctx, c.vectors); err != nil {
		return nil, err
	}
	if sc.stamp, err = sc.readStamp(ctx); err != nil {
		return nil, err
	}
	sc.pending, err = c.p.overlays.get(ctx, sc)
	return sc, err
}

// maxSeqID believes what is stored, as the engine does, whether or not it can
// be true: a poisoned position hides the queue from every reader, and the
// health report says so.
func (sc *scope) maxSeqID(ctx context.Context, segment string) (*int64, error) {
	var v any
	err := sc.q.QueryRowContext(ctx, "SELECT seq_id FROM max_seq_id WHERE segment_id = ?", segment).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	n := decodeSeqID(v).Value
	return &n, sc.c.damaged("max_seq_id", err)
}

func (sc *scope) readStamp(ctx context.Context) (stamp, error) {
	st := stamp{position: sc.position}
	file, err := dbfile.StampOf(filepath.Join(sc.p.dir, DatabaseFile))
	if err != nil {
		return st, err
	}
	st.file = file
	var top, record sql.NullInt64
	if err := sc.q.QueryRowContext(ctx, "SELECT max(seq_id) FROM embeddings_queue").Scan(&top); err != nil {
		return st, sc.c.damaged("embeddings_queue", err)
	}
	if err := sc.q.QueryRowContext(ctx, "SELECT max(id) FROM embeddings NOT INDEXED").Scan(&record); err != nil {
		return st, sc.c.damaged("embeddings", err)
	}
	st.queueTop, st.record = top.Int64, record.Int64
	return st, nil
}

// damaged names the part of the database that could not be read, if it was
// damage that kept it from being read.
func (c *Collection) damaged(part string, err error) error {
	if err == nil || !errors.Is(err, dbfile.ErrCorrupt) {
		return err
	}
	return &backend.DamagedError{Path: filepath.Join(c.p.dir, DatabaseFile), Part: fmt.Sprintf("%s of %s", part, c.row.Name), Err: err}
}
