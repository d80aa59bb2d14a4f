package chroma

import (
	"encoding/json"

	"castellan/palace/backend"
)

// The parameters with which MemPalace makes a collection. Chroma's own are the
// same but for the space, l2, and the threads, one for each processor.
const (
	newSpace         = "cosine"
	newThreads       = 1
	newBatch         = 100
	newSyncThreshold = 1000
	newM             = 16
	newConstruction  = 100
	newSearch        = 100
	newResizeFactor  = 1.2
	newEmbedder      = "default"
)

// NoEmbedder is the Embedder of a collection that records none, whose callers
// bring their vectors.
const NoEmbedder = "none"

// The JSON of schema_str, as Chroma 1.5 writes it.
type (
	schemaJSON struct {
		Defaults valueTypesJSON            `json:"defaults"`
		Keys     map[string]valueTypesJSON `json:"keys"`
	}
	valueTypesJSON struct {
		String    *stringJSON    `json:"string,omitempty"`
		FloatList *floatListJSON `json:"float_list,omitempty"`
		Sparse    *sparseJSON    `json:"sparse_vector,omitempty"`
		Int       *intJSON       `json:"int,omitempty"`
		Float     *floatJSON     `json:"float,omitempty"`
		Bool      *boolJSON      `json:"bool,omitempty"`
	}
	switchJSON struct {
		Enabled bool     `json:"enabled"`
		Config  struct{} `json:"config"`
	}
	stringJSON struct {
		FullText switchJSON `json:"fts_index"`
		Inverted switchJSON `json:"string_inverted_index"`
	}
	intJSON struct {
		Inverted switchJSON `json:"int_inverted_index"`
	}
	floatJSON struct {
		Inverted switchJSON `json:"float_inverted_index"`
	}
	boolJSON struct {
		Inverted switchJSON `json:"bool_inverted_index"`
	}
	sparseJSON struct {
		Index struct {
			Enabled bool `json:"enabled"`
			Config  struct {
				Embedder embedderJSON `json:"embedding_function"`
				BM25     bool         `json:"bm25"`
			} `json:"config"`
		} `json:"sparse_vector_index"`
	}
	floatListJSON struct {
		Index struct {
			Enabled bool       `json:"enabled"`
			Config  vectorJSON `json:"config"`
		} `json:"vector_index"`
	}
	vectorJSON struct {
		Space     string        `json:"space"`
		Embedder  *embedderJSON `json:"embedding_function,omitempty"`
		SourceKey string        `json:"source_key,omitempty"`
		HNSW      hnswJSON      `json:"hnsw"`
	}
	embedderJSON struct {
		Type   string `json:"type"`
		Name   string `json:"name,omitempty"`
		Config any    `json:"config,omitempty"`
	}
	hnswJSON struct {
		EFConstruction int     `json:"ef_construction"`
		MaxNeighbors   int     `json:"max_neighbors"`
		EFSearch       int     `json:"ef_search"`
		NumThreads     int     `json:"num_threads"`
		BatchSize      int     `json:"batch_size"`
		SyncThreshold  int     `json:"sync_threshold"`
		ResizeFactor   float64 `json:"resize_factor"`
	}
)

// schemaOf writes the schema_str of a collection to make: which is the only
// place that Chroma reads the space from.
func schemaOf(c backend.NewCollection) (string, error) {
	index := vectorJSON{Space: orDefault(&c.Space, newSpace), Embedder: embedderOf(c.Embedder), HNSW: hnswJSON{
		EFConstruction: orDefault(c.HNSW.EFConstruction, newConstruction), MaxNeighbors: orDefault(c.HNSW.M, newM),
		EFSearch: orDefault(c.HNSW.EFSearch, newSearch), NumThreads: orDefault(c.HNSW.NumThreads, newThreads),
		BatchSize: orDefault(c.HNSW.BatchSize, newBatch), SyncThreshold: orDefault(c.HNSW.SyncThreshold, newSyncThreshold),
		ResizeFactor: newResizeFactor,
	}}
	on := switchJSON{Enabled: true}
	var sparse sparseJSON
	sparse.Index.Config.Embedder.Type = "unknown"
	var unused, vectors floatListJSON
	unused.Index.Config = index
	vectors.Index.Enabled, vectors.Index.Config = true, index
	vectors.Index.Config.SourceKey = "#document"
	b, err := json.Marshal(schemaJSON{
		Defaults: valueTypesJSON{
			String: &stringJSON{Inverted: on}, FloatList: &unused, Sparse: &sparse,
			Int: &intJSON{on}, Float: &floatJSON{on}, Bool: &boolJSON{on},
		},
		Keys: map[string]valueTypesJSON{
			"#document":  {String: &stringJSON{FullText: on}},
			"#embedding": {FloatList: &vectors},
		},
	})
	return string(b), err
}

// embedderOf names the embedding function as MemPalace records it; its readers
// refuse a collection whose name is another than theirs.
func embedderOf(name string) *embedderJSON {
	switch name {
	case NoEmbedder:
		return nil
	case "", newEmbedder:
		return &embedderJSON{"known", newEmbedder, map[string]any{"preferred_providers": []string{"CPUExecutionProvider"}}}
	}
	return &embedderJSON{"known", name, struct{}{}}
}

// hnswMetadata is what MemPalace keeps of the parameters beside the schema,
// for its own tools: always these four, the others where they were chosen.
func hnswMetadata(c backend.NewCollection) backend.Metadata {
	m := backend.Metadata{
		"hnsw:space":          orDefault(&c.Space, newSpace),
		"hnsw:num_threads":    int64(orDefault(c.HNSW.NumThreads, newThreads)),
		"hnsw:batch_size":     int64(orDefault(c.HNSW.BatchSize, newBatch)),
		"hnsw:sync_threshold": int64(orDefault(c.HNSW.SyncThreshold, newSyncThreshold)),
	}
	for key, p := range map[string]*int{"hnsw:M": c.HNSW.M, "hnsw:construction_ef": c.HNSW.EFConstruction, "hnsw:search_ef": c.HNSW.EFSearch} {
		if p != nil && *p != 0 {
			m[key] = int64(*p)
		}
	}
	return m
}

// orDefault is the value, or what stands for a zero one.
func orDefault[T comparable](v *T, or T) T {
	var zero T
	if v == nil || *v == zero {
		return or
	}
	return *v
}
