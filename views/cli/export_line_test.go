package cli

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

func TestExportLineGivesBackWhatIsStored(t *testing.T) {
	doc, uri := "two\nlines \x1b[31m \u009b <&> \u2028", "file:///x"
	meta := backend.Metadata{"wing": "code", "n": int64(9007199254740993), "f": 3.0, "tags": []string{"a", "b"}, "ok": true}
	vector := []float32{0.1, -2, math.MaxFloat32, math.SmallestNonzeroFloat32}
	e := exporter{collection: "mempalace_drawers", vectors: true}
	line, err := e.line(backend.Record{ID: "drawer_1", Document: &doc, URI: &uri, Metadata: meta, Embedding: vector})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(line), "\n") != 1 || nextControl(line) >= 0 {
		t.Errorf("not one safe line: %q", line)
	}
	var got struct {
		Collection, ID, Document, URI string
		Metadata                      json.RawMessage
		Embedding                     []json.Number
		Raw                           *json.RawMessage
	}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	if got.Collection != "mempalace_drawers" || got.ID != "drawer_1" || got.Document != doc || got.URI != uri || got.Raw != nil {
		t.Errorf("%+v", got)
	}
	back, _, err := backend.ParseMetadata(got.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(meta, back); d != "" {
		t.Error(d)
	}
	for i, n := range got.Embedding {
		f, err := strconv.ParseFloat(n.String(), 32)
		if err != nil || float32(f) != vector[i] {
			t.Errorf("element %d: %s, stored %v", i, n, vector[i])
		}
	}
}

func TestExportKeepsBytesThatJSONCannotCarry(t *testing.T) {
	doc := "caf\xe9"
	e := exporter{collection: "c"}
	line, err := e.line(backend.Record{ID: "id\xff", Document: &doc, Metadata: backend.Metadata{
		"wing": "w\xfe", "room": "plain", "tags": []string{"plain", "t\xfd"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Document string
		Raw      struct {
			ID, Document string
			Metadata     struct {
				Wing string
				Room *string
				Tags []string
			}
		}
	}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if got.Document != "caf\uFFFD" || got.Raw.Metadata.Room != nil || e.raw != 1 {
		t.Errorf("%+v, %d rows counted", got, e.raw)
	}
	for _, pair := range [][2]string{
		{got.Raw.ID, "id\xff"}, {got.Raw.Document, doc}, {got.Raw.Metadata.Wing, "w\xfe"},
		{got.Raw.Metadata.Tags[0], "plain"}, {got.Raw.Metadata.Tags[1], "t\xfd"},
	} {
		b, err := base64.StdEncoding.DecodeString(pair[0])
		if err != nil || string(b) != pair[1] {
			t.Errorf("raw %q is %q, stored %q", pair[0], b, pair[1])
		}
	}
}

func TestExportWritesAbsentThingsAsNull(t *testing.T) {
	e := exporter{collection: "c", vectors: true}
	line, err := e.line(backend.Record{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"collection":"c","id":"x","document":null,"metadata":{},"embedding":null}` + "\n"
	if string(line) != want || e.bare != 1 {
		t.Errorf("got %s want %s", line, want)
	}
	line, err = e.line(backend.Record{ID: "y", Embedding: []float32{float32(math.NaN()), float32(math.Inf(-1))}})
	if err != nil || !strings.Contains(string(line), `"embedding":["NaN","-Infinity"]`) {
		t.Errorf("%v: %s", err, line)
	}
}
