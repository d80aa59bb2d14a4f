package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Metadata maps keys to values of exactly these Go types, one for each type an
// engine tells apart: bool, int64, float64, string, []bool, []int64,
// []float64, []string. An int64 never passes through a float64: ids and
// timestamps beyond 2^53 stay exact.
type Metadata map[string]any

// Keys returns the keys in order.
func (m Metadata) Keys() []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Text renders any metadata value for people; nil gives an empty string.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(v)
	default:
		b, err := EncodeValue(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
}

// MarshalJSON writes the keys in order and keeps the types apart: a float64
// always has a point or an exponent, so that what reads it back gets a float
// again and not an integer. Go's encoder would write 3.0 as 3.
func (m Metadata) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, k := range m.Keys() {
		if i > 0 {
			buf.WriteByte(',')
		}
		kb, err := EncodeValue(k)
		if err != nil {
			return nil, err
		}
		vb, err := EncodeValue(m[k])
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", k, err)
		}
		buf.Write(kb)
		buf.WriteByte(':')
		buf.Write(vb)
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// EncodeValue writes one metadata value as JSON without HTML escapes and with
// floats kept apart from integers. Infinities and NaN, which JSON has no word
// for, become the strings "Infinity", "-Infinity" and "NaN".
func EncodeValue(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return []byte("null"), nil
	case bool:
		return strconv.AppendBool(nil, v), nil
	case int64:
		return strconv.AppendInt(nil, v, 10), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return json.Marshal(floatWord(v))
		}
		return []byte(formatFloat(v)), nil
	case string:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		return bytes.TrimRight(buf.Bytes(), "\n"), nil
	case []bool:
		return encodeList(v)
	case []int64:
		return encodeList(v)
	case []float64:
		return encodeList(v)
	case []string:
		return encodeList(v)
	}
	return nil, fmt.Errorf("no metadata type: %T", v)
}

func encodeList[T any](list []T) ([]byte, error) {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		b, err := EncodeValue(v)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}

func formatFloat(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return floatWord(v)
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	for _, c := range s {
		if c == '.' || c == 'e' {
			return s
		}
	}
	return s + ".0"
}

func floatWord(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v > 0:
		return "Infinity"
	}
	return "-Infinity"
}

// ParseMetadata reads a flat JSON object as Chroma's queue stores it: integers
// become int64, numbers with a point or an exponent float64, lists of one type
// the matching slice. A null value is reported in deleted: it removes the key,
// and so does an empty list, since the engine stores a list one row an
// element. What the engine refuses is refused here too, and never repaired on
// the way: text that is not UTF-8, half of a surrogate pair, a second value.
func ParseMetadata(b []byte) (m Metadata, deleted []string, err error) {
	if !utf8.Valid(b) {
		return nil, nil, fmt.Errorf("metadata is not UTF-8")
	}
	if loneSurrogate(b) {
		return nil, nil, fmt.Errorf("metadata has half of a surrogate pair")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var raw map[string]any
	if err := dec.Decode(&raw); err != nil {
		return nil, nil, fmt.Errorf("metadata is no JSON object: %w", err)
	}
	if raw == nil {
		return nil, nil, fmt.Errorf("metadata is null, no JSON object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("metadata is followed by more data at byte %d", dec.InputOffset())
	}
	m = make(Metadata, len(raw))
	for k, v := range raw {
		if list, ok := v.([]any); v == nil || ok && len(list) == 0 {
			deleted = append(deleted, k)
			continue
		}
		val, err := fromJSON(v)
		if err != nil {
			return nil, nil, fmt.Errorf("metadata %q: %w", k, err)
		}
		m[k] = val
	}
	slices.Sort(deleted)
	return m, deleted, nil
}

// loneSurrogate looks for an escape that is one half of a pair without the
// other. Go's decoder would make U+FFFD of it, which nobody wrote.
func loneSurrogate(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		unit, ok := utf16Unit(b[i:])
		switch {
		case !ok:
			i++ // the escaped character, which may be another backslash
		case unit >= 0xd800 && unit < 0xdc00:
			low, ok := utf16Unit(b[i+6:])
			if !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		default:
			i += 5
		}
	}
	return false
}

// utf16Unit reads an escape of the form \uXXXX.
func utf16Unit(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return n, err == nil
}

func fromJSON(v any) (any, error) {
	switch v := v.(type) {
	case bool, string:
		return v, nil
	case json.Number:
		return parseNumber(v)
	case []any:
		return listFromJSON(v)
	}
	return nil, fmt.Errorf("values of type %T are not allowed", v)
}

func parseNumber(n json.Number) (any, error) {
	for _, c := range n.String() {
		if c == '.' || c == 'e' || c == 'E' {
			return n.Float64()
		}
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	return n.Float64()
}

func listFromJSON(list []any) (any, error) {
	values := make([]any, len(list))
	floats := false
	for i, el := range list {
		v, err := fromJSON(el)
		if err != nil {
			return nil, err
		}
		values[i] = v
		_, isFloat := v.(float64)
		floats = floats || isFloat
	}
	if len(values) == 0 {
		return []string{}, nil
	}
	// Integers among floats become floats, as the engine has it.
	for i, v := range values {
		if n, ok := v.(int64); ok && floats {
			values[i] = float64(n)
		}
	}
	switch values[0].(type) {
	case bool:
		return typedList[bool](values)
	case int64:
		return typedList[int64](values)
	case float64:
		return typedList[float64](values)
	case string:
		return typedList[string](values)
	}
	return nil, fmt.Errorf("lists inside lists are not allowed")
}

func typedList[T any](list []any) ([]T, error) {
	out := make([]T, len(list))
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			return nil, fmt.Errorf("element %d is %T in a list of %T", i, v, out[0])
		}
		out[i] = t
	}
	return out, nil
}
