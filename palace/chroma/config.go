package chroma

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"castellan/palace/backend"
)

// Config is how a collection compares and indexes vectors, as the engine would
// decide it.
type Config struct {
	// Space is l2, cosine or ip; empty when the stored texts cannot be read.
	Space string
	HNSW  backend.HNSWParams
	// ResizeFactor is kept and not used by any Chroma of today.
	ResizeFactor *float64
	// Source is what decided: schema_str, config_json_str, segment_metadata,
	// or default when nothing is recorded and the engine falls back to l2.
	Source   string
	Embedder Embedder
}

// Embedder is what is recorded of the function that made the vectors.
type Embedder struct {
	// Kind is known, legacy or unknown, in the engine's words; empty when
	// nothing is recorded.
	Kind string
	// Name is set for the known kind alone: "default" is MiniLM,
	// "embeddinggemma_300m" MemPalace's other one.
	Name string
}

// readConfig decides as the engine does: schema_str, else config_json_str; and
// when that is all default and the vector segment has hnsw:* of its own, those.
// hnsw:space in the collection's metadata is never consulted: a palace whose
// schema was lost opens as l2, whatever its metadata says.
func readConfig(path string, r *CollectionRow) (Config, error) {
	c, err := recordedConfig(r)
	if err == nil && c.isDefault() {
		if seg := r.Segment(ScopeVector); seg != nil {
			err = c.overrideBySegment(seg.Metadata)
		}
	}
	if err != nil {
		return Config{Embedder: c.Embedder}, &backend.SchemaError{
			Path: path, Detail: fmt.Sprintf("collection %q: %v", r.Name, err),
		}
	}
	if c.Space == "" {
		c.Space = "l2"
	}
	return c, nil
}

func recordedConfig(r *CollectionRow) (Config, error) {
	if s := r.SchemaStr; s != nil {
		if t := strings.TrimSpace(*s); t != "" && t != "null" {
			return configFromSchema(t)
		}
	}
	if r.ConfigJSON == nil {
		return Config{Source: "default"}, nil
	}
	return configFromJSON(*r.ConfigJSON)
}

// vectorSchema is the block of schema_str that matters here. The engine refuses
// a block with other fields, and so do we: a field that is not known may
// change what the known ones mean.
type vectorSchema struct {
	Space     *string         `json:"space"`
	Embedding json.RawMessage `json:"embedding_function"`
	SourceKey *string         `json:"source_key"`
	HNSW      *hnswSchema     `json:"hnsw"`
	SPANN     json.RawMessage `json:"spann"`
}

type hnswSchema struct {
	EFConstruction *int     `json:"ef_construction"`
	MaxNeighbors   *int     `json:"max_neighbors"`
	EFSearch       *int     `json:"ef_search"`
	NumThreads     *int     `json:"num_threads"`
	BatchSize      *int     `json:"batch_size"`
	SyncThreshold  *int     `json:"sync_threshold"`
	ResizeFactor   *float64 `json:"resize_factor"`
}

func (h hnswSchema) params() backend.HNSWParams {
	return backend.HNSWParams{
		M: h.MaxNeighbors, EFConstruction: h.EFConstruction, EFSearch: h.EFSearch,
		NumThreads: h.NumThreads, BatchSize: h.BatchSize, SyncThreshold: h.SyncThreshold,
	}
}

func configFromSchema(text string) (Config, error) {
	type valueTypes struct {
		FloatList *struct {
			VectorIndex *struct {
				Config json.RawMessage `json:"config"`
			} `json:"vector_index"`
		} `json:"float_list"`
	}
	var schema struct {
		Defaults valueTypes `json:"defaults"`
		// Keys was called key_overrides for a while.
		Keys         map[string]valueTypes `json:"keys"`
		KeyOverrides map[string]valueTypes `json:"key_overrides"`
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return Config{}, fmt.Errorf("schema_str: %w", err)
	}
	for _, v := range []valueTypes{schema.Keys["#embedding"], schema.KeyOverrides["#embedding"], schema.Defaults} {
		if v.FloatList == nil || v.FloatList.VectorIndex == nil {
			continue
		}
		var index vectorSchema
		if err := strictJSON(v.FloatList.VectorIndex.Config, &index); err != nil {
			return Config{}, fmt.Errorf("schema_str, vector_index: %w", err)
		}
		return index.config()
	}
	return Config{}, fmt.Errorf("schema_str describes no vector index")
}

func (v vectorSchema) config() (Config, error) {
	c := Config{Source: "schema_str"}
	var err error
	if c.Embedder, err = readEmbedder(v.Embedding); err != nil {
		return c, fmt.Errorf("schema_str: %w", err)
	}
	if isSet(v.SPANN) {
		return c, fmt.Errorf("schema_str: the vectors are in a SPANN index, which no local Chroma keeps")
	}
	if v.HNSW != nil {
		c.HNSW = v.HNSW.params()
		c.ResizeFactor = v.HNSW.ResizeFactor
	}
	if v.Space != nil {
		c.Space = *v.Space
	}
	return c, checkSpace(c.Space)
}

// configFromJSON reads the form of Chroma 1.0 to 1.4. The one of 0.5 and 0.6
// (hnsw_configuration, _type) is let through and its values ignored, as the
// engine does.
func configFromJSON(text string) (Config, error) {
	c := Config{Source: "config_json_str"}
	var stored struct {
		VectorIndex *struct {
			HNSW  json.RawMessage `json:"hnsw"`
			SPANN json.RawMessage `json:"spann"`
		} `json:"vector_index"`
		Embedding json.RawMessage `json:"embedding_function"`
	}
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return c, fmt.Errorf("config_json_str: %w", err)
	}
	var err error
	if c.Embedder, err = readEmbedder(stored.Embedding); err != nil {
		return c, fmt.Errorf("config_json_str: %w", err)
	}
	switch {
	case stored.VectorIndex == nil:
		c.Source = "default"
		return c, nil
	case isSet(stored.VectorIndex.SPANN):
		return c, fmt.Errorf("config_json_str: the vectors are in a SPANN index, which no local Chroma keeps")
	case !isSet(stored.VectorIndex.HNSW):
		return c, fmt.Errorf("config_json_str: an index that is not HNSW")
	}
	var h struct {
		Space *string `json:"space"`
		hnswSchema
	}
	if err := strictJSON(stored.VectorIndex.HNSW, &h); err != nil {
		return c, fmt.Errorf("config_json_str, hnsw: %w", err)
	}
	c.HNSW = h.params()
	c.ResizeFactor = h.ResizeFactor
	if h.Space != nil {
		c.Space = *h.Space
	}
	return c, checkSpace(c.Space)
}

// readEmbedder tells apart what the engine tells apart. A kind that it does
// not have comes from a version after it.
func readEmbedder(b json.RawMessage) (Embedder, error) {
	if !isSet(b) {
		return Embedder{}, nil
	}
	var e struct{ Type, Name string }
	if err := json.Unmarshal(b, &e); err != nil {
		return Embedder{}, fmt.Errorf("embedding_function: %w", err)
	}
	switch e.Type {
	case "known":
		return Embedder{Kind: e.Type, Name: e.Name}, nil
	case "legacy", "unknown":
		return Embedder{Kind: e.Type}, nil
	}
	return Embedder{}, fmt.Errorf("embedding_function: type %q is not known", e.Type)
}

// isDefault follows the engine: a parameter that is not given counts as its
// default, and so does the number of processors as a number of threads.
func (c Config) isDefault() bool {
	is := func(p *int, def int) bool { return p == nil || *p == def }
	h := c.HNSW
	return (c.Space == "" || c.Space == "l2") && is(h.M, 16) && is(h.EFConstruction, 100) && is(h.EFSearch, 100) &&
		is(h.BatchSize, 100) && is(h.SyncThreshold, 1000) && is(h.NumThreads, runtime.NumCPU()) &&
		(c.ResizeFactor == nil || *c.ResizeFactor == 1.2)
}

// overrideBySegment takes what Chroma before 1.0 kept with the segment.
func (c *Config) overrideBySegment(m backend.Metadata) error {
	var h backend.HNSWParams
	var resize *float64
	space, found := "", false
	for key, v := range m {
		if !strings.HasPrefix(key, "hnsw:") {
			continue
		}
		found = true
		if key == "hnsw:space" {
			s, ok := v.(string)
			if !ok || checkSpace(s) != nil {
				return fmt.Errorf("segment_metadata: %s is %v", key, backend.Text(v))
			}
			space = s
			continue
		}
		if key == "hnsw:resize_factor" {
			f, ok := asFloat(v)
			if !ok {
				return fmt.Errorf("segment_metadata: %s is %v", key, backend.Text(v))
			}
			resize = &f
			continue
		}
		p := map[string]**int{
			"hnsw:M": &h.M, "hnsw:construction_ef": &h.EFConstruction, "hnsw:search_ef": &h.EFSearch,
			"hnsw:num_threads": &h.NumThreads, "hnsw:batch_size": &h.BatchSize, "hnsw:sync_threshold": &h.SyncThreshold,
		}[key]
		n, ok := v.(int64)
		if p == nil || !ok || n < 0 {
			return fmt.Errorf("segment_metadata: %s is %v", key, backend.Text(v))
		}
		i := int(n)
		*p = &i
	}
	if found {
		c.Space, c.HNSW, c.ResizeFactor, c.Source = space, h, resize, "segment_metadata"
	}
	return nil
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

func checkSpace(s string) error {
	switch s {
	case "", "l2", "cosine", "ip":
		return nil
	}
	return fmt.Errorf("the space %q is not known", s)
}

func isSet(b json.RawMessage) bool { return len(b) > 0 && !bytes.Equal(b, []byte("null")) }

// strictJSON refuses fields that v does not have.
func strictJSON(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("more than one JSON value")
	}
	return nil
}
