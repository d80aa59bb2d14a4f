package exact

import (
	"errors"
	"math"
	"strings"
	"testing"

	"castellan/palace/backend"
)

func TestWhatCannotBeWrittenIsNamedAndNothingOfTheCallIs(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	uri, broken := "file:///x", "\xff"
	with := func(change func(*backend.Record)) backend.Record {
		r := record("bad", "text", 1, 2)
		change(&r)
		return r
	}
	meta := func(k string, v any) backend.Record {
		return with(func(r *backend.Record) { r.Metadata = backend.Metadata{k: v} })
	}
	for name, r := range map[string]backend.Record{
		"no id":              with(func(r *backend.Record) { r.ID = "" }),
		"id twice":           with(func(r *backend.Record) { r.ID = "good" }),
		"id not UTF-8":       with(func(r *backend.Record) { r.ID = broken }),
		"id with NUL":        with(func(r *backend.Record) { r.ID = "a\x00" }),
		"id too long":        with(func(r *backend.Record) { r.ID = strings.Repeat("x", maxID+1) }),
		"no document":        with(func(r *backend.Record) { r.Document = nil }),
		"document not UTF-8": with(func(r *backend.Record) { r.Document = &broken }),
		"URI":                with(func(r *backend.Record) { r.URI = &uri }),
		"no vector":          with(func(r *backend.Record) { r.Embedding = nil }),
		"empty vector":       with(func(r *backend.Record) { r.Embedding = []float32{} }),
		"NaN":                with(func(r *backend.Record) { r.Embedding[1] = nan }),
		"infinity":           with(func(r *backend.Record) { r.Embedding[0] = inf }),
		"another dimension":  with(func(r *backend.Record) { r.Embedding = []float32{1, 2, 3} }),
		"metadata nil":       meta("k", nil),
		"metadata int":       meta("k", 1),
		"metadata NaN":       meta("k", math.NaN()),
		"metadata infinity":  meta("k", []float64{1, math.Inf(1)}),
		"metadata text":      meta("k", broken),
		"metadata texts":     meta("k", []string{"", broken}),
		"metadata key":       meta(broken, "v"),
		"metadata object":    meta("k", map[string]any{}),
		"wing with NUL":      meta("wing", "a\x00b"),
		"wing 1e15":          meta("wing", 1e15),
		"source 1/3":         meta("source_file", 1.0/3),
		"too much text":      meta("k", strings.Repeat("x", maxText)),
	} {
		list := []backend.Record{record("good", "fine", 1, 2), r}
		for call, err := range map[string]error{"Add": w.Add(t.Context(), list), "Upsert": w.Upsert(t.Context(), list)} {
			var invalid *backend.InvalidRecordError
			if !errors.As(err, &invalid) || invalid.Index != 1 || invalid.ID != r.ID {
				t.Errorf("%s with %s: %v", call, name, err)
			}
		}
		change := backend.Change{ID: r.ID, Document: r.Document, URI: r.URI, Metadata: r.Metadata, Embedding: r.Embedding}
		err := w.Update(t.Context(), []backend.Change{{ID: "good", Embedding: []float32{1, 2}}, change})
		var invalid *backend.InvalidRecordError
		if fine := name == "no document" || name == "no vector"; fine != (err == nil) || !fine && !errors.As(err, &invalid) {
			t.Errorf("Update with %s: %v", name, err)
		}
	}
	if err := w.Update(t.Context(), []backend.Change{{ID: "a"}}); err == nil {
		t.Error("an update of nothing")
	}
	if n, err := w.Count(t.Context(), backend.Filter{}); n != 0 || err != nil {
		t.Errorf("%d records were written, %v", n, err)
	}
	if c, err := w.to.Collection(t.Context(), w.info.Name); err != nil || c.Info().Dimension != nil {
		t.Errorf("a refused write fixed the dimension %d, %v", *c.Info().Dimension, err)
	}
}

func TestTheFirstWriteFixesTheDimension(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	must(t, w.Upsert(t.Context(), []backend.Record{record("a", "", 1, 2, 3)}))
	for name, err := range map[string]error{
		"Add":    w.Add(t.Context(), []backend.Record{record("b", "", 1, 2)}),
		"Upsert": w.Upsert(t.Context(), []backend.Record{record("a", "", 1, 2)}),
		"Update": w.Update(t.Context(), []backend.Change{{ID: "a", Embedding: []float32{1, 2}}}),
		"Search": second(w.Search(t.Context(), []float32{1, 2}, 1, backend.Filter{}, 0)),
	} {
		var mismatch *DimensionMismatchError
		if !errors.As(err, &mismatch) || mismatch.Want != 3 || mismatch.Got != 2 {
			t.Errorf("%s: %v", name, err)
		}
		var invalid *backend.InvalidRecordError
		if errors.As(err, &invalid) != (name != "Search") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Deleting everything does not free it: MemPalace goes by the collection.
	must(t, second(w.Delete(t.Context(), backend.Filter{IDs: []string{"a"}})))
	if err := w.Add(t.Context(), []backend.Record{record("b", "", 1, 2)}); err == nil {
		t.Error("the dimension was forgotten with the last record")
	}
}
