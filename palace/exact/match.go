package exact

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strings"

	"castellan/palace/backend"
)

// refuse checks a filter before anything is read: MemPalace's exact backend
// has fewer operators than Chroma and rejects the others.
func refuse(f backend.Filter) error {
	if err := refuseWhere(f.Where); err != nil {
		return err
	}
	return refuseDocument(f.WhereDocument)
}

func refuseWhere(w backend.Where) error {
	var list []backend.Where
	switch w := w.(type) {
	case nil:
		return nil
	case backend.And:
		list = w
	case backend.Or:
		list = w
	case backend.Compare:
		switch w.Op {
		case backend.Eq, backend.Ne, backend.In, backend.Nin, backend.Contains,
			backend.Gt, backend.Gte, backend.Lt, backend.Lte:
			return nil
		}
		return unsupported(string(w.Op))
	default:
		return unsupported(fmt.Sprintf("%T", w))
	}
	for _, c := range list {
		if err := refuseWhere(c); err != nil {
			return err
		}
	}
	return nil
}

func refuseDocument(w backend.WhereDocument) error {
	var list []backend.WhereDocument
	switch w := w.(type) {
	case nil:
		return nil
	case backend.AndText:
		list = w
	case backend.OrText:
		list = w
	case backend.TextMatch:
		if w.Op == backend.Contains {
			return nil
		}
		return unsupported(string(w.Op))
	default:
		return unsupported(fmt.Sprintf("%T", w))
	}
	for _, c := range list {
		if err := refuseDocument(c); err != nil {
			return err
		}
	}
	return nil
}

func unsupported(subject string) error {
	return &backend.UnsupportedFilterError{Subject: subject, Reason: "the sqlite_exact backend does not have it"}
}

// matches evaluates a condition on decoded metadata.
func matches(w backend.Where, m map[string]any) bool {
	switch w := w.(type) {
	case nil:
		return true
	case backend.And:
		for _, c := range w {
			if !matches(c, m) {
				return false
			}
		}
		return true
	case backend.Or:
		for _, c := range w {
			if matches(c, m) {
				return true
			}
		}
		return false
	case backend.Compare:
		return compare(asNumber(m[w.Key]), w)
	}
	return false
}

func compare(v any, c backend.Compare) bool {
	switch c.Op {
	case backend.Eq:
		return equal(v, c.Value)
	case backend.Ne:
		return !equal(v, c.Value)
	case backend.In, backend.Nin:
		found := false
		for _, x := range c.Values {
			found = found || equal(v, x)
		}
		return found == (c.Op == backend.In)
	case backend.Contains:
		text := ""
		if truthy(v) {
			text = pythonText(v)
		}
		return strings.Contains(text, pythonText(asNumber(c.Value)))
	}
	order, ok := compareValues(v, c.Value)
	if !ok {
		return false
	}
	switch c.Op {
	case backend.Gt:
		return order > 0
	case backend.Gte:
		return order >= 0
	case backend.Lt:
		return order < 0
	case backend.Lte:
		return order <= 0
	}
	return false
}

// asNumber makes booleans the integers they are to Python.
func asNumber(v any) any {
	if b, ok := v.(bool); ok {
		if b {
			return int64(1)
		}
		return int64(0)
	}
	return v
}

// truthy is Python's idea of it: $contains finds nothing in 0.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func equal(a, b any) bool {
	if a == nil || asNumber(b) == nil {
		return a == nil && b == nil
	}
	order, ok := compareValues(a, b)
	return ok && order == 0
}

// compareValues orders two numbers, exactly whatever their size and kind, or
// two texts by code point; anything else cannot be ordered, and neither can
// NaN.
func compareValues(a, b any) (order int, ok bool) {
	a, b = asNumber(a), asNumber(b)
	if s, isText := a.(string); isText {
		t, ok := b.(string)
		return strings.Compare(s, t), ok
	}
	x, xok := a.(int64)
	y, yok := b.(int64)
	if xok && yok {
		return cmp.Compare(x, y), true
	}
	f, fok := exactNumber(a)
	g, gok := exactNumber(b)
	if !fok || !gok {
		return 0, false
	}
	return f.Cmp(g), true
}

func exactNumber(v any) (*big.Float, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Float).SetInt64(v), true
	case *big.Int:
		return new(big.Float).SetInt(v), true
	case float64:
		if math.IsNaN(v) {
			return nil, false
		}
		return new(big.Float).SetFloat64(v), true
	}
	return nil, false
}

// matchesDocument evaluates a condition on a document. Letters keep their
// case.
func matchesDocument(w backend.WhereDocument, doc string) bool {
	switch w := w.(type) {
	case nil:
		return true
	case backend.AndText:
		for _, c := range w {
			if !matchesDocument(c, doc) {
				return false
			}
		}
		return true
	case backend.OrText:
		for _, c := range w {
			if matchesDocument(c, doc) {
				return true
			}
		}
		return false
	case backend.TextMatch:
		return strings.Contains(doc, w.Text)
	}
	return false
}
