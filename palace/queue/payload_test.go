package queue

import (
	"math"
	"testing"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

func TestEveryValueComesBackAsItWas(t *testing.T) {
	t.Parallel()
	empty, odd, hostile := "", "caf\xe9 \xff", "a\x1b[31m\u2028</script>\x00"
	meta := backend.Metadata{
		"bool": true, "no": false, "int": int64(math.MaxInt64), "min": int64(math.MinInt64), "zero": int64(0),
		"float": 3.0, "tiny": math.SmallestNonzeroFloat64, "minus": math.Copysign(0, -1), "inf": math.Inf(-1),
		"text": hostile, "odd": odd, "empty": "", "key \xff": "x",
		"bools": []bool{true, false}, "ints": []int64{1 << 60, -1}, "floats": []float64{1, 0.1}, "texts": []string{odd, ""},
		"none": []string{}, "no ints": []int64{}, "no floats": []float64{}, "no bools": []bool{},
	}
	vector := []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, math.MaxFloat32, 1.0 / 3}
	for _, e := range []Entry{
		{Operation: Upsert, Records: []backend.Record{
			{ID: "full", Document: &hostile, URI: &odd, Metadata: meta, Embedding: vector},
			{ID: odd, Document: &empty, Metadata: backend.Metadata{}},
			{ID: "bare"},
		}},
		{Operation: Add, Records: []backend.Record{{ID: "x"}}},
		{Operation: Update, Changes: []backend.Change{
			{ID: "a", Document: &odd, URI: &empty, Metadata: meta, Unset: []string{"k", odd}, Embedding: vector},
			{ID: "b", Metadata: backend.Metadata{}},
		}},
		{Operation: Delete, IDs: []string{"a", odd, hostile}},
	} {
		e.ID, e.Palace, e.Collection = "id", "/home/"+odd, "name "+odd
		q := open(t, Options{})
		kept, err := q.Park(t.Context(), e)
		must(t, err)
		a := &applier{}
		_, err = q.Drain(t.Context(), a)
		must(t, err)
		e.Name, e.Rows, e.Bytes, e.QueuedAt, e.State = kept.Name, kept.Rows, kept.Bytes, kept.QueuedAt, StateWaiting
		if diff := cmp.Diff([]Entry{e}, a.got); diff != "" {
			t.Errorf("%s: %s", e.Operation, diff)
		}
		for i, r := range a.got[0].Records {
			for j, x := range r.Embedding {
				if math.Float32bits(x) != math.Float32bits(e.Records[i].Embedding[j]) {
					t.Errorf("float %d of %s changed", j, r.ID)
				}
			}
		}
	}
}

func TestARecordComesBackAsItWas(t *testing.T) {
	t.Parallel()
	text, uri := "a\x00\xffb", ""
	for _, r := range []backend.Record{
		{ID: "\xff", Document: &text, URI: &uri, Embedding: []float32{0.1, -0, math.MaxFloat32}, Metadata: backend.Metadata{
			"b": false, "i": int64(1<<62 + 1), "f": 3.0, "s": "\xfe", "bs": []bool{true}, "is": []int64{2}, "fs": []float64{4}, "ss": []string{""}}},
		{ID: "bare"},
		{ID: "empty", Metadata: backend.Metadata{}, Embedding: []float32{}},
	} {
		b, err := EncodeRecord(r)
		must(t, err)
		got, err := DecodeRecord(b)
		must(t, err)
		if diff := cmp.Diff(r, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := EncodeRecord(backend.Record{ID: "a", Metadata: backend.Metadata{"x": 1}}); err == nil {
		t.Error("a metadata type of no engine was taken")
	}
	if _, err := DecodeRecord([]byte(`{"id":"a","embedding":"AAA="}`)); err == nil {
		t.Error("half a float was taken")
	}
}
