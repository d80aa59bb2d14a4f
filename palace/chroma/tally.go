package chroma

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"castellan/palace/backend"
)

// facetValue is a metadata value as facets tell values apart: 1, 1.0, "1" and
// true are four. The zero value stands for no value.
type facetValue struct {
	value any
	key   string
}

func facetOf(v any) facetValue {
	switch x := v.(type) {
	case nil:
		return facetValue{}
	case string:
		return facetValue{x, "s" + x}
	case int64:
		return facetValue{x, "i" + strconv.FormatInt(x, 10)}
	case float64:
		return facetValue{x, "f" + strconv.FormatUint(math.Float64bits(x), 16)}
	case bool:
		return facetValue{x, "b" + strconv.FormatBool(x)}
	}
	text := backend.Text(v)
	return facetValue{text, "l" + text}
}

// tally counts records by their values.
type tally struct {
	at     map[string]*facetGroup
	groups []*facetGroup
	rows   int64
}

type facetGroup struct {
	values []facetValue
	rows   int64
}

func newTally() *tally { return &tally{at: map[string]*facetGroup{}} }

func (t *tally) add(rows int64, values ...facetValue) {
	if rows == 0 {
		return
	}
	key := values[0].key
	for _, v := range values[1:] {
		// The length keeps two texts from meeting in another place.
		key = strconv.Itoa(len(key)) + ":" + key + v.key
	}
	g := t.at[key]
	if g == nil {
		g = &facetGroup{values: values}
		t.at[key] = g
		t.groups = append(t.groups, g)
	}
	g.rows += rows
	t.rows += rows
}

// facets are the groups, the largest first and then by value.
func (t *tally) facets() []backend.Facet {
	list := make([]backend.Facet, len(t.groups))
	for i, g := range t.groups {
		list[i] = backend.Facet{Values: make([]any, len(g.values)), Rows: g.rows}
		for k, v := range g.values {
			list[i].Values[k] = v.value
		}
	}
	slices.SortFunc(list, func(a, b backend.Facet) int {
		if c := cmp.Compare(b.Rows, a.Rows); c != 0 {
			return c
		}
		return slices.CompareFunc(a.Values, b.Values, compareValues)
	})
	return list
}

// compareValues orders values of any type: none, booleans, numbers, texts.
func compareValues(a, b any) int {
	if c := cmp.Compare(typeRank(a), typeRank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		return strings.Compare(backend.Text(a), backend.Text(b))
	}
	if c := cmp.Compare(backend.ToFloat(a), backend.ToFloat(b)); c != 0 {
		return c
	}
	return strings.Compare(backend.Text(a), backend.Text(b))
}

func typeRank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case int64, float64:
		return 2
	}
	return 3
}
