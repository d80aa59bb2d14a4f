package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Where is a condition on metadata; WhereDocument one on the document. Both
// are small trees of the node types below. nil means no condition.
type (
	Where         interface{ where() }
	WhereDocument interface{ whereDocument() }
)

// Op is a comparison as it is written in JSON.
type Op string

// The operators that Chroma knows. Anything else is refused before any I/O.
const (
	Eq          Op = "$eq"
	Ne          Op = "$ne"
	Gt          Op = "$gt"
	Gte         Op = "$gte"
	Lt          Op = "$lt"
	Lte         Op = "$lte"
	In          Op = "$in"
	Nin         Op = "$nin"
	Contains    Op = "$contains"
	NotContains Op = "$not_contains"
	Regex       Op = "$regex"
	NotRegex    Op = "$not_regex"
)

// Compare holds one metadata key against Value, or against each of Values for
// In and Nin. Ne, Nin and NotContains also match records that lack the key.
// Integers and floats compare with each other, in the stored value's type;
// other types never do. Contains looks for an element of list metadata, of the
// same type, not for a substring.
type Compare struct {
	Key    string
	Op     Op
	Value  any
	Values []any
}

// And and Or combine conditions.
type (
	And []Where
	Or  []Where
)

func (Compare) where() {}
func (And) where()     {}
func (Or) where()      {}

// TextMatch holds the document against a case-sensitive substring or a regular
// expression.
type TextMatch struct {
	Op   Op
	Text string
}

// AndText and OrText combine conditions on the document.
type (
	AndText []WhereDocument
	OrText  []WhereDocument
)

func (TextMatch) whereDocument() {}
func (AndText) whereDocument()   {}
func (OrText) whereDocument()    {}

// Equal is the commonest condition.
func Equal(key string, value any) Where { return Compare{Key: key, Op: Eq, Value: value} }

// AllOf joins conditions with "and", leaving out the nil ones.
func AllOf(list ...Where) Where {
	list = slices.DeleteFunc(slices.Clone(list), func(w Where) bool { return w == nil })
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return And(list)
}

// maxFilterDepth bounds nesting, since a filter may come from a command line
// or a file.
const maxFilterDepth = 32

// ParseWhere reads Chroma's JSON form: {key: value}, {key: {op: value}},
// {"$and": [...]}, {"$or": [...]}; exactly one key an object, as Chroma has
// it. Empty input means no condition.
func ParseWhere(b []byte) (Where, error) {
	o, err := decodeFilter(b)
	if err != nil || o == nil {
		return nil, err
	}
	return parseWhere(o, 0)
}

func parseWhere(o map[string]any, depth int) (Where, error) {
	key, v, err := onlyEntry(o, depth)
	if err != nil {
		return nil, err
	}
	switch {
	case key == "$and" || key == "$or":
		list, err := parseList(key, v, depth, parseWhere)
		if err != nil {
			return nil, err
		}
		if key == "$and" {
			return And(list), nil
		}
		return Or(list), nil
	case len(key) > 0 && key[0] == '$':
		return nil, &UnsupportedFilterError{Subject: key, Reason: "not an operator Chroma knows at this place"}
	case key == "#document" || key == "#embedding":
		return nil, &UnsupportedFilterError{Subject: key, Reason: "not a metadata key; ask for documents with where_document"}
	}
	cond, ok := v.(map[string]any)
	if !ok {
		val, err := scalar(key, v)
		if err != nil {
			return nil, err
		}
		return Compare{Key: key, Op: Eq, Value: val}, nil
	}
	name, operand, err := onlyEntry(cond, depth)
	if err != nil {
		return nil, err
	}
	return parseCompare(key, Op(name), operand)
}

func parseCompare(key string, op Op, operand any) (Where, error) {
	switch op {
	case In, Nin:
		list, ok := operand.([]any)
		if !ok || len(list) == 0 {
			return nil, &UnsupportedFilterError{Subject: string(op), Reason: "wants a list with at least one value"}
		}
		c := Compare{Key: key, Op: op, Values: make([]any, len(list))}
		for i, v := range list {
			val, err := scalar(key, v)
			if err != nil {
				return nil, err
			}
			c.Values[i] = val
		}
		return c, sameKind(op, c.Values)
	case Gt, Gte, Lt, Lte:
		val, err := scalar(key, operand)
		if err != nil {
			return nil, err
		}
		if !isNumber(val) {
			return nil, &UnsupportedFilterError{Subject: string(op), Reason: "compares numbers only"}
		}
		return Compare{Key: key, Op: op, Value: val}, nil
	case Eq, Ne, Contains, NotContains:
		val, err := scalar(key, operand)
		if err != nil {
			return nil, err
		}
		return Compare{Key: key, Op: op, Value: val}, nil
	}
	return nil, &UnsupportedFilterError{Subject: string(op), Reason: "not an operator Chroma knows for metadata"}
}

// ParseWhereDocument reads {op: text} with $contains, $not_contains, $regex,
// $not_regex, and $and / $or lists of these.
func ParseWhereDocument(b []byte) (WhereDocument, error) {
	o, err := decodeFilter(b)
	if err != nil || o == nil {
		return nil, err
	}
	return parseWhereDocument(o, 0)
}

func parseWhereDocument(o map[string]any, depth int) (WhereDocument, error) {
	key, v, err := onlyEntry(o, depth)
	if err != nil {
		return nil, err
	}
	switch op := Op(key); op {
	case "$and", "$or":
		list, err := parseList(key, v, depth, parseWhereDocument)
		if err != nil {
			return nil, err
		}
		if op == "$and" {
			return AndText(list), nil
		}
		return OrText(list), nil
	case Contains, NotContains, Regex, NotRegex:
		text, ok := v.(string)
		if !ok {
			return nil, &UnsupportedFilterError{Subject: key, Reason: "wants a text"}
		}
		m := TextMatch{Op: op, Text: text}
		if _, err := m.compile(); err != nil {
			return nil, err
		}
		return m, nil
	}
	return nil, &UnsupportedFilterError{Subject: key, Reason: "not an operator Chroma knows for documents"}
}

func parseList[T any](op string, v any, depth int, parse func(map[string]any, int) (T, error)) ([]T, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, &UnsupportedFilterError{Subject: op, Reason: "wants a list of conditions"}
	}
	out := make([]T, len(list))
	for i, el := range list {
		o, ok := el.(map[string]any)
		if !ok {
			return nil, &UnsupportedFilterError{Subject: op, Reason: fmt.Sprintf("element %d is no condition", i)}
		}
		c, err := parse(o, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func onlyEntry(o map[string]any, depth int) (string, any, error) {
	if depth > maxFilterDepth {
		return "", nil, &UnsupportedFilterError{Subject: "filter", Reason: fmt.Sprintf("nested more than %d deep", maxFilterDepth)}
	}
	if len(o) != 1 {
		return "", nil, &UnsupportedFilterError{Subject: "filter", Reason: "every object wants exactly one key; join several with $and"}
	}
	for k, v := range o {
		return k, v, nil
	}
	panic("unreachable: the map has one entry")
}

func decodeFilter(b []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var o map[string]any
	if err := dec.Decode(&o); err != nil {
		return nil, &UnsupportedFilterError{Subject: string(b), Reason: "not a JSON object: " + err.Error()}
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &UnsupportedFilterError{Subject: string(b), Reason: "more than one JSON value"}
	}
	if len(o) == 0 {
		return nil, nil
	}
	return o, nil
}

func scalar(key string, v any) (any, error) {
	val, err := fromJSON(v)
	if err != nil {
		return nil, &UnsupportedFilterError{Subject: key, Reason: err.Error()}
	}
	switch val.(type) {
	case float64:
		if n, ok := v.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			return nil, &UnsupportedFilterError{Subject: key, Reason: n.String() + " is beyond 64 bits"}
		}
		return val, nil
	case bool, int64, string:
		return val, nil
	}
	return nil, &UnsupportedFilterError{Subject: key, Reason: "lists can be compared with $in, $nin and $contains only"}
}

// sameKind refuses lists of several types, as the engine does; where the first
// value is a float the others may be integers, and become floats.
func sameKind(op Op, list []any) error {
	_, float := list[0].(float64)
	for i, v := range list {
		if n, ok := v.(int64); ok && float {
			list[i] = float64(n)
			continue
		}
		if fmt.Sprintf("%T", v) != fmt.Sprintf("%T", list[0]) {
			return &UnsupportedFilterError{Subject: string(op), Reason: "wants values of one type"}
		}
	}
	return nil
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}
