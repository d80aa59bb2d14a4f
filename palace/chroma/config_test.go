package chroma

import (
	"errors"
	"runtime"
	"testing"

	"castellan/palace/backend"
)

const schemaCosine = `{"defaults":{"float_list":{"vector_index":{"enabled":false,"config":{"space":"l2"}}}},
	"keys":{"#embedding":{"float_list":{"vector_index":{"enabled":true,"config":{"space":"cosine","source_key":"#document",
	"embedding_function":{"type":"known","name":"embeddinggemma_300m","config":{"a":1}},
	"hnsw":{"ef_construction":100,"max_neighbors":32,"ef_search":100,"num_threads":1,"batch_size":100,"sync_threshold":400,"resize_factor":1.2}}}}}}}`

func row(schema, config string, collection, segment backend.Metadata) *CollectionRow {
	r := &CollectionRow{
		Name: "mempalace_drawers", Metadata: collection,
		Segments: []Segment{{ID: "v", Scope: ScopeVector, Metadata: segment}, {ID: "m", Scope: ScopeMetadata}},
	}
	if schema != "NULL" {
		r.SchemaStr = &schema
	}
	if config != "NULL" {
		r.ConfigJSON = &config
	}
	return r
}

func TestTheSpaceComesFromWhereChromaTakesIt(t *testing.T) {
	cosine := backend.Metadata{"hnsw:space": "cosine", "hnsw:M": int64(48)}
	for _, tc := range []struct {
		name                string
		schema, config      string
		collection, segment backend.Metadata
		space, source       string
		m                   int
	}{
		{"schema first", schemaCosine, `{"vector_index":{"hnsw":{"space":"ip"}}}`, nil, backend.Metadata{"hnsw:space": "l2"}, "cosine", "schema_str", 32},
		{"config where the schema is NULL", "NULL", `{"vector_index":{"hnsw":{"space":"ip","max_neighbors":8}}}`, nil, cosine, "ip", "config_json_str", 8},
		{"an empty schema is none", " ", `{"vector_index":{"hnsw":{"space":"ip"}}}`, nil, nil, "ip", "config_json_str", 0},
		{"a null schema is none", "null", `{"vector_index":{"hnsw":{"space":"ip"}}}`, nil, nil, "ip", "config_json_str", 0},
		{"collection metadata never", "NULL", `{}`, cosine, nil, "l2", "default", 0},
		{"segment where all is default", "NULL", `{}`, nil, cosine, "cosine", "segment_metadata", 48},
		{"segment beats a default schema", `{"keys":{"#embedding":{"float_list":{"vector_index":{"config":{"space":"l2","hnsw":{"max_neighbors":16}}}}}}}`, "NULL", nil, cosine, "cosine", "segment_metadata", 48},
		{"no segment where a parameter differs", "NULL", `{"vector_index":{"hnsw":{"space":"l2","sync_threshold":999}}}`, nil, cosine, "l2", "config_json_str", 0},
		{"the form of 0.6 is accepted, its values are not", "NULL", `{"hnsw_configuration":{"space":"ip","_type":"HNSWConfigurationInternal"},"_type":"CollectionConfigurationInternal"}`, nil, nil, "l2", "default", 0},
		{"nothing at all", "NULL", "NULL", nil, nil, "l2", "default", 0},
		{"defaults of the schema where it has no key", `{"defaults":{"float_list":{"vector_index":{"config":{"space":"ip"}}}},"keys":{}}`, "NULL", nil, nil, "ip", "schema_str", 0},
	} {
		c, err := readConfig("p", row(tc.schema, tc.config, tc.collection, tc.segment))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		m := 0
		if c.HNSW.M != nil {
			m = *c.HNSW.M
		}
		if c.Space != tc.space || c.Source != tc.source || m != tc.m {
			t.Errorf("%s: got %s from %s, M %d", tc.name, c.Space, c.Source, m)
		}
	}
}

func TestAsManyThreadsAsProcessorsIsTheDefault(t *testing.T) {
	n := runtime.NumCPU()
	c := Config{HNSW: backend.HNSWParams{NumThreads: &n}}
	if !c.isDefault() {
		t.Error("the number of processors is what Chroma fills in by itself")
	}
	n++
	if c.isDefault() {
		t.Error("another number was chosen by somebody")
	}
}

func TestAConfigurationOfTheFutureIsRefusedNotGuessed(t *testing.T) {
	for name, r := range map[string]*CollectionRow{
		"space":          row(`{"keys":{"#embedding":{"float_list":{"vector_index":{"config":{"space":"hamming"}}}}}}`, "{}", nil, nil),
		"field":          row(`{"keys":{"#embedding":{"float_list":{"vector_index":{"config":{"space":"l2","quantized":true}}}}}}`, "{}", nil, nil),
		"hnsw field":     row("NULL", `{"vector_index":{"hnsw":{"space":"l2","layers":3}}}`, nil, nil),
		"no index":       row(`{"defaults":{},"keys":{}}`, "{}", nil, nil),
		"spann":          row(`{"keys":{"#embedding":{"float_list":{"vector_index":{"config":{"space":"l2","spann":{}}}}}}}`, "{}", nil, nil),
		"other index":    row("NULL", `{"vector_index":{"flat":{}}}`, nil, nil),
		"embedder":       row("NULL", `{"embedding_function":{"type":"remote"}}`, nil, nil),
		"no JSON":        row(`{`, "{}", nil, nil),
		"config no JSON": row("NULL", `x`, nil, nil),
		"segment space":  row("NULL", "{}", nil, backend.Metadata{"hnsw:space": "hamming"}),
		"segment key":    row("NULL", "{}", nil, backend.Metadata{"hnsw:layers": int64(3)}),
		"segment type":   row("NULL", "{}", nil, backend.Metadata{"hnsw:M": "16"}),
	} {
		c, err := readConfig("p", r)
		var schema *backend.SchemaError
		if !errors.As(err, &schema) || c.Space != "" {
			t.Errorf("%s: got space %q, %v", name, c.Space, err)
		}
	}
}

func TestWhatIsRecordedOfTheEmbedder(t *testing.T) {
	for text, want := range map[string]Embedder{
		`{}`:                          {},
		`{"embedding_function":null}`: {},
		`{"embedding_function":{"type":"legacy"}}`:                             {Kind: "legacy"},
		`{"embedding_function":{"type":"unknown"}}`:                            {Kind: "unknown"},
		`{"embedding_function":{"type":"known","name":"default","config":{}}}`: {Kind: "known", Name: "default"},
	} {
		c, err := readConfig("p", row("NULL", text, nil, nil))
		if err != nil || c.Embedder != want {
			t.Errorf("%s: %+v, %v", text, c.Embedder, err)
		}
	}
	c, err := readConfig("p", row(schemaCosine, "{}", nil, nil))
	if err != nil || c.Embedder != (Embedder{"known", "embeddinggemma_300m"}) {
		t.Errorf("%+v, %v", c.Embedder, err)
	}
}
