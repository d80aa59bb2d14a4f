package cli

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"castellan/palace/backend"
)

// exporter makes export lines by hand: a row is a document, its metadata and
// hundreds of floats, and there may be hundreds of thousands of rows.
type exporter struct {
	collection string
	vectors    bool
	buf        []byte
	// rows were written; raw of them hold bytes that JSON cannot carry, bare
	// of them have no vector that could be read.
	rows, raw, bare int64
}

// line returns the line of one record; it is valid until the next call.
//
// JSON carries Unicode only. Text that is not valid UTF-8 is written with
// U+FFFD in the place of what is not, and its exact bytes are added in base64
// under "raw", so that no value is lost.
func (e *exporter) line(r backend.Record) ([]byte, error) {
	b, err := appendField(e.buf[:0], '{', "collection", e.collection)
	if err != nil {
		return nil, err
	}
	if b, err = appendField(b, ',', "id", r.ID); err != nil {
		return nil, err
	}
	if b, err = appendField(b, ',', "document", optional(r.Document)); err != nil {
		return nil, err
	}
	if r.URI != nil {
		if b, err = appendField(b, ',', "uri", *r.URI); err != nil {
			return nil, err
		}
	}
	if b, err = appendMetadata(b, r.Metadata); err != nil {
		return nil, err
	}
	if e.vectors {
		b = appendVector(append(b, `,"embedding":`...), r.Embedding)
		if r.Embedding == nil {
			e.bare++
		}
	}
	if !isUnicode(r) {
		e.raw++
		if b, err = appendRaw(b, r); err != nil {
			return nil, err
		}
	}
	e.rows++
	e.buf = append(b, '}', '\n')
	return escapeControls(e.buf), nil
}

func appendField(b []byte, before byte, name string, v any) ([]byte, error) {
	text, err := backend.EncodeValue(v)
	if err != nil {
		return nil, err
	}
	b = append(strconv.AppendQuote(append(b, before), name), ':')
	return append(b, text...), nil
}

func appendMetadata(b []byte, m backend.Metadata) ([]byte, error) {
	text, err := m.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(append(b, `,"metadata":`...), text...), nil
}

func optional(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// appendVector appends the fewest digits that give each float32 back.
// Infinities and NaN, for which JSON has no word, become strings.
func appendVector(b []byte, v []float32) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch f64 := float64(f); {
		case math.IsNaN(f64):
			b = append(b, `"NaN"`...)
		case math.IsInf(f64, 1):
			b = append(b, `"Infinity"`...)
		case math.IsInf(f64, -1):
			b = append(b, `"-Infinity"`...)
		default:
			b = strconv.AppendFloat(b, f64, 'g', -1, 32)
		}
	}
	return append(b, ']')
}

// isUnicode reports whether JSON can carry every text of a record.
func isUnicode(r backend.Record) bool {
	if !utf8.ValidString(r.ID) || r.Document != nil && !utf8.ValidString(*r.Document) || r.URI != nil && !utf8.ValidString(*r.URI) {
		return false
	}
	for k, v := range r.Metadata {
		if !utf8.ValidString(k) || rawValue(v) != nil {
			return false
		}
	}
	return true
}

// rawValue is a metadata value in base64 where JSON cannot carry it, else nil.
// A list is given whole, so that its elements keep their places.
func rawValue(v any) any {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return encode64(v)
		}
	case []string:
		bad := false
		list := make([]string, len(v))
		for i, s := range v {
			bad = bad || !utf8.ValidString(s)
			list[i] = encode64(s)
		}
		if bad {
			return list
		}
	}
	return nil
}

func encode64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// appendRaw appends the exact bytes of what JSON cannot carry, by the names of
// the fields they belong to.
func appendRaw(b []byte, r backend.Record) ([]byte, error) {
	b = append(b, `,"raw":`...)
	before := byte('{')
	var err error
	for _, f := range []struct {
		name string
		text *string
	}{{"id", &r.ID}, {"document", r.Document}, {"uri", r.URI}} {
		if f.text == nil || utf8.ValidString(*f.text) {
			continue
		}
		if b, err = appendField(b, before, f.name, encode64(*f.text)); err != nil {
			return nil, err
		}
		before = ','
	}
	values := backend.Metadata{}
	for k, v := range r.Metadata {
		if raw := rawValue(v); raw != nil {
			values[k] = raw
		}
	}
	text, err := values.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b = append(append(b, before), `"metadata":`...)
	return append(append(b, text...), '}'), nil
}
