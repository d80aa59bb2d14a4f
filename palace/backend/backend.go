package backend

import "context"

// Backend is one opened palace. Every method may be called from several
// goroutines; after Close each of them fails with ErrClosed, at once and for
// ever.
type Backend interface {
	Kind() Kind
	// Collections lists what the palace holds, sorted by name.
	Collections(ctx context.Context) ([]CollectionInfo, error)
	// Collection opens a thin view; it fails with a *CollectionNotFoundError
	// that lists the names there are.
	Collection(ctx context.Context, name string) (Collection, error)
	// Close refuses new work, waits for work in flight, then lets go of every
	// file. Closing twice is fine.
	Close() error
}

// Collection reads one collection. Reads take no lock of MemPalace's; pending
// writes that the engine has accepted but not yet applied are part of every
// answer.
type Collection interface {
	Info() CollectionInfo
	// Count is exact.
	Count(ctx context.Context, f Filter) (int64, error)
	// Get answers in the engine's own order (insertion), also when ids are
	// asked for; unknown ids are skipped.
	Get(ctx context.Context, q Query) (Page, error)
	// Facets counts records by the values of one or two metadata keys. A
	// record without the key is counted under nil, so the rows always add up
	// to Count(f). Largest first, then by value.
	Facets(ctx context.Context, f Filter, keys ...string) ([]Facet, error)
}

// CollectionInfo is what is known of a collection without counting anything.
// Pointers are nil where the engine has not recorded a figure.
type CollectionInfo struct {
	Name string
	ID   string
	// Dimension of the vectors; nil until the first write.
	Dimension *int
	// Space is l2, cosine or ip; empty when it cannot be told.
	Space string
	// Embedder is the recorded name of the embedding function; empty when
	// none is recorded.
	Embedder string
	Metadata Metadata
	HNSW     HNSWParams
}

// HNSWParams are the index parameters an engine keeps with a collection; nil
// where they are not recorded.
type HNSWParams struct {
	M, EFConstruction, EFSearch, NumThreads, BatchSize, SyncThreshold *int
}

// Filter narrows a question. The zero value means everything.
type Filter struct {
	// IDs, when not nil, are the only ids considered; an empty non-nil slice
	// matches nothing.
	IDs           []string
	Where         Where
	WhereDocument WhereDocument
}

// IsZero reports whether the filter lets everything through.
func (f Filter) IsZero() bool {
	return f.IDs == nil && f.Where == nil && f.WhereDocument == nil
}

// Include says which parts of a record are wanted beside its id.
type Include uint8

// The parts of a record.
const (
	Documents Include = 1 << iota
	Metadatas
	Embeddings
	URIs
)

// Has reports whether every part in w is wanted.
func (i Include) Has(w Include) bool { return i&w == w }

// Query asks for a page of records.
type Query struct {
	Filter
	Include Include
	// After continues behind a page: the Next of the page before.
	After string
	// Offset skips that many matching records; it costs their reading. Use
	// After to walk.
	Offset int
	// Limit bounds the page; 0 means the backend's own page size.
	Limit int
}

// Page is an answer to a Query.
type Page struct {
	Records []Record
	// Next continues behind this page; empty when there is nothing more.
	Next string
}

// Record is one drawer, closet or whatever a collection holds.
type Record struct {
	ID string
	// Document is nil when none is stored, which is not the same as empty.
	// The bytes are as stored and need not be valid UTF-8.
	Document *string
	URI      *string
	Metadata Metadata
	// Embedding has the collection's dimension; nil when it was not asked for
	// or exists nowhere.
	Embedding []float32
}

// Facet is one group of records: Values holds the value of each key asked for,
// nil where a record has none.
type Facet struct {
	Values []any
	Rows   int64
}

// Walk calls fn for every record that q matches, page by page, so that no read
// transaction outlives a page: a long one would stop the engine's own commits.
// It stops at the first error of fn.
func Walk(ctx context.Context, c Collection, q Query, fn func(Record) error) error {
	for {
		page, err := c.Get(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			if err := fn(r); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.After, q.Offset = page.Next, 0
	}
}
