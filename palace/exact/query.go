package exact

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// reader is a transaction that answers questions: one that only reads, or one
// that is about to write.
type reader interface {
	Query(ctx context.Context, query string, args ...any) (resultSet, error)
}

type resultSet interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// lookTx is the reader of a view.
type lookTx struct{ tx *dbfile.Tx }

func (l lookTx) Query(ctx context.Context, query string, args ...any) (resultSet, error) {
	rows, err := l.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err // not a *dbfile.Rows that is nil in an interface that is not
	}
	return rows, nil
}

// query asks within one read transaction of a database whose shape is known.
type query struct {
	tx      reader
	palace  string
	columns map[string][]string
	// loci reports the columns wing, room and hall, which MemPalace 3.8 and
	// later generate from the metadata and index. Having been indexed, the
	// metadata is known to be JSON that SQLite can read.
	loci bool
}

// locusFields are the metadata keys that have columns of their own. Their
// values went through TEXT: 7 has become "7".
var locusFields = []string{"wing", "room", "hall"}

// newQuery reads which tables and columns there are. Columns that no version
// of MemPalace has made yet do not matter; missing ones do.
func newQuery(ctx context.Context, tx reader, palace string) (query, error) {
	q := query{tx: tx, palace: palace, columns: map[string][]string{}}
	// table_info leaves generated columns out, table_xinfo does not.
	rows, err := tx.Query(ctx, `SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p
		WHERE m.type = 'table' AND m.name IN ('meta', 'collections', 'documents')`)
	if err != nil {
		return q, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return q, err
		}
		q.columns[table] = append(q.columns[table], column)
	}
	q.loci = q.has("documents", locusFields...)
	return q, rows.Err()
}

func (q query) has(table string, columns ...string) bool {
	for _, c := range columns {
		if !slices.Contains(q.columns[table], c) {
			return false
		}
	}
	return q.columns[table] != nil
}

// shape is what is needed of a table.
type shape struct {
	table   string
	columns []string
}

// shown are the columns that every answer rests on.
var shown = []shape{
	{"collections", []string{"id", "name"}},
	{"documents", []string{"collection_id", "id", "document", "metadata_json", "embedding"}},
}

// need refuses a database of another shape, which must not be answered for
// with zeros.
func (q query) need(list []shape) error {
	for _, t := range list {
		for _, c := range t.columns {
			if !q.has(t.table, c) {
				return &backend.SchemaError{Path: q.path(), Detail: fmt.Sprintf("table %q has no column %q", t.table, c)}
			}
		}
	}
	return nil
}

func (q query) path() string { return filepath.Join(q.palace, DatabaseFile) }

// collection is what the database says of one.
type collection struct {
	id   int64
	info backend.CollectionInfo
}

// collections lists all by name.
func (q query) collections(ctx context.Context) ([]collection, error) {
	if len(q.columns) == 0 {
		return nil, nil
	}
	if err := q.need(shown); err != nil {
		return nil, err
	}
	rows, err := q.tx.Query(ctx, "SELECT id, name, "+q.dimension()+", "+q.embedder()+" FROM collections c ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []collection
	for rows.Next() {
		var id int64
		var name string
		var dimension, embedder any
		if err := rows.Scan(&id, &name, &dimension, &embedder); err != nil {
			return nil, err
		}
		info := backend.CollectionInfo{Name: name, ID: strconv.FormatInt(id, 10), Space: "cosine"}
		if n, ok := dimension.(int64); ok && n > 0 && n < 1<<31 {
			d := int(n)
			info.Dimension = &d
		}
		info.Embedder, _ = embedder.(string)
		list = append(list, collection{id, info})
	}
	return list, rows.Err()
}

// dimension is an expression for a collection c. Files from before the column
// was added have it with each document, and MemPalace adds the column without
// filling it.
func (q query) dimension() string {
	const stored = "(SELECT d.dim FROM documents d WHERE d.collection_id = c.id ORDER BY d.rowid LIMIT 1)"
	collection, document := q.has("collections", "dimension"), q.has("documents", "dim")
	switch {
	case collection && document:
		return "coalesce(c.dimension, " + stored + ")"
	case collection:
		return "c.dimension"
	case document:
		return stored
	}
	return "NULL"
}

func (q query) embedder() string {
	if !q.has("meta", "key", "value") {
		return "NULL"
	}
	return "(SELECT m.value FROM meta m WHERE m.key = 'embedder_model:' || c.name)"
}

// collection finds one by name.
func (q query) collection(ctx context.Context, name string) (collection, error) {
	list, err := q.collections(ctx)
	if err != nil {
		return collection{}, err
	}
	missing := &backend.CollectionNotFoundError{Palace: q.palace, Name: name}
	for _, c := range list {
		if c.info.Name == name {
			return c, nil
		}
		missing.Known = append(missing.Known, c.info.Name)
	}
	return collection{}, missing
}

// number asks for a single integer.
func (q query) number(ctx context.Context, text string, args ...any) (int64, error) {
	rows, err := q.tx.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var n int64
	if rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}
