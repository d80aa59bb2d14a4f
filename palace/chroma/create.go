package chroma

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"castellan/palace/backend"
)

// CreateCollection makes a collection as MemPalace does. Its Embedder is
// "default" (MiniLM) if none is named, NoEmbedder for none. Keys of its
// Metadata that begin with "hnsw:" are written from Space and HNSW, so those
// that come with it, as they do from another collection's Info, are passed over.
func (w *Writable) CreateCollection(ctx context.Context, c backend.NewCollection) (backend.Writer, error) {
	metadata, err := w.checkCollection(c)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(c)
	if err != nil {
		return nil, err
	}
	err = w.writeTo(ctx, func(tx *writeTx) error {
		f, err := w.stand(ctx, tx)
		if err != nil {
			return err
		}
		return f.create(ctx, c, schema, metadata)
	})
	if err != nil {
		return nil, err
	}
	made, err := w.Writer(ctx, c.Name)
	if err != nil {
		return nil, err // not a nil *Writer in an interface
	}
	return made, nil
}

// create inserts the rows. The segment's directory is made by Chroma when it
// first loads the collection; without one it reads the vectors from the queue.
func (f *footing) create(ctx context.Context, c backend.NewCollection, schema string, metadata backend.Metadata) error {
	for _, r := range f.rows {
		if r.Name == c.Name {
			return &backend.ExistsError{Palace: f.w.dir, Name: c.Name}
		}
	}
	var database string
	err := f.tx.QueryRowContext(ctx, "SELECT COALESCE((SELECT id FROM databases WHERE name = 'default_database' AND tenant_id = 'default_tenant'), '')").Scan(&database)
	if err != nil {
		return err
	}
	if database == "" {
		return f.w.refuse(c.Name, RefusedNoDatabase, "its default database is missing")
	}
	var dimension any
	if c.Dimension > 0 {
		dimension = c.Dimension
	}
	id, vectors, records := newUUID(), newUUID(), newUUID()
	err = f.tx.exec("collections", "INSERT INTO collections (id, name, dimension, database_id, config_json_str, schema_str) VALUES (?, ?, ?, ?, '{}', ?)",
		id, c.Name, dimension, database, schema)
	if err != nil {
		return err
	}
	err = f.tx.exec("segments", "INSERT INTO segments (id, type, scope, collection) VALUES (?, ?, ?, ?), (?, ?, ?, ?)",
		vectors, segmentTypes[ScopeVector], ScopeVector, id, records, segmentTypes[ScopeMetadata], ScopeMetadata, id)
	for _, key := range metadata.Keys() {
		if err != nil {
			return err // the next statement would be in a transaction of its own
		}
		row := scalarRow(key, metadata[key])
		column := strings.Replace(row.column, "string_", "str_", 1) // as the catalogue's tables call it
		err = f.tx.exec("collection_metadata", "INSERT INTO collection_metadata (collection_id, key, "+column+") VALUES (?, ?, ?)", id, key, row.value)
	}
	return err
}

// newUUID makes a random one, in lower case with hyphens: Chroma takes nothing
// else for an id.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var collectionName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$`)

// checkCollection refuses what Chroma would refuse, and answers with the
// metadata to store.
func (w *Writable) checkCollection(c backend.NewCollection) (backend.Metadata, error) {
	if _, err := netip.ParseAddr(c.Name); err == nil || !collectionName.MatchString(c.Name) || strings.Contains(c.Name, "..") {
		return nil, w.refuse(c.Name, RefusedName, "%q is no name for a collection", c.Name)
	}
	if err := checkSpace(c.Space); err != nil {
		return nil, w.refuse(c.Name, RefusedParameter, "%v", err)
	}
	if c.Dimension < 0 || c.Dimension > maxDimension {
		return nil, w.refuse(c.Name, RefusedParameter, "its dimension is %d", c.Dimension)
	}
	for _, p := range []struct {
		name  string
		value *int
		least int
	}{
		{"M", c.HNSW.M, 2}, {"EFConstruction", c.HNSW.EFConstruction, 1}, {"EFSearch", c.HNSW.EFSearch, 1},
		{"NumThreads", c.HNSW.NumThreads, 1}, {"BatchSize", c.HNSW.BatchSize, 2}, {"SyncThreshold", c.HNSW.SyncThreshold, 2},
	} {
		if p.value != nil && *p.value != 0 && (*p.value < p.least || *p.value > 1<<30) {
			return nil, w.refuse(c.Name, RefusedParameter, "its %s is %d", p.name, *p.value)
		}
	}
	if why := checkText(c.Embedder); why != "" || len(c.Embedder) > maxKey {
		return nil, w.refuse(c.Name, RefusedParameter, "the name of its embedder is too long or no text")
	}
	m := hnswMetadata(c)
	for _, key := range c.Metadata.Keys() {
		v := c.Metadata[key]
		why := checkKey(key)
		if why == "" {
			why = checkValue(v)
		}
		if _, list := valueRows(key, v); why == "" && list {
			why = "a collection's metadata has no lists"
		}
		if why != "" {
			return nil, w.refuse(c.Name, RefusedParameter, "metadata %q: %s", key, why)
		}
		if !strings.HasPrefix(key, "hnsw:") {
			m[key] = v
		}
	}
	return m, nil
}

// plainUUID is how the engine names a segment's directory. Names come from the
// database: no other is followed to the disk by what deletes.
var plainUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
