package backend

import (
	"cmp"
	"math/big"
	"regexp"
	"strings"
)

// Match reports whether a record fulfils the filter. Backends that can ask
// their engine do so; this is for records the engine has not applied yet.
func (f Filter) Match(r Record) bool {
	return MatchWhere(f.Where, r.Metadata) && MatchDocument(f.WhereDocument, r.Document)
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

func equal(a, b any) bool {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0
	}
	switch a := a.(type) {
	case string:
		s, ok := b.(string)
		return ok && a == s
	case bool:
		t, ok := b.(bool)
		return ok && a == t
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

func holds(list, v any) bool {
	switch list := list.(type) {
	case []string:
		return anyEqual(list, v)
	case []int64:
		return anyEqual(list, v)
	case []float64:
		return anyEqual(list, v)
	case []bool:
		return anyEqual(list, v)
	}
	return false
}

func anyEqual[T any](list []T, v any) bool {
	for _, x := range list {
		if equal(x, v) {
			return true
		}
	}
	return false
}

// compareNumbers is exact across int64 and float64: 9007199254740993 is not
// equal to the float 9007199254740992.
func compareNumbers(a, b any) int {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b)
		case float64:
			return -compareMixed(b, a)
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareMixed(a, b)
		case float64:
			return cmp.Compare(a, b)
		}
	}
	return 0
}

func compareMixed(f float64, i int64) int {
	if f != f { // NaN sorts before every number, as cmp.Compare has it
		return -1
	}
	if f > 1<<63 {
		return 1
	}
	if f < -(1 << 63) {
		return -1
	}
	return new(big.Float).SetFloat64(f).Cmp(new(big.Float).SetInt64(i))
}

// MatchDocument evaluates a condition on a document; nil means the record has
// none, which fulfils only the negated forms.
func MatchDocument(w WhereDocument, doc *string) bool {
	switch w := w.(type) {
	case nil:
		return true
	case AndText:
		for _, c := range w {
			if !MatchDocument(c, doc) {
				return false
			}
		}
		return true
	case OrText:
		for _, c := range w {
			if MatchDocument(c, doc) {
				return true
			}
		}
		return false
	case TextMatch:
		return w.match(doc)
	}
	return false
}

func (t TextMatch) match(doc *string) bool {
	switch t.Op {
	case Contains:
		return doc != nil && strings.Contains(*doc, t.Text)
	case NotContains:
		return doc == nil || !strings.Contains(*doc, t.Text)
	case Regex:
		return doc != nil && t.regexp().MatchString(*doc)
	case NotRegex:
		return doc == nil || !t.regexp().MatchString(*doc)
	}
	return false
}

// check refuses an expression that does not compile before any row is read.
func (t TextMatch) check() error {
	if t.Op != Regex && t.Op != NotRegex {
		return nil
	}
	if _, err := regexp.Compile(t.Text); err != nil {
		return &UnsupportedFilterError{Subject: string(t.Op), Reason: err.Error()}
	}
	return nil
}

// never matches nothing; it stands in for an expression that check refused.
var never = regexp.MustCompile(`[^\s\S]`)

func (t TextMatch) regexp() *regexp.Regexp {
	re, err := regexp.Compile(t.Text)
	if err != nil {
		return never
	}
	return re
}
