package backend

import "context"

// Writer is a collection that can be changed. Everything is checked before
// anything is written: ids not empty and unique within a call, vectors finite
// and of the collection's dimension, metadata of the types of Metadata. What
// fails a check is a *InvalidRecordError, and nothing of the call was written.
type Writer interface {
	Collection
	// Add files records whose ids are new. What an engine does with an id it
	// knows is the engine's: Chroma leaves the stored record as it is,
	// sqlite_exact refuses the call.
	Add(ctx context.Context, list []Record) error
	// Upsert files new records and changes the others. Chroma merges: a
	// document, a URI or a metadata key that a record does not name stays.
	// sqlite_exact replaces the record whole.
	Upsert(ctx context.Context, list []Record) error
	// Update merges like Upsert but passes over unknown ids.
	Update(ctx context.Context, list []Change) error
	// Delete removes the records that match and says how many there were. An
	// empty filter is refused: deleting everything is said by name.
	Delete(ctx context.Context, f Filter) (int64, error)
}

// Change is what Update makes of one record. nil parts stay.
type Change struct {
	ID        string
	Document  *string
	URI       *string
	Metadata  Metadata
	Unset     []string // metadata keys to remove
	Embedding []float32
}

// Maker is a backend in which collections can be made and removed.
type Maker interface {
	Backend
	// CreateCollection fails with an *ExistsError where the name is taken.
	CreateCollection(ctx context.Context, c NewCollection) (Writer, error)
	// DeleteCollection removes the collection and every file that only it
	// used.
	DeleteCollection(ctx context.Context, name string) error
}

// NewCollection describes a collection to make. Zero parameters mean those
// that current MemPalace uses.
type NewCollection struct {
	Name      string
	Dimension int // 0: decided by the first write
	Space     string
	Embedder  string
	Metadata  Metadata
	HNSW      HNSWParams
}
