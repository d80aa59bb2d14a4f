package chroma

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// The scopes of a collection's two segments.
const (
	ScopeVector   = "VECTOR"
	ScopeMetadata = "METADATA"
)

// Segment is one of the two parts a collection is kept in.
type Segment struct {
	ID, Type, Scope string
	// Metadata holds hnsw:* keys in palaces made before Chroma 1.0.
	Metadata backend.Metadata
	// MaxSeqID is the last queued write that the segment contains; nil when
	// none is recorded, which counts as 0.
	MaxSeqID *SeqID
}

// CollectionRow is a collection as the catalogue tables have it.
type CollectionRow struct {
	ID, Name string
	// Dimension is nil until the first write.
	Dimension *int
	// ConfigJSON and SchemaStr are the stored texts; nil where the column is
	// NULL or absent.
	ConfigJSON, SchemaStr        *string
	DatabaseID, Database, Tenant string
	Metadata                     backend.Metadata
	Segments                     []Segment
	// Config is what the texts and the segment's metadata add up to. ConfigErr
	// is a *backend.SchemaError when they say something Castellan does not
	// know; Config then holds no space.
	Config    Config
	ConfigErr error
}

// Segment returns the segment of that scope; nil when there is none.
func (r CollectionRow) Segment(scope string) *Segment {
	for i := range r.Segments {
		if r.Segments[i].Scope == scope {
			return &r.Segments[i]
		}
	}
	return nil
}

// maxSeqID is the last write applied to a segment, as the engine reads it.
func (r CollectionRow) maxSeqID(scope string) int64 {
	if s := r.Segment(scope); s != nil && s.MaxSeqID != nil {
		return s.MaxSeqID.Value
	}
	return 0
}

// topicPrefix stands before the collection's id in the queue's topic column,
// for every tenant and database.
const topicPrefix = "persistent://default/default/"

// Topic is what marks the collection's rows in the queue.
func (r CollectionRow) Topic() string { return topicPrefix + r.ID }

// Info is the collection in the words of the contract.
func (r CollectionRow) Info() backend.CollectionInfo {
	return backend.CollectionInfo{
		Name: r.Name, ID: r.ID, Dimension: r.Dimension, Space: r.Config.Space,
		Embedder: r.Config.Embedder.Name, Metadata: r.Metadata, HNSW: r.Config.HNSW,
	}
}

// readCatalog lists the collections by name. A database without any table has
// none; one that has tables but not these is not Chroma's.
func readCatalog(ctx context.Context, q querier, s shape, path string) ([]CollectionRow, error) {
	if s.empty() {
		return nil, nil
	}
	for table, columns := range map[string][]string{
		"collections": {"id", "name"}, "segments": {"id", "type", "scope", "collection"},
	} {
		if err := s.need(path, table, columns...); err != nil {
			return nil, err
		}
	}
	list, err := readCollections(ctx, q, s)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(list))
	for i, r := range list {
		at[r.ID] = i
	}
	err = eachMetadata(ctx, q, s, "collection_metadata", "collection_id", func(id, key string, v any) {
		if i, ok := at[id]; ok {
			list[i].Metadata[key] = v
		}
	})
	if err != nil {
		return nil, err
	}
	segments, err := readSegments(ctx, q, s)
	if err != nil {
		return nil, err
	}
	for _, seg := range segments {
		if i, ok := at[seg.collection]; ok {
			list[i].Segments = append(list[i].Segments, seg.Segment)
		}
	}
	for i := range list {
		list[i].Config, list[i].ConfigErr = readConfig(path, &list[i])
	}
	return list, nil
}

func readCollections(ctx context.Context, q querier, s shape) ([]CollectionRow, error) {
	join, place := "", "NULL, NULL"
	if s.hasColumn("collections", "database_id") && s.hasColumn("databases", "id") {
		join = " LEFT JOIN databases d ON d.id = c.database_id"
		place = s.pick("databases", "d", "name", "tenant_id")
	}
	rows, err := q.QueryContext(ctx, "SELECT c.id, c.name, "+
		s.pick("collections", "c", "dimension", "config_json_str", "schema_str", "database_id")+", "+place+
		" FROM collections c"+join)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []CollectionRow
	for rows.Next() {
		var id, name, dimension, config, schema, databaseID, database, tenant any
		if err := rows.Scan(&id, &name, &dimension, &config, &schema, &databaseID, &database, &tenant); err != nil {
			return nil, err
		}
		r := CollectionRow{
			ID: textOr(id, ""), Name: textOr(name, ""), ConfigJSON: text(config), SchemaStr: text(schema),
			DatabaseID: textOr(databaseID, ""), Database: textOr(database, ""), Tenant: textOr(tenant, ""),
			Metadata: backend.Metadata{},
		}
		if n, ok := dimension.(int64); ok {
			d := int(n)
			r.Dimension = &d
		}
		list = append(list, r)
	}
	// Two databases of one palace may use a name twice. The default one, the
	// only one MemPalace uses, comes first.
	slices.SortStableFunc(list, func(a, b CollectionRow) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		if a.inDefaultDatabase() != b.inDefaultDatabase() {
			if a.inDefaultDatabase() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, rows.Err()
}

func (r CollectionRow) inDefaultDatabase() bool {
	return r.Database == "default_database" && r.Tenant == "default_tenant"
}

type ownedSegment struct {
	Segment
	collection string
}

func readSegments(ctx context.Context, q querier, s shape) ([]ownedSegment, error) {
	join, seq := "", "NULL"
	if s.hasColumn("max_seq_id", "segment_id") && s.hasColumn("max_seq_id", "seq_id") {
		// typeof tells a row that holds NULL from no row at all.
		join, seq = " LEFT JOIN max_seq_id x ON x.segment_id = g.id", "CASE WHEN x.segment_id IS NULL THEN NULL ELSE typeof(x.seq_id) END, x.seq_id"
	} else {
		seq = "NULL, NULL"
	}
	rows, err := q.QueryContext(ctx, "SELECT g.id, g.type, g.scope, g.collection, "+seq+" FROM segments g"+join+" ORDER BY g.rowid")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []ownedSegment
	at := map[string]int{}
	for rows.Next() {
		var id, kind, scope, collection, storage, seqID any
		if err := rows.Scan(&id, &kind, &scope, &collection, &storage, &seqID); err != nil {
			return nil, err
		}
		seg := Segment{ID: textOr(id, ""), Type: textOr(kind, ""), Scope: textOr(scope, ""), Metadata: backend.Metadata{}}
		if storage != nil {
			n := decodeSeqID(seqID)
			seg.MaxSeqID = &n
		}
		at[seg.ID] = len(list)
		list = append(list, ownedSegment{seg, textOr(collection, "")})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	err = eachMetadata(ctx, q, s, "segment_metadata", "segment_id", func(id, key string, v any) {
		if i, ok := at[id]; ok {
			list[i].Metadata[key] = v
		}
	})
	return list, err
}

// eachMetadata reads one of the two catalogue tables that hold typed values;
// their text column is called str_value.
func eachMetadata(ctx context.Context, q querier, s shape, table, owner string, fn func(id, key string, v any)) error {
	if !s.hasColumn(table, owner) || !s.hasColumn(table, "key") {
		return nil
	}
	rows, err := q.QueryContext(ctx, fmt.Sprintf("SELECT t.%s, t.key, %s FROM %s t", owner,
		s.pick(table, "t", "str_value", "int_value", "float_value", "bool_value"), table))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, key any
		var c cell
		if err := rows.Scan(append([]any{&id, &key}, c.dest()...)...); err != nil {
			return err
		}
		if v := c.value(); v != nil {
			fn(textOr(id, ""), textOr(key, ""), v)
		}
	}
	return rows.Err()
}
