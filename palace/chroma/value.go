package chroma

// cell is the four typed columns that a metadata value is stored in. Exactly
// one should be filled; where several are, Chroma takes the first of string,
// integer, float, boolean.
type cell struct{ str, num, real, flag any }

func (c *cell) dest() []any { return []any{&c.str, &c.num, &c.real, &c.flag} }

// value is nil when no column holds anything. Text keeps its bytes, whatever
// they are.
func (c *cell) value() any {
	switch v := c.str.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	for _, v := range []any{c.num, c.real} {
		switch v.(type) {
		case int64, float64:
			return v
		}
	}
	switch v := c.flag.(type) {
	case int64:
		return v != 0
	case bool:
		return v
	}
	return nil
}

// appendList adds an element to a list that is stored one row an element. The
// engine starts afresh when an element's type is not the list's, and so do we:
// a list never holds two types.
func appendList(list, element any) any {
	switch v := element.(type) {
	case string:
		return appendTo(list, v)
	case int64:
		return appendTo(list, v)
	case float64:
		return appendTo(list, v)
	case bool:
		return appendTo(list, v)
	}
	return list
}

func appendTo[T any](list any, v T) any {
	l, _ := list.([]T)
	return append(l, v)
}

// text takes what SQLite gave for a text column; NULL and other types give
// nil.
func text(v any) *string {
	switch v := v.(type) {
	case string:
		return &v
	case []byte:
		s := string(v)
		return &s
	}
	return nil
}

func textOr(v any, or string) string {
	if s := text(v); s != nil {
		return *s
	}
	return or
}
