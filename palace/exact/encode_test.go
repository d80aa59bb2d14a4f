package exact

import (
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/backend"
)

// TestWhatMemPalaceWroteIsWrittenBackByteForByte goes by files that Python made.
func TestWhatMemPalaceWroteIsWrittenBackByteForByte(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(sample(t), DatabaseFile)+"?mode=ro")
	must(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT id, metadata_json, created_at FROM documents")
	must(t, err)
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id, stored, created string
		must(t, rows.Scan(&id, &stored, &created))
		got, err := merged([]byte(stored), nil, nil)
		must(t, err)
		if string(got) != stored {
			t.Errorf("%s: %s, Python wrote %s", id, got, stored)
		}
		when, err := time.Parse("2006-01-02T15:04:05.999999Z07:00", created)
		must(t, err)
		if timestamp(when) != created {
			t.Errorf("%s: %s, Python wrote %s", id, timestamp(when), created)
		}
		n++
	}
	must(t, rows.Err())
	if n < 70 {
		t.Errorf("only %d rows", n)
	}
}

func TestNumbersAndTextsAreWrittenAsPythonWritesThem(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"0.0": 0.0, "-0.0": math.Copysign(0, -1), "3.0": 3.0, "0.1": 0.1, "0.0001": 0.0001, "1e-05": 1e-5, "1.5e-07": 1.5e-7,
		"1e+16": 1e16, "1234567890123456.0": 1234567890123456.0, "1.7976931348623157e+308": math.MaxFloat64, "5e-324": 5e-324,
		"9007199254740993": int64(9007199254740993), "true": true, "null": nil, "[]": []string{}, "[1.0,0.5]": []float64{1, 0.5},
		`"Straße \u0000\u001f\b\f\n\r\t\"\\/<&>` + "\x7f\u2028🎉\"": "Straße \x00\x1f\b\f\n\r\t\"\\/<&>\x7f\u2028🎉",
		`{"":1,"B":[true],"a":{"x":null},"é":"","` + "\uffff" + `":2,"🎉":3}`: map[string]any{
			"🎉": int64(3), "\uffff": int64(2), "é": "", "a": map[string]any{"x": nil}, "B": []bool{true}, "": int64(1)},
		"{}": backend.Metadata(nil),
	} {
		if got := string(appendPython(nil, v)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestMergingKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stored string
		set    backend.Metadata
		unset  []string
		want   string
	}{
		{`{"b": {"z": 1, "a": [null, 1e400]}, "n": NaN}`, backend.Metadata{"a": int64(1)}, nil, `{"a":1,"b":{"a":[null,Infinity],"z":1},"n":NaN}`},
		{`{"big": 123456789012345678901234567890}`, nil, []string{"absent"}, `{"big":123456789012345678901234567890}`},
		{`{"a": 1, "b": 2}`, backend.Metadata{"a": "x"}, []string{"b"}, `{"a":"x"}`},
		{`{"a": 1}`, backend.Metadata{"a": "x"}, []string{"a"}, `{"a":"x"}`},
		{``, backend.Metadata{"a": true}, nil, `{"a":true}`},
		{`["a"]`, backend.Metadata{"a": true}, nil, `{"a":true}`},
		{`{"fine": "\ufffd�"}`, nil, nil, `{"fine":"��"}`},
		{`{"pair": "\ud83c\udf89"}`, nil, nil, `{"pair":"🎉"}`},
	} {
		got, err := merged([]byte(tt.stored), tt.set, tt.unset)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s with %v without %v: %s, %v, want %s", tt.stored, tt.set, tt.unset, got, err, tt.want)
		}
	}
	for _, stored := range []string{"{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":"\udf89\ud83c"}`} {
		if got, err := merged([]byte(stored), nil, nil); err == nil {
			t.Errorf("%s became %s", fmt.Sprintf("%q", stored), got)
		}
	}
}
