package exact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"castellan/palace/backend"
)

// encode writes metadata as MemPalace does, which is Python's
// json.dumps(m, ensure_ascii=False, separators=(",", ":"), sort_keys=True):
// byte for byte, so that a record that both have written is the same record.
func encode(m map[string]any) []byte { return appendPython(nil, m) }

func appendPython(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case *big.Int:
		return v.Append(b, 10)
	case float64:
		return append(b, pythonNumber(v)...)
	case string:
		return appendPythonText(b, v)
	case []bool:
		return appendList(b, v)
	case []int64:
		return appendList(b, v)
	case []float64:
		return appendList(b, v)
	case []string:
		return appendList(b, v)
	case []any:
		return appendList(b, v)
	case backend.Metadata:
		return appendObject(b, v)
	case map[string]any:
		return appendObject(b, v)
	}
	panic(fmt.Sprintf("exact: a metadata value of type %T was let through", v))
}

func appendObject(b []byte, m map[string]any) []byte {
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) { // bytes of UTF-8 sort as Python's code points do
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendPythonText(b, k), ':')
		b = appendPython(b, m[k])
	}
	return append(b, '}')
}

func appendList[T any](b []byte, list []T) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPython(b, v)
	}
	return append(b, ']')
}

func pythonNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return pythonFloat(f)
}

// appendPythonText escapes what Python escapes: quotes, backslashes and control
// characters. Go's encoder also escapes DEL's neighbours, U+2028 and HTML.
func appendPythonText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			if c < 0x20 {
				b = fmt.Appendf(b, `\u%04x`, c)
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '"')
}

// merged lays a change over stored metadata. Everything that is not named stays
// what it is, also where the contract has no type for it: nested objects,
// nulls, integers beyond 64 bits. What is no JSON object counts as empty, as in
// MemPalace. Stored text that cannot be written back as it was is an error.
func merged(stored []byte, set backend.Metadata, unset []string) ([]byte, error) {
	if !utf8.Valid(stored) {
		return nil, fmt.Errorf("its stored metadata is not UTF-8")
	}
	m := decode(stored)
	// Go's decoder makes U+FFFD of half a surrogate pair, which Python would have refused to write.
	if count(encode(m)) > count(stored)+bytes.Count(bytes.ToLower(stored), []byte(`\ufffd`)) {
		return nil, fmt.Errorf("its stored metadata has half of a surrogate pair, which nobody can write back")
	}
	for _, k := range unset {
		delete(m, k)
	}
	for k, v := range set {
		m[k] = v
	}
	return encode(m), nil
}

func count(text []byte) int { return bytes.Count(text, []byte("\ufffd")) }

// encodeVector is little-endian float32.
func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}
