package chroma

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

// enqueue appends a write as another program would: to the queue alone.
func enqueue(t testing.TB, dir string, topic string, op Operation, id string, vector []float32, metadata string) {
	t.Helper()
	var blob, encoding any
	if vector != nil {
		var b []byte
		for _, x := range vector {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		blob, encoding = b, "FLOAT32"
	}
	insert(t, dir, int64(op), topic, id, blob, encoding, metadata)
}

func insert(t testing.TB, dir string, values ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec("INSERT INTO embeddings_queue (operation, topic, id, vector, encoding, metadata) VALUES (?, ?, ?, ?, ?, ?)", values...)
	if err != nil {
		t.Fatal(err)
	}
}

func vectorOf(first float32) []float32 {
	v := make([]float32, 384)
	v[0] = first
	return v
}

const everyPart = backend.Documents | backend.Metadatas | backend.URIs | backend.Embeddings

func TestWaitingWritesArePartOfEveryAnswer(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	before := walk(t, c, backend.Query{Include: everyPart})
	topic := c.row.Topic()
	a, b, gone, again := before[0].ID, before[1].ID, before[2].ID, before[3].ID
	enqueue(t, dir, topic, OpAdd, a, vectorOf(9), `{"wing":"ignored"}`) // known: changes nothing
	enqueue(t, dir, topic, OpUpdate, b, nil, `{"wing":null,"n":9007199254740993,"list":[1,2]}`)
	enqueue(t, dir, topic, OpUpdate, "unknown", vectorOf(9), `{"wing":"ignored"}`)
	enqueue(t, dir, topic, OpDelete, gone, nil, `{}`)
	enqueue(t, dir, topic, OpDelete, again, nil, `{}`)
	enqueue(t, dir, topic, OpUpsert, "new", vectorOf(1), `{"wing":"w","chroma:document":"fresh text","chroma:uri":"file://x"}`)
	enqueue(t, dir, topic, OpAdd, again, vectorOf(2), `{"wing":"back"}`)
	enqueue(t, dir, topic, OpUpdate, "new", vectorOf(3), `{"room":"r","list":[]}`)
	enqueue(t, dir, topicPrefix+"another", OpUpsert, "stranger", vectorOf(1), `{}`)

	want := []backend.Record{before[0], before[1], before[4]}
	changed := backend.Metadata{"n": int64(9007199254740993), "list": []int64{1, 2}}
	for key, v := range before[1].Metadata {
		if key != "wing" {
			changed[key] = v
		}
	}
	want[1].Metadata = changed
	text, uri := "fresh text", "file://x"
	want = append(want,
		backend.Record{ID: "new", Document: &text, URI: &uri, Metadata: backend.Metadata{"wing": "w", "room": "r"}, Embedding: vectorOf(3)},
		backend.Record{ID: again, Metadata: backend.Metadata{"wing": "back"}, Embedding: vectorOf(2)},
	)
	for _, limit := range []int{0, 1, 2, 3, 4} {
		if d := cmp.Diff(want, walk(t, c, backend.Query{Include: everyPart, Limit: limit})); d != "" {
			t.Fatalf("pages of %d: %s", limit, d)
		}
	}
	for offset := range len(want) + 1 {
		page, err := c.Get(t.Context(), backend.Query{Offset: offset, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(idsOf(want)[offset:min(offset+2, len(want))], idsOf(page.Records)); d != "" {
			t.Errorf("offset %d: %s", offset, d)
		}
	}
	for where, ids := range map[string][]string{
		`{"wing":"back"}`:            {again},
		`{"wing":"ignored"}`:         {},
		`{"wing":{"$ne":"w"}}`:       {a, b, before[4].ID, again},
		`{"n":9007199254740993}`:     {b},
		`{"list":{"$contains":2}}`:   {b},
		`{"room":"r"}`:               {"new"},
		`{"list":{"$contains":"x"}}`: {},
		`{"chroma:uri":"file://x"}`:  {"new"},
	} {
		f := parse(t, where, "")
		if d := cmp.Diff(ids, idsOf(walk(t, c, backend.Query{Filter: f, Limit: 1}))); d != "" {
			t.Errorf("%s: %s", where, d)
		}
		if n, err := c.Count(t.Context(), f); err != nil || int(n) != len(ids) {
			t.Errorf("%s: counted %d, %v", where, n, err)
		}
	}
	f := backend.Filter{IDs: []string{"new", gone, b, again}}
	if d := cmp.Diff([]string{b, "new", again}, idsOf(walk(t, c, backend.Query{Filter: f}))); d != "" {
		t.Error(d)
	}
	facets, err := c.Facets(t.Context(), backend.Filter{}, "wing")
	if err != nil {
		t.Fatal(err)
	}
	sameFacets(t, []string{"wing"}, tallyByHand(t, c, backend.Filter{}, []string{"wing"}), facets)
}

// A walk goes on where it was although the engine applied the queue meanwhile.
func TestACursorSurvivesTheQueueBeingApplied(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	for i := range 4 {
		enqueue(t, dir, c.row.Topic(), OpAdd, fmt.Sprint("new", i), vectorOf(1), `{}`)
	}
	page, err := c.Get(t.Context(), backend.Query{Limit: 7})
	if err != nil || page.Records[6].ID != "new1" {
		t.Fatal(page, err)
	}
	for i := range 4 {
		alter(t, dir, fmt.Sprintf("INSERT INTO embeddings (segment_id, embedding_id, seq_id) VALUES ('%s', 'new%d', %d)", c.segment, i, 6+i))
	}
	alter(t, dir, "UPDATE max_seq_id SET seq_id = 9")
	page, err = c.Get(t.Context(), backend.Query{After: page.Next})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"new2", "new3"}, idsOf(page.Records)); d != "" {
		t.Error(d)
	}
}

func TestRowsChromaStumblesOverArePassedOverAndNamed(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	topic := c.row.Topic()
	good := make([]byte, 4*384)
	for _, row := range [][]any{
		{7, topic, "a", good, "FLOAT32", "{}"},
		{2, topic, "b", good, "FLOAT32", "{"},
		{2, topic, "c", good, "FLOAT32", `{"chroma:document":1}`},
		{2, topic, "d", nil, nil, "{}"},
		{0, topic, "e", good, nil, "{}"},
		{2, topic, "f", good[:8], "FLOAT32", "{}"},
		{2, topic, "g", good, "FLOAT32", nil}, // no metadata at all is allowed
		{2, topic, "h", good, "FLOAT32", "{\"a\":\"\xff\"}"},
		{2, topic, "i", good, "FLOAT32", "{}"},
	} {
		insert(t, dir, row...)
	}
	alter(t, dir, "UPDATE embeddings_queue SET created_at = 'yesterday' WHERE id = 'i'")
	faults, err := c.QueueFaults(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []QueueFault{
		{6, FaultOperation}, {7, FaultMetadata}, {8, FaultMetadata}, {9, FaultNoVector}, {10, FaultEncoding},
		{11, FaultLength}, {13, FaultMetadata}, {14, FaultTime},
	}
	if d := cmp.Diff(want, faults); d != "" {
		t.Error(d)
	}
	list := walk(t, c, backend.Query{Include: everyPart})
	if len(list) != 6 || list[5].ID != "g" || list[5].Embedding == nil || list[5].Metadata != nil {
		t.Error(idsOf(list))
	}
}

// A position beyond the queue is believed, as Chroma believes it: what waits
// below it is seen by nobody.
func TestAPoisonedPositionIsBelievedAndNeverACrash(t *testing.T) {
	for value, want := range map[string]int64{
		"1229822654365841720": 5, // 0x11 0x11 and six digits
		"9223372036854775807": 5,
		"x'0000000000000005'": 6, // written by Chroma 0.6: still the number 5
		"x'00'":               6,
		"'text'":              6,
		"NULL":                6,
		"5.0":                 6,
		"-1":                  6,
	} {
		dir := sample(t, "fresh")
		p := open(t, dir)
		c := collection(t, p, "mempalace_drawers")
		enqueue(t, dir, c.row.Topic(), OpAdd, "new", vectorOf(1), `{}`)
		alter(t, dir, "UPDATE max_seq_id SET seq_id = "+value)
		if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != want {
			t.Errorf("%s: %d records, %v", value, n, err)
		}
		if list := walk(t, c, backend.Query{Include: everyPart}); int64(len(list)) != want {
			t.Errorf("%s: %d in pages", value, len(list))
		}
	}
}

func TestTwentyThousandWaitingWrites(t *testing.T) {
	dir := sample(t, "empty")
	const n = 20_000
	alter(t, dir,
		"INSERT INTO collections (id, name, database_id, dimension, config_json_str) VALUES ('c', 'stuck', '00000000-0000-0000-0000-000000000000', 1, '{}')",
		"INSERT INTO segments VALUES ('v', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', 'c'), ('m', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'c')",
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO embeddings_queue (operation, topic, id, vector, encoding, metadata)
			SELECT 2, 'persistent://default/default/c', 'id' || i, x'0000803f', 'FLOAT32', json_object('wing', 'w' || (i %% 4), 'i', i) FROM n`, n),
	)
	c := collection(t, open(t, dir), "stuck")
	if got, err := c.Count(t.Context(), backend.Filter{}); err != nil || got != n {
		t.Fatal(got, err)
	}
	if got, err := c.Count(t.Context(), parse(t, `{"wing":"w1"}`, "")); err != nil || got != n/4 {
		t.Fatal(got, err)
	}
	page, err := c.Get(t.Context(), backend.Query{Offset: n - 2, Include: everyPart})
	if err != nil || len(page.Records) != 2 || page.Records[1].ID != "id20000" || page.Records[1].Metadata["i"] != int64(n) {
		t.Fatal(page, err)
	}
	facets, err := c.Facets(t.Context(), backend.Filter{}, "wing")
	if err != nil || len(facets) != 4 || facets[0].Rows != n/4 {
		t.Fatal(facets, err)
	}
}

func TestRecentWritesSayWhoWroteWhatAndWhen(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	insert(t, dir, 3, c.row.Topic(), "x", nil, nil, "{")
	insert(t, dir, 2, "another topic", "y", nil, nil, `{"wing":"z"}`)
	alter(t, dir, "UPDATE embeddings_queue SET created_at = '2026-05-04 03:02:01' WHERE seq_id = 5", "UPDATE embeddings_queue SET created_at = 'never' WHERE seq_id = 6")
	list, err := p.RecentWrites(t.Context(), "mempalace_drawers", 2)
	if err != nil {
		t.Fatal(err)
	}
	records := walk(t, c, backend.Query{Include: backend.Metadatas})
	last := records[slices.IndexFunc(records, func(r backend.Record) bool { return r.ID == list[1].ID })]
	want := []Write{
		{SeqID: 6, Op: OpDelete, ID: "x"},
		{
			SeqID: 5, At: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Op: OpAdd, ID: last.ID,
			Wing: last.Metadata["wing"].(string), Room: last.Metadata["room"].(string),
			Source: last.Metadata["source_file"].(string), AddedBy: last.Metadata["added_by"].(string),
		},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
}
