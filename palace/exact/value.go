package exact

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"castellan/palace/backend"
)

// Metadata is judged as Python sees it: nil, bool, string, []any,
// map[string]any, int64 and *big.Int for integers of any size, float64.

// decode reads metadata_json. What is no JSON object counts as no metadata,
// as in MemPalace.
func decode(text []byte) map[string]any {
	m, err := decodeJSON(text)
	words := err != nil
	if words {
		// Python writes, and reads, numbers that JSON has no words for.
		if m, err = decodeJSON(quoteWords(text)); err != nil {
			return map[string]any{}
		}
	}
	for k, v := range m {
		m[k] = number(v, words)
	}
	return m
}

func decodeJSON(text []byte) (m map[string]any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if m == nil {
		m = map[string]any{}
	}
	return m, nil
}

// wordNumbers are the bare words that Python's JSON has beyond the standard.
var wordNumbers = []struct {
	word   string
	number float64
}{
	{"-Infinity", math.Inf(-1)}, {"Infinity", math.Inf(1)}, {"NaN", math.NaN()},
}

// wordMark begins the text that stands in for such a word while Go's decoder
// is at work. A text of the palace's own that begins so, beside such a word,
// would be taken for it; U+E000 belongs to nobody's alphabet.
const wordMark = "\ue000:"

// maxDigits is Python's own limit for integers in text; beyond it, conversion
// takes more than linear time.
const maxDigits = 4300

// quoteWords puts the words in quotes, leaving texts alone.
func quoteWords(text []byte) []byte {
	var out []byte
	inText := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inText {
			out = append(out, c)
			if c == '\\' && i+1 < len(text) {
				i++
				out = append(out, text[i])
			} else if c == '"' {
				inText = false
			}
			continue
		}
		found := false
		for _, w := range wordNumbers {
			if bytes.HasPrefix(text[i:], []byte(w.word)) {
				out = append(out, `"`+wordMark+w.word+`"`...)
				i += len(w.word) - 1
				found = true
				break
			}
		}
		if !found {
			out = append(out, c)
			inText = c == '"'
		}
	}
	return out
}

// number turns json.Number into Python's integers and floats, in lists and
// objects too, and the stand-ins into what they stand for.
func number(v any, words bool) any {
	switch v := v.(type) {
	case json.Number:
		s := v.String()
		if !strings.ContainsAny(s, ".eE") {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
			if n, ok := new(big.Int).SetString(s[:min(len(s), maxDigits)], 10); ok && len(s) <= maxDigits {
				return n
			}
		}
		f, _ := v.Float64() // beyond the range it is infinite, as in Python
		return f
	case string:
		if rest, ok := strings.CutPrefix(v, wordMark); ok && words {
			for _, w := range wordNumbers {
				if rest == w.word {
					return w.number
				}
			}
		}
	case []any:
		for i := range v {
			v[i] = number(v[i], words)
		}
	case map[string]any:
		for k := range v {
			v[k] = number(v[k], words)
		}
	}
	return v
}

// metadata turns decoded values into those of the contract. Null is a key that
// is not there. Integers beyond 64 bits become floats; objects and lists of
// several types, which the contract has no word for, their JSON text.
func metadata(m map[string]any) backend.Metadata {
	out := make(backend.Metadata, len(m))
	for k, v := range m {
		if val := contractValue(v); val != nil {
			out[k] = val
		}
	}
	return out
}

func contractValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64, float64:
		return v
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	case []any:
		if list := typedList(v); list != nil {
			return list
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return pythonText(v)
	}
	return string(text)
}

func typedList(list []any) any {
	if len(list) == 0 {
		return []string{}
	}
	switch list[0].(type) {
	case bool:
		return listOf[bool](list)
	case int64:
		return listOf[int64](list)
	case float64:
		return listOf[float64](list)
	case string:
		return listOf[string](list)
	}
	return nil
}

func listOf[T any](list []any) any {
	out := make([]T, len(list))
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			return nil
		}
		out[i] = t
	}
	return out
}
