package backend

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereMeansWhatChromaMeans(t *testing.T) {
	m := Metadata{"wing": "code", "n": int64(3), "f": 3.0, "b": true, "l": []string{"x", "y"}, "big": int64(9007199254740993)}
	for _, tc := range []struct {
		where string
		want  bool
	}{
		{`{"wing":"code"}`, true},
		{`{"wing":{"$ne":"code"}}`, false},
		{`{"absent":{"$ne":"code"}}`, true},
		{`{"absent":{"$nin":["code"]}}`, true},
		{`{"absent":"code"}`, false},
		{`{"n":3.0}`, true},
		{`{"f":3}`, true},
		{`{"n":"3"}`, false},
		{`{"b":1}`, false},
		{`{"n":{"$gte":3}}`, true},
		{`{"n":{"$gt":2.5}}`, true},
		{`{"wing":{"$gt":1}}`, false},
		{`{"big":9007199254740992}`, false},
		{`{"big":9007199254740992.0}`, false},
		{`{"l":{"$contains":"x"}}`, true},
		{`{"wing":{"$contains":"co"}}`, false},
		{`{"l":{"$not_contains":"z"}}`, true},
		{`{"$and":[{"wing":"code"},{"n":3}]}`, true},
		{`{"$or":[{"wing":"x"},{"n":{"$in":[1,3]}}]}`, true},
		{``, true},
		{`{}`, true},
	} {
		w, err := ParseWhere([]byte(tc.where))
		if err != nil {
			t.Errorf("%s: %v", tc.where, err)
			continue
		}
		if got := MatchWhere(w, m); got != tc.want {
			t.Errorf("%s: got %v", tc.where, got)
		}
	}
}

func TestUnknownOperatorsAreRefusedAtAnyDepth(t *testing.T) {
	for _, where := range []string{
		`{"$not":[{"a":1}]}`, `{"a":{"$like":"x"}}`, `{"$and":[{"a":{"$size":1}}]}`, `{"a":1,"b":2}`,
		`{"a":{"$gt":"x"}}`, `{"a":{"$in":[]}}`, `{"a":[1]}`, `{"a":null}`, `[1]`, `{"a":1} {"b":2}`, `{"$and":[]}`,
	} {
		_, err := ParseWhere([]byte(where))
		var refused *UnsupportedFilterError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v", where, err)
		}
	}
	for _, where := range []string{`{"$eq":"x"}`, `{"$regex":"("}`, `{"$contains":1}`} {
		_, err := ParseWhereDocument([]byte(where))
		var refused *UnsupportedFilterError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v", where, err)
		}
	}
}

func TestMetadataKeepsTypesApartThroughJSON(t *testing.T) {
	in := Metadata{"i": int64(9007199254740993), "f": 3.0, "e": 1e21, "s": "<&>\n", "b": false, "l": []float64{1, 2.5}}
	b, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"b":false,"e":1e+21,"f":3.0,"i":9007199254740993,"l":[1.0,2.5],"s":"<&>\n"}`
	if string(b) != want {
		t.Fatalf("got %s", b)
	}
	out, deleted, err := ParseMetadata(b)
	if err != nil || deleted != nil {
		t.Fatal(err, deleted)
	}
	if d := cmp.Diff(in, out); d != "" {
		t.Fatal(d)
	}
}

func TestNullInQueuedMetadataDeletesTheKey(t *testing.T) {
	m, deleted, err := ParseMetadata([]byte(`{"a":null,"b":1}`))
	if err != nil || len(m) != 1 || !cmp.Equal(deleted, []string{"a"}) {
		t.Fatal(m, deleted, err)
	}
}
