package chroma

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// documentKey is the metadata key under which the engine keeps the document,
// uriKey that of the address; keys with reservedPrefix are nobody's metadata.
const (
	documentKey    = "chroma:document"
	uriKey         = "chroma:uri"
	reservedPrefix = "chroma:"
)

// condition is a filter as SQL over "embeddings e". It follows the SQL of the
// engine leaf by leaf, with one exception: documents are read from the
// metadata, where the engine reads them from the full-text index. What that
// index lost would be lost to the filter, and it is the part that breaks most
// (MemPalace #1517, #1747, #1596).
type condition struct {
	expr string
	args []any
}

// scan says how the leaves of a condition are asked for.
type scan int

const (
	// wholeSets finds each leaf's records by the value, once: right for
	// counting and for rare values.
	wholeSets scan = iota
	// perRecord looks each record's value up: right for a page whose records
	// are close at hand.
	perRecord
)

// compiler turns a filter into a condition within one read transaction.
type compiler struct {
	q      querier
	s      shape
	scan   scan
	lo, hi int64 // the range of record numbers that perRecord looks at
	args   []any
}

// maxFilterArgs stays below SQLite's limit of 32766 variables a statement.
const maxFilterArgs = 30000

// maxGlob is SQLite's limit for a pattern; longer texts are matched here.
const maxGlob = 40000

// compile writes the condition of a filter, ids aside; the empty condition
// lets everything through.
func (c *compiler) compile(ctx context.Context, f backend.Filter) (condition, error) {
	var parts []string
	if f.Where != nil {
		expr, err := c.where(ctx, f.Where)
		if err != nil {
			return condition{}, err
		}
		parts = append(parts, expr)
	}
	if f.WhereDocument != nil {
		expr, err := c.document(ctx, f.WhereDocument)
		if err != nil {
			return condition{}, err
		}
		parts = append(parts, expr)
	}
	if len(c.args) > maxFilterArgs {
		return condition{}, &backend.UnsupportedFilterError{Subject: "filter", Reason: fmt.Sprintf("more than %d values", maxFilterArgs)}
	}
	return condition{strings.Join(parts, " AND "), c.args}, nil
}

// bind takes a value and answers with its place in the statement. Places are
// numbered, so that the parts of a statement may be put in any order.
func (c *compiler) bind(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("?%d", argBase+len(c.args))
}

// argBase leaves the first places to the statement around the condition.
const argBase = 8

// around puts the arguments of the statement before those of the condition.
func (c condition) around(fixed ...any) []any {
	args := make([]any, argBase, argBase+len(c.args))
	copy(args, fixed)
	return append(args, c.args...)
}

// and is the condition as the last part of a WHERE clause.
func (c condition) and() string {
	if c.expr == "" {
		return ""
	}
	return " AND " + c.expr
}

func (c *compiler) where(ctx context.Context, w backend.Where) (string, error) {
	switch w := w.(type) {
	case backend.And:
		return joinAll(w, " AND ", "1", func(w backend.Where) (string, error) { return c.where(ctx, w) })
	case backend.Or:
		return joinAll(w, " OR ", "0", func(w backend.Where) (string, error) { return c.where(ctx, w) })
	case backend.Compare:
		return c.compare(w)
	}
	return "", &backend.UnsupportedFilterError{Subject: fmt.Sprintf("%T", w), Reason: "not a condition on metadata"}
}

// joinAll pairs the parts up as a balanced tree: SQLite refuses expressions
// more than a thousand deep, and a chain of ORs is one.
func joinAll[T any](list []T, word, none string, each func(T) (string, error)) (string, error) {
	switch len(list) {
	case 0:
		return none, nil
	case 1:
		return each(list[0])
	}
	left, err := joinAll(list[:len(list)/2], word, none, each)
	if err != nil {
		return "", err
	}
	right, err := joinAll(list[len(list)/2:], word, none, each)
	if err != nil {
		return "", err
	}
	return "(" + left + word + right + ")", nil
}

func (c *compiler) compare(w backend.Compare) (string, error) {
	table, negated := "embedding_metadata", false
	values := []any{w.Value}
	sign := "="
	switch w.Op {
	case backend.Eq:
	case backend.Ne:
		negated = true
	case backend.In:
		values = w.Values
	case backend.Nin:
		values, negated = w.Values, true
	case backend.Gt, backend.Gte, backend.Lt, backend.Lte:
		sign = map[backend.Op]string{backend.Gt: ">", backend.Gte: ">=", backend.Lt: "<", backend.Lte: "<="}[w.Op]
		switch w.Value.(type) {
		case int64, float64:
		default:
			return "", &backend.UnsupportedFilterError{Subject: string(w.Op), Reason: "compares numbers only"}
		}
	case backend.Contains, backend.NotContains:
		table, negated = "embedding_metadata_array", w.Op == backend.NotContains
	default:
		return "", &backend.UnsupportedFilterError{Subject: string(w.Op), Reason: "not an operator Chroma knows for metadata"}
	}
	if !c.s.hasColumn(table, "key") {
		// Before Chroma 1.5 there were no lists.
		return c.member(nil, negated), nil
	}
	var tests []string
	if table == "embedding_metadata_array" {
		column, v, err := typedColumn(w.Key, w.Value)
		if err != nil {
			return "", err
		}
		tests = append(tests, column+" = "+c.bind(v))
	} else {
		var err error
		if tests, err = c.valueTests(w.Key, sign, values); err != nil {
			return "", err
		}
	}
	key := c.bind(w.Key)
	selects := make([]string, len(tests))
	for i, test := range tests {
		selects[i] = "SELECT m.id FROM " + table + " m WHERE " + c.correlated() + "m.key = " + key + " AND m." + test
	}
	return c.member(selects, negated), nil
}

// valueTests writes one test for each column that may hold a value. A number
// is asked of both number columns, in their own type.
func (c *compiler) valueTests(key, sign string, values []any) ([]string, error) {
	places := map[string][]string{}
	add := func(column string, v any) { places[column] = append(places[column], c.bind(v)) }
	for _, v := range values {
		switch v.(type) {
		case int64, float64:
			add("int_value", backend.ToInt(v))
			add("float_value", backend.ToFloat(v))
			continue
		}
		column, v, err := typedColumn(key, v)
		if err != nil {
			return nil, err
		}
		add(column, v)
	}
	var tests []string
	for _, column := range []string{"string_value", "int_value", "float_value", "bool_value"} {
		list := places[column]
		switch {
		case len(list) == 0, !c.s.hasColumn("embedding_metadata", column):
		case len(list) == 1:
			tests = append(tests, column+" "+sign+" "+list[0])
		default:
			tests = append(tests, column+" IN ("+strings.Join(list, ",")+")")
		}
	}
	return tests, nil
}

func typedColumn(key string, v any) (string, any, error) {
	switch v := v.(type) {
	case string:
		return "string_value", v, nil
	case int64:
		return "int_value", v, nil
	case float64:
		return "float_value", v, nil
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		return "bool_value", n, nil
	}
	return "", nil, &backend.UnsupportedFilterError{Subject: key, Reason: fmt.Sprintf("a value of type %T cannot be compared", v)}
}

func (c *compiler) correlated() string {
	if c.scan == perRecord {
		return "m.id = e.id AND "
	}
	return ""
}

// member asks whether a record is in one of the selects. A side row without a
// record number would make every NOT IN unknown, hence the last clause.
func (c *compiler) member(selects []string, negated bool) string {
	switch {
	case len(selects) == 0 && negated:
		return "1"
	case len(selects) == 0:
		return "0"
	case negated:
		for i := range selects {
			selects[i] += " AND m.id IS NOT NULL"
		}
		return "e.id NOT IN (" + strings.Join(selects, " UNION ALL ") + ")"
	}
	return "e.id IN (" + strings.Join(selects, " UNION ALL ") + ")"
}

func (c *compiler) document(ctx context.Context, w backend.WhereDocument) (string, error) {
	switch w := w.(type) {
	case backend.AndText:
		return joinAll(w, " AND ", "1", func(w backend.WhereDocument) (string, error) { return c.document(ctx, w) })
	case backend.OrText:
		return joinAll(w, " OR ", "0", func(w backend.WhereDocument) (string, error) { return c.document(ctx, w) })
	case backend.TextMatch:
		return c.text(ctx, w)
	}
	return "", &backend.UnsupportedFilterError{Subject: fmt.Sprintf("%T", w), Reason: "not a condition on documents"}
}

func (c *compiler) text(ctx context.Context, w backend.TextMatch) (string, error) {
	negated := w.Op == backend.NotContains || w.Op == backend.NotRegex
	positive := w
	switch w.Op {
	case backend.NotContains:
		positive.Op = backend.Contains
	case backend.NotRegex:
		positive.Op = backend.Regex
	}
	if positive.Op == backend.Contains && len(w.Text) < maxGlob/3 {
		// "string_value IS NOT NULL" lets SQLite read the partial index, which
		// holds the documents, and not the table.
		return c.member([]string{"SELECT m.id FROM embedding_metadata m WHERE " + c.correlated() + "m.key = '" + documentKey +
			"' AND m.string_value IS NOT NULL AND m.string_value GLOB " + c.bind(globFor(w.Text))}, negated), nil
	}
	ids, err := c.matching(ctx, positive)
	if err != nil {
		return "", err
	}
	not := ""
	if negated {
		not = "NOT "
	}
	return "e.id " + not + "IN (SELECT value FROM json_each(" + c.bind(ids.json()) + "))", nil
}

// globSpecial are the characters that mean something to GLOB.
var globSpecial = regexp.MustCompile(`[*?\[]`)

// globFor writes the pattern that finds text anywhere. GLOB is the
// case-sensitive twin of the engine's LIKE, down to ending at a NUL.
func globFor(text string) string {
	return "*" + globSpecial.ReplaceAllString(text, "[$0]") + "*"
}

// matching evaluates a condition on documents here, where SQLite cannot.
func (c *compiler) matching(ctx context.Context, w backend.TextMatch) (idSet, error) {
	match, err := backend.CompileDocument(w)
	if err != nil {
		return nil, err
	}
	query, args := "SELECT m.id, m.string_value FROM embedding_metadata m NOT INDEXED WHERE m.key = ? AND m.string_value IS NOT NULL", []any{documentKey}
	if c.scan == perRecord {
		query, args = strings.Replace(query, "NOT INDEXED", "", 1)+" AND m.id > ? AND m.id <= ?", append(args, c.lo, c.hi)
	}
	rows, err := c.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids idSet
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var id, doc any
		if err := rows.Scan(&id, &doc); err != nil {
			return nil, err
		}
		if n, ok := id.(int64); ok && match(text(doc)) {
			ids = append(ids, n)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), rows.Err()
}
