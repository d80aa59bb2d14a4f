package queue

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"castellan/palace/backend"
)

// The types below are the JSON of an entry's body. Every value comes back as it
// was: bytes that are not UTF-8, integers beyond 2^53, floats apart from
// integers, vectors to the bit, and what is nil apart from what is empty.

type payload struct {
	Records []record `json:"records,omitempty"`
	Changes []record `json:"changes,omitempty"`
	IDs     []text   `json:"ids,omitempty"`
}

// record is a backend.Record or, with Unset, a backend.Change.
type record struct {
	ID        text    `json:"id"`
	Document  *text   `json:"document,omitempty"`
	URI       *text   `json:"uri,omitempty"`
	Metadata  *[]pair `json:"metadata,omitempty"`
	Unset     []text  `json:"unset,omitempty"`
	Embedding *[]byte `json:"embedding,omitempty"` // float32, little endian
}

type pair struct {
	Key   text  `json:"k"`
	Value value `json:"v"`
}

// value has exactly one member, for the type of the metadata value.
type value struct {
	Bool    *bool    `json:"bool,omitempty"`
	Int     *int64   `json:"int,omitempty"`
	Float   *float   `json:"float,omitempty"`
	Text    *text    `json:"text,omitempty"`
	Bools   *[]bool  `json:"bools,omitempty"`
	Ints    *[]int64 `json:"ints,omitempty"`
	Floats  *[]float `json:"floats,omitempty"`
	Strings *[]text  `json:"texts,omitempty"`
}

// text is a JSON string, or an object with base64 where it is not UTF-8.
type text string

type rawText struct {
	Base64 []byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(rawText{[]byte(t)})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var raw rawText
		err := json.Unmarshal(b, &raw)
		*t = text(raw.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// float is a decimal in a JSON string, since JSON has no word for NaN.
type float float64

func (f float) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatFloat(float64(f), 'g', -1, 64)), nil
}

func (f *float) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(s, 64)
	*f = float(v)
	return err
}

func encode(e *Entry) ([]byte, error) {
	var p payload
	for i, r := range e.Records {
		meta, err := encodeMetadata(r.Metadata)
		if err != nil {
			return nil, &backend.InvalidRecordError{ID: r.ID, Index: i, Reason: err.Error()}
		}
		p.Records = append(p.Records, record{text(r.ID), (*text)(r.Document), (*text)(r.URI), meta, nil, encodeVector(r.Embedding)})
	}
	for i, c := range e.Changes {
		meta, err := encodeMetadata(c.Metadata)
		if err != nil {
			return nil, &backend.InvalidRecordError{ID: c.ID, Index: i, Reason: err.Error()}
		}
		p.Changes = append(p.Changes, record{text(c.ID), (*text)(c.Document), (*text)(c.URI), meta, texts[text](c.Unset), encodeVector(c.Embedding)})
	}
	p.IDs = texts[text](e.IDs)
	return json.Marshal(p)
}

func decode(body []byte, e *Entry) error {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	for _, r := range p.Records {
		meta, vector, err := r.parts()
		if err != nil {
			return err
		}
		e.Records = append(e.Records, backend.Record{ID: string(r.ID), Document: (*string)(r.Document), URI: (*string)(r.URI), Metadata: meta, Embedding: vector})
	}
	for _, r := range p.Changes {
		meta, vector, err := r.parts()
		if err != nil {
			return err
		}
		e.Changes = append(e.Changes, backend.Change{ID: string(r.ID), Document: (*string)(r.Document), URI: (*string)(r.URI),
			Metadata: meta, Unset: texts[string](r.Unset), Embedding: vector})
	}
	e.IDs = texts[string](p.IDs)
	return nil
}

func (r *record) parts() (backend.Metadata, []float32, error) {
	meta, err := decodeMetadata(r.Metadata)
	if err != nil {
		return nil, nil, err
	}
	vector, err := decodeVector(r.Embedding)
	return meta, vector, err
}

func encodeVector(v []float32) *[]byte {
	if v == nil {
		return nil
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return &b
}

func decodeVector(b *[]byte) ([]float32, error) {
	switch {
	case b == nil:
		return nil, nil
	case len(*b)%4 != 0:
		return nil, errors.New("a vector is cut short")
	}
	v := make([]float32, len(*b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32((*b)[4*i:]))
	}
	return v, nil
}

func encodeMetadata(m backend.Metadata) (*[]pair, error) {
	if m == nil {
		return nil, nil
	}
	list := make([]pair, 0, len(m))
	for _, k := range m.Keys() {
		var v value
		switch x := m[k].(type) {
		case bool:
			v.Bool = &x
		case int64:
			v.Int = &x
		case float64:
			v.Float = (*float)(&x)
		case string:
			v.Text = (*text)(&x)
		case []bool:
			v.Bools = present(x)
		case []int64:
			v.Ints = present(x)
		case []float64:
			v.Floats = present(floats[float](x))
		case []string:
			v.Strings = present(texts[text](x))
		default:
			return nil, fmt.Errorf("metadata %q has no type that an engine stores: %T", k, x)
		}
		list = append(list, pair{text(k), v})
	}
	return &list, nil
}

func decodeMetadata(list *[]pair) (backend.Metadata, error) {
	if list == nil {
		return nil, nil
	}
	m := backend.Metadata{}
	for _, p := range *list {
		k, v := string(p.Key), p.Value
		switch {
		case v.Bool != nil:
			m[k] = *v.Bool
		case v.Int != nil:
			m[k] = *v.Int
		case v.Float != nil:
			m[k] = float64(*v.Float)
		case v.Text != nil:
			m[k] = string(*v.Text)
		case v.Bools != nil:
			m[k] = *v.Bools
		case v.Ints != nil:
			m[k] = *v.Ints
		case v.Floats != nil:
			m[k] = *present(floats[float64](*v.Floats))
		case v.Strings != nil:
			m[k] = *present(texts[string](*v.Strings))
		default:
			return nil, fmt.Errorf("metadata %q has no value", k)
		}
	}
	return m, nil
}

// present keeps an empty list apart from none.
func present[T any](list []T) *[]T {
	if list == nil {
		list = []T{}
	}
	return &list
}

func texts[To, From ~string](list []From) []To {
	var out []To
	for _, v := range list {
		out = append(out, To(v))
	}
	return out
}

func floats[To, From ~float64](list []From) []To {
	var out []To
	for _, v := range list {
		out = append(out, To(v))
	}
	return out
}

// EncodeRecord gives a record in the form in which entries keep it: every value
// comes back from DecodeRecord as it was, vectors to the bit.
func EncodeRecord(r backend.Record) ([]byte, error) {
	meta, err := encodeMetadata(r.Metadata)
	if err != nil {
		return nil, &backend.InvalidRecordError{ID: r.ID, Reason: err.Error()}
	}
	return json.Marshal(record{text(r.ID), (*text)(r.Document), (*text)(r.URI), meta, nil, encodeVector(r.Embedding)})
}

// DecodeRecord reads what EncodeRecord gave.
func DecodeRecord(b []byte) (backend.Record, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return backend.Record{}, err
	}
	meta, vector, err := r.parts()
	if err != nil {
		return backend.Record{}, err
	}
	return backend.Record{ID: string(r.ID), Document: (*string)(r.Document), URI: (*string)(r.URI), Metadata: meta, Embedding: vector}, nil
}
