package chroma

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"castellan/palace/backend"
)

// The sizes that a record may have. Chroma bounds nothing locally; these keep
// one record from filling the memory of every program that reads the queue.
const (
	maxID        = 4 << 10
	maxKey       = 1 << 10
	maxKeys      = 1000
	maxText      = 16 << 20 // the document, the address and all metadata together, in bytes
	maxDimension = 1 << 16
)

// checkRecords checks the records of an Add or an Upsert, and makes entries of
// them.
func checkRecords(op Operation, list []backend.Record) ([]entry, error) {
	entries := make([]entry, len(list))
	ids := make(map[string]bool, len(list))
	for i, r := range list {
		why := checkID(r.ID, ids)
		if why == "" && len(r.Embedding) == 0 {
			why = "it has no vector"
		}
		if why == "" {
			why = checkContents(r.Embedding, r.Document, r.URI, r.Metadata, nil)
		}
		if why != "" {
			return nil, &backend.InvalidRecordError{ID: r.ID, Index: i, Reason: why}
		}
		var err error
		if entries[i], err = newEntry(op, r.ID, r.Embedding, r.Document, r.URI, r.Metadata, nil); err != nil {
			return nil, &backend.InvalidRecordError{ID: r.ID, Index: i, Reason: err.Error()}
		}
	}
	return entries, nil
}

// checkChanges does the same for an Update.
func checkChanges(list []backend.Change) ([]entry, error) {
	entries := make([]entry, len(list))
	ids := make(map[string]bool, len(list))
	for i, c := range list {
		why := checkID(c.ID, ids)
		if why == "" && c.Embedding != nil && len(c.Embedding) == 0 {
			why = "its vector has no dimension"
		}
		if why == "" {
			why = checkContents(c.Embedding, c.Document, c.URI, c.Metadata, c.Unset)
		}
		if why != "" {
			return nil, &backend.InvalidRecordError{ID: c.ID, Index: i, Reason: why}
		}
		var err error
		if entries[i], err = newEntry(OpUpdate, c.ID, c.Embedding, c.Document, c.URI, c.Metadata, c.Unset); err != nil {
			return nil, &backend.InvalidRecordError{ID: c.ID, Index: i, Reason: err.Error()}
		}
	}
	return entries, nil
}

func checkID(id string, seen map[string]bool) string {
	switch {
	case id == "":
		return "its id is empty"
	case len(id) > maxID:
		return fmt.Sprintf("its id has %d bytes, more than %d", len(id), maxID)
	case !utf8.ValidString(id):
		return "its id is not UTF-8"
	case strings.ContainsRune(id, 0):
		return "its id has a NUL in it"
	case seen[id]:
		return "its id stands twice in this call"
	}
	seen[id] = true
	return ""
}

func checkContents(vector []float32, document, uri *string, m backend.Metadata, unset []string) string {
	if len(vector) > maxDimension {
		return fmt.Sprintf("its vector has %d dimensions, more than %d", len(vector), maxDimension)
	}
	for i, x := range vector {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Sprintf("dimension %d of its vector is %v", i, x)
		}
	}
	size := 0
	for what, s := range map[string]*string{"document": document, "URI": uri} {
		if s == nil {
			continue
		}
		// The queue holds JSON, in which nothing else can be said.
		if !utf8.ValidString(*s) {
			return "its " + what + " is not UTF-8"
		}
		size += len(*s)
	}
	if len(m)+len(unset) > maxKeys {
		return fmt.Sprintf("it names %d metadata keys, more than %d", len(m)+len(unset), maxKeys)
	}
	for _, key := range unset {
		if why := checkKey(key); why != "" {
			return why
		}
		if _, ok := m[key]; ok {
			return fmt.Sprintf("metadata %q is both set and removed", key)
		}
	}
	for _, key := range m.Keys() {
		why := checkKey(key)
		if why == "" {
			why = checkValue(m[key])
		}
		if why != "" {
			return fmt.Sprintf("metadata %q: %s", key, why)
		}
		size += len(key) + sizeOfValue(m[key])
	}
	if size > maxText {
		return fmt.Sprintf("its texts have %d bytes, more than %d", size, maxText)
	}
	return ""
}

// checkKey refuses the keys that Chroma refuses, and those it keeps the
// document and the address under.
func checkKey(key string) string {
	switch {
	case key == "":
		return "the key is empty"
	case len(key) > maxKey:
		return fmt.Sprintf("the key has %d bytes, more than %d", len(key), maxKey)
	case !utf8.ValidString(key):
		return "the key is not UTF-8"
	case strings.ContainsRune(key, 0):
		return "the key has a NUL in it"
	case strings.HasPrefix(key, reservedPrefix), key[0] == '#', key[0] == '$':
		return "keys that begin with # or $ or " + reservedPrefix + " are the engine's own"
	}
	return ""
}

func checkValue(v any) string {
	switch v := v.(type) {
	case bool, int64:
		return ""
	case float64:
		return checkFloat(v)
	case string:
		return checkText(v)
	case []bool:
		return checkList(v, func(bool) string { return "" })
	case []int64:
		return checkList(v, func(int64) string { return "" })
	case []float64:
		return checkList(v, checkFloat)
	case []string:
		return checkList(v, checkText)
	}
	return fmt.Sprintf("a value of type %T cannot be stored", v)
}

func checkFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprintf("%v cannot be stored", f)
	}
	return ""
}

func checkText(s string) string {
	if !utf8.ValidString(s) {
		return "the text is not UTF-8"
	}
	return ""
}

// checkList refuses an empty list: the engine stores a list one row an
// element, so an empty one is no list at all.
func checkList[T any](list []T, each func(T) string) string {
	if len(list) == 0 {
		return "a list without elements cannot be stored; unset the key instead"
	}
	for _, v := range list {
		if why := each(v); why != "" {
			return why
		}
	}
	return ""
}

func sizeOfValue(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []string:
		n := 0
		for _, s := range v {
			n += len(s) + 8
		}
		return n
	case []bool:
		return 8 * len(v)
	case []int64:
		return 8 * len(v)
	case []float64:
		return 8 * len(v)
	}
	return 8
}

// saysNothing reports a filter that lets everything through by its form.
func saysNothing(f backend.Filter) bool {
	return f.IDs == nil && emptyWhere(f.Where) && emptyDocument(f.WhereDocument)
}

func emptyWhere(w backend.Where) bool {
	switch w := w.(type) {
	case nil:
		return true
	case backend.And:
		return !slices.ContainsFunc(w, func(w backend.Where) bool { return !emptyWhere(w) })
	}
	return false
}

func emptyDocument(w backend.WhereDocument) bool {
	switch w := w.(type) {
	case nil:
		return true
	case backend.AndText:
		return !slices.ContainsFunc(w, func(w backend.WhereDocument) bool { return !emptyDocument(w) })
	}
	return false
}
