package views

import (
	"fmt"
	"strconv"

	"castellan/palace/backend"
	"castellan/palace/health"
)

// selection narrows the drawers of a collection to a wing, or a room of it.
type selection struct {
	where backend.Where
	name  string // for the breadcrumb
	// wing is the wing, as a whole; nil if it is none, or none is recorded.
	wing *string
	// rows is how many drawers it has, as far as that is known.
	rows int64
}

// ofWing selects a wing.
func ofWing(c *health.Collection, w *health.Wing) selection {
	var others []string
	for _, o := range c.Wings {
		if o.Name != nil {
			others = append(others, *o.Name)
		}
	}
	return selection{where: among("wing", w.Name, others), name: wingName(w.Name).Text, wing: w.Name, rows: w.Rows}
}

// among is the condition that a key has a value that reads like name. There is no
// condition for "does not have the key at all"; having none of the others is
// the same.
func among(key string, name *string, others []string) backend.Where {
	if name != nil {
		var any backend.Or
		for _, v := range readings(*name) {
			any = append(any, backend.Equal(key, v))
		}
		if len(any) == 1 {
			return any[0]
		}
		return any
	}
	byType := map[string][]any{}
	for _, o := range others {
		for _, v := range readings(o) {
			t := fmt.Sprintf("%T", v)
			byType[t] = append(byType[t], v)
		}
	}
	var all []backend.Where
	for _, t := range []string{"string", "int64", "float64", "bool"} {
		if values := byType[t]; len(values) > 0 {
			all = append(all, backend.Compare{Key: key, Op: backend.Nin, Values: values})
		}
	}
	return backend.AllOf(all...) // nil if nobody has the key
}

// readings are the values of all types that are shown as s: a wing may be called
// 2024, and be stored as text or as a number. To Chroma 7 and 7.0 are equal, so
// either finds both.
func readings(s string) []any {
	out := []any{s}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && backend.Text(n) == s {
		out = append(out, n)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && backend.Text(f) == s {
		out = append(out, f)
	}
	if b, err := strconv.ParseBool(s); err == nil && backend.Text(b) == s {
		out = append(out, b)
	}
	return out
}
