package backend

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Match reports whether a record fulfils the filter, ids aside. Backends that
// can ask their engine do so; this is for records the engine has not applied
// yet. For more than a few records use Compile.
func (f Filter) Match(r Record) bool {
	match, err := f.Compile()
	return err == nil && match(r)
}

// Compile prepares Match for many records: regular expressions are compiled
// once, and one that is not allowed is refused with an
// *UnsupportedFilterError.
func (f Filter) Compile() (func(Record) bool, error) {
	document, err := CompileDocument(f.WhereDocument)
	if err != nil {
		return nil, err
	}
	return func(r Record) bool {
		return MatchWhere(f.Where, r.Metadata) && document(r.Document)
	}, nil
}

// MatchWhere evaluates a condition on metadata with Chroma's meaning.
func MatchWhere(w Where, m Metadata) bool {
	switch w := w.(type) {
	case nil:
		return true
	case And:
		for _, c := range w {
			if !MatchWhere(c, m) {
				return false
			}
		}
		return true
	case Or:
		for _, c := range w {
			if MatchWhere(c, m) {
				return true
			}
		}
		return false
	case Compare:
		return w.match(m)
	}
	return false
}

func (c Compare) match(m Metadata) bool {
	v, ok := m[c.Key]
	switch c.Op {
	case Eq:
		return ok && equal(v, c.Value)
	case Ne:
		return !ok || !equal(v, c.Value)
	case In:
		return ok && equalsAny(v, c.Values)
	case Nin:
		return !ok || !equalsAny(v, c.Values)
	case Contains:
		return ok && holds(v, c.Value)
	case NotContains:
		return !ok || !holds(v, c.Value)
	}
	if !ok || !isNumber(v) {
		return false
	}
	order := compareNumbers(v, c.Value)
	switch c.Op {
	case Gt:
		return order > 0
	case Gte:
		return order >= 0
	case Lt:
		return order < 0
	case Lte:
		return order <= 0
	}
	return false
}

// equal holds a stored value against one that is asked for.
func equal(stored, asked any) bool {
	if isNumber(stored) && isNumber(asked) {
		return compareNumbers(stored, asked) == 0
	}
	return same(stored, asked)
}

// same compares values of one type; of different types none are the same.
func same(a, b any) bool {
	switch a.(type) {
	case string, bool, int64, float64:
		return a == b
	}
	return false
}

func equalsAny(v any, list []any) bool {
	for _, x := range list {
		if equal(v, x) {
			return true
		}
	}
	return false
}

// holds looks for an element in list metadata. Here integers and floats do not
// meet: [1, 2] does not hold 2.0 (tested against Chroma 1.5.9).
func holds(list, v any) bool {
	switch list := list.(type) {
	case []string:
		return anySame(list, v)
	case []int64:
		return anySame(list, v)
	case []float64:
		return anySame(list, v)
	case []bool:
		return anySame(list, v)
	}
	return false
}

func anySame[T any](list []T, v any) bool {
	for _, x := range list {
		if same(x, v) {
			return true
		}
	}
	return false
}

// compareNumbers orders a stored number against one that is asked for, as a
// local Chroma does: what is asked for is converted to the stored number's
// type. So a stored integer 2 equals 2.5, which becomes 2, and a stored float
// 9007199254740992.0 equals the integer 9007199254740993. Two integers compare
// exactly.
func compareNumbers(stored, asked any) int {
	switch stored := stored.(type) {
	case int64:
		return cmp.Compare(stored, ToInt(asked))
	case float64:
		return cmp.Compare(stored, ToFloat(asked))
	}
	return 0
}

// ToInt is the integer that a local Chroma asks its integers for: a float
// loses its fraction and is held within int64; NaN becomes 0.
func ToInt(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		switch {
		case v != v:
			return 0
		case v >= 1<<63:
			return math.MaxInt64
		case v < -(1 << 63):
			return math.MinInt64
		}
		return int64(v)
	}
	return 0
}

// ToFloat is the float that a local Chroma asks its floats for.
func ToFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// MatchDocument evaluates a condition on a document; nil means the record has
// none, which fulfils only the negated forms.
func MatchDocument(w WhereDocument, doc *string) bool {
	match, err := CompileDocument(w)
	return err == nil && match(doc)
}

// CompileDocument prepares MatchDocument for many documents.
func CompileDocument(w WhereDocument) (func(doc *string) bool, error) {
	switch w := w.(type) {
	case nil:
		return func(*string) bool { return true }, nil
	case AndText:
		return compileAll(w, false)
	case OrText:
		return compileAll(w, true)
	case TextMatch:
		return w.compile()
	}
	return nil, &UnsupportedFilterError{Subject: fmt.Sprintf("%T", w), Reason: "not a condition on documents"}
}

// compileAll joins conditions: the first that answers stop decides.
func compileAll(list []WhereDocument, stop bool) (func(*string) bool, error) {
	conds := make([]func(*string) bool, len(list))
	for i, w := range list {
		var err error
		if conds[i], err = CompileDocument(w); err != nil {
			return nil, err
		}
	}
	return func(doc *string) bool {
		for _, c := range conds {
			if c(doc) == stop {
				return stop
			}
		}
		return !stop
	}, nil
}

func (t TextMatch) compile() (func(*string) bool, error) {
	switch t.Op {
	case Contains:
		return func(doc *string) bool { return doc != nil && containsText(*doc, t.Text) }, nil
	case NotContains:
		return func(doc *string) bool { return doc == nil || !containsText(*doc, t.Text) }, nil
	case Regex, NotRegex:
		re, err := compileRegex(t.Text)
		if err != nil {
			return nil, &UnsupportedFilterError{Subject: string(t.Op), Reason: err.Error()}
		}
		if t.Op == Regex {
			return func(doc *string) bool { return doc != nil && re.MatchString(*doc) }, nil
		}
		return func(doc *string) bool { return doc == nil || !re.MatchString(*doc) }, nil
	}
	return nil, &UnsupportedFilterError{Subject: string(t.Op), Reason: "not an operator Chroma knows for documents"}
}

// containsText is a case-sensitive search for a substring with the one oddity
// of the engine's LIKE: both texts end at their first NUL, and a pattern that
// has one must stand at the document's end (tested against Chroma 1.5.9).
func containsText(doc, text string) bool {
	doc, _, _ = strings.Cut(doc, "\x00")
	text, _, cut := strings.Cut(text, "\x00")
	if cut {
		return strings.HasSuffix(doc, text)
	}
	return strings.Contains(doc, text)
}
