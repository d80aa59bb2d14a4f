package exact

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"castellan/palace/backend"
)

// The sizes that a record may have. MemPalace bounds nothing; these keep one
// record from filling the memory of every program that reads the palace.
const (
	maxID        = 4 << 10
	maxText      = 16 << 20 // the document and all metadata together, in bytes
	maxDimension = 1 << 16
)

// checkRecords checks the records of an Add or an Upsert.
func (w *Writer) checkRecords(list []backend.Record) error {
	ids := make(map[string]bool, len(list))
	for i, r := range list {
		why := checkID(r.ID, ids)
		switch {
		case why != "":
		case r.Document == nil:
			why = "sqlite_exact keeps a document with every record; give it one, even an empty one"
		case r.Embedding == nil:
			why = "it has no vector, and sqlite_exact makes none"
		default:
			why = checkContents(r.Document, r.URI, r.Metadata, r.Embedding)
		}
		if why != "" {
			return &backend.InvalidRecordError{ID: r.ID, Index: i, Reason: why}
		}
		if err := w.sameLength(list[0].Embedding, r.Embedding, i, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// checkChanges checks those of an Update.
func (w *Writer) checkChanges(list []backend.Change) error {
	ids := make(map[string]bool, len(list))
	var first []float32
	for i, c := range list {
		why := checkID(c.ID, ids)
		switch {
		case why != "":
		case c.Document == nil && c.URI == nil && c.Metadata == nil && c.Embedding == nil && len(c.Unset) == 0:
			why = "nothing of it is to be changed"
		default:
			why = checkContents(c.Document, c.URI, c.Metadata, c.Embedding)
		}
		if why != "" {
			return &backend.InvalidRecordError{ID: c.ID, Index: i, Reason: why}
		}
		if c.Embedding == nil {
			continue
		}
		if first == nil {
			first = c.Embedding
		}
		if err := w.sameLength(first, c.Embedding, i, c.ID); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) sameLength(first, v []float32, index int, id string) error {
	if len(v) == len(first) {
		return nil
	}
	return w.mismatch(len(first), len(v), index, id)
}

func (w *Writer) mismatch(want, got, index int, id string) error {
	return &DimensionMismatchError{Palace: w.to.dir, Collection: w.info.Name, Want: want, Got: got,
		Record: &backend.InvalidRecordError{ID: id, Index: index, Reason: fmt.Sprintf("its vector has %d floats instead of %d", got, want)}}
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

// checkContents answers why something cannot be written. Text that is not UTF-8
// is refused because one such row makes Python's SQLite fail on every question
// that touches it; numbers that JSON has no word for because SQLite reads the
// metadata for its indexes.
func checkContents(document, uri *string, m backend.Metadata, vector []float32) string {
	size := 0
	if document != nil {
		size += len(*document)
		if !utf8.ValidString(*document) {
			return "its document is not UTF-8"
		}
	}
	if uri != nil {
		return "sqlite_exact keeps no URIs"
	}
	for k, v := range m {
		n, why := checkValue(v)
		switch {
		case why != "":
		case !utf8.ValidString(k):
			why = "is no UTF-8"
		case slices.Contains(indexed, k) && !portable(v):
			why = "is a text or number that versions of SQLite turn into different index entries, which damages the index"
		}
		if why != "" {
			return fmt.Sprintf("its metadata %q %s", k, why)
		}
		size += len(k) + n
	}
	if size > maxText {
		return fmt.Sprintf("its document and metadata have %d bytes, more than %d", size, maxText)
	}
	if vector != nil {
		return checkVector(vector)
	}
	return ""
}

// indexed are the metadata keys over which there are indexes of what SQLite
// makes of their values.
var indexed = append([]string{"source_file"}, locusFields...)

// portable reports whether SQLite has one text for a value, whatever its
// version. Until 3.42 or so it has written floats with 15 digits and 1e15 as
// 1.0e+15, and ended a JSON text at a NUL; 3.53 does neither. MemPalace runs
// with the SQLite of its Python, which may be either, and an entry that the one
// has made is not found by the other when the row goes.
func portable(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.ContainsRune(v, 0)
	case float64:
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
		a := math.Abs(v)
		return err == nil && short == v && (a == 0 || a >= 1e-4 && a < 1e15)
	}
	return true
}

func checkVector(vector []float32) string {
	if len(vector) == 0 || len(vector) > maxDimension {
		return fmt.Sprintf("its vector has %d floats; 1 to %d are possible", len(vector), maxDimension)
	}
	for i, f := range vector {
		if f := float64(f); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Sprintf("float %d of its vector is not finite", i)
		}
	}
	return ""
}

// checkValue answers how many bytes a metadata value has, about, and what is
// wrong with it.
func checkValue(v any) (size int, why string) {
	switch v := v.(type) {
	case bool, int64:
		return 8, ""
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, "is not finite"
		}
		return 8, ""
	case string:
		if !utf8.ValidString(v) {
			return 0, "is not UTF-8"
		}
		return len(v), ""
	case []bool:
		return checkList(v)
	case []int64:
		return checkList(v)
	case []float64:
		return checkList(v)
	case []string:
		return checkList(v)
	}
	return 0, fmt.Sprintf("is of no type that metadata has: %T", v)
}

func checkList[T any](list []T) (size int, why string) {
	for _, v := range list {
		n, why := checkValue(v)
		if why != "" {
			return 0, why
		}
		size += n
	}
	return size, ""
}
