package exact

import (
	"encoding/json"
	"testing"

	"castellan/palace/backend"
)

// Expected values are Python 3.11's own: str() and repr() typed into it.
func TestTextOfAValueIsPythons(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ json, want string }{
		{`0.1`, "0.1"}, {`100.0`, "100.0"}, {`1e15`, "1000000000000000.0"}, {`1e16`, "1e+16"}, {`123456789012345680.0`, "1.2345678901234568e+17"},
		{`0.0001`, "0.0001"}, {`0.00001`, "1e-05"}, {`1.5e-7`, "1.5e-07"}, {`1e300`, "1e+300"}, {`-0.0`, "-0.0"}, {`1e999`, "inf"},
		{`12345678901234567890123`, "12345678901234567890123"},
		{`[true, null, "a"]`, "[True, None, 'a']"}, {`["it's"]`, `["it's"]`}, {`["it's \"x\""]`, `['it\'s "x"']`},
		{`["\u0001\u00a0\u200b\ud83c\udf89\\"]`, `['\x01\xa0\u200b🎉\\']`}, {`{"a": [2.0], "b": 1}`, "{'a': [2.0], 'b': 1}"},
	} {
		v := decode([]byte(`{"k": ` + tt.json + `}`))["k"]
		if got := pythonText(v); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.json, got, tt.want)
		}
	}
}

func FuzzMetadataOfAnyBytes(f *testing.F) {
	for _, s := range []string{`{"a": NaN}`, `{"a": [1, "x", null], "b": {"c": -Infinity}}`, `{"a": 1e999999}`, "{\"\xff\": 1}", `"`, `{"a": "\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := decode(b)
		for key := range m {
			for _, op := range []backend.Op{backend.Eq, backend.In, backend.Contains, backend.Lte} {
				matches(backend.Compare{Key: key, Op: op, Value: "x", Values: []any{int64(1), 2.5, true}}, m)
			}
		}
		if _, err := metadata(m).MarshalJSON(); err != nil {
			t.Errorf("%q: %v", b, err)
		}
		var plain map[string]any
		if json.Unmarshal(b, &plain) == nil && len(plain) != len(m) {
			t.Errorf("%q: %d keys, want %d", b, len(m), len(plain))
		}
	})
}
