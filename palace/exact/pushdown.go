package exact

import (
	"regexp"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// condition is a filter as far as SQL can decide it. Rows that do not fulfil
// it do not match; unless it is exact, those that do have to be judged again.
type condition struct {
	sql   string // without the word AND; empty for none
	args  []any
	exact bool
}

// plainKey are the keys that can stand in a JSON path without quoting.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxPushed bounds how many values one condition hands to SQLite.
const maxPushed = 200

// push translates the equalities of texts, which is what people filter by and
// what MemPalace's indexes are for. Everything else is left to Go, whose
// comparisons are Python's and not SQLite's.
func (q query) push(f backend.Filter) condition {
	c := q.pushWhere(f.Where)
	c.exact = c.exact && f.WhereDocument == nil && f.IDs == nil
	return c
}

func (q query) pushWhere(w backend.Where) condition {
	switch w := w.(type) {
	case nil:
		return condition{exact: true}
	case backend.Compare:
		if !q.loci || !plainKey.MatchString(w.Key) {
			return condition{}
		}
		switch w.Op {
		case backend.Eq:
			return q.oneOf(w.Key, []any{w.Value})
		case backend.In:
			return q.oneOf(w.Key, w.Values)
		}
	case backend.And:
		c := condition{exact: true}
		for _, sub := range w {
			s := q.pushWhere(sub)
			c.exact = c.exact && s.exact
			if s.sql == "" || len(c.args)+len(s.args) > maxPushed {
				c.exact = c.exact && s.sql == ""
				continue
			}
			if c.sql != "" {
				c.sql += " AND "
			}
			c.sql += s.sql
			c.args = append(c.args, s.args...)
		}
		return c
	case backend.Or:
		c := condition{exact: true}
		var parts []string
		for _, sub := range w {
			s := q.pushWhere(sub)
			if s.sql == "" || len(c.args)+len(s.args) > maxPushed {
				return condition{} // one side that SQL cannot decide lets anything through
			}
			parts = append(parts, s.sql)
			c.args = append(c.args, s.args...)
			c.exact = c.exact && s.exact
		}
		c.sql = "(" + strings.Join(parts, " OR ") + ")"
		return c
	}
	return condition{}
}

// oneOf is key IN (...), or nothing when a value is no text.
func (q query) oneOf(key string, values []any) condition {
	c := condition{exact: true}
	if len(values) == 0 || len(values) > maxPushed {
		return condition{}
	}
	for _, v := range values {
		s, ok := v.(string)
		if !ok || strings.ContainsRune(s, 0) {
			return condition{}
		}
		c.exact = c.exact && !ambiguous(s)
		c.args = append(c.args, s)
	}
	c.sql = q.field(key) + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")"
	return c
}

// field is an expression for a metadata key.
func (q query) field(key string) string {
	if q.loci && slices.Contains(locusFields, key) {
		return key
	}
	return "json_extract(metadata_json, '$." + key + "')"
}

// ambiguous reports a text that SQLite may also give for a number, a boolean,
// a list or an object.
func ambiguous(s string) bool {
	switch s {
	case "":
		return false
	case "Inf", "Infinity", "NaN":
		return true
	}
	return strings.IndexByte("0123456789+-.[{", s[0]) >= 0
}
