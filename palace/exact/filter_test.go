package exact

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"castellan/palace/backend"
)

func TestFiltersAnswerAsMemPalaceDoes(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	w := answers(t).Collections["mempalace_drawers"]
	c := drawers(t, p)
	check := func(name string, f backend.Filter, want []string) {
		t.Helper()
		if got := ids(collect(t, c, backend.Query{Filter: f, Limit: 5})); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		n, err := c.Count(t.Context(), f)
		must(t, err)
		if n != int64(len(want)) {
			t.Errorf("%s: count %d, want %d", name, n, len(want))
		}
		facets, err := c.Facets(t.Context(), f, "wing", "room")
		must(t, err)
		var sum int64
		for _, g := range facets {
			sum += g.Rows
		}
		if sum != n {
			t.Errorf("%s: facets add up to %d, want %d", name, sum, n)
		}
		if len(want) > 2 {
			page, err := c.Get(t.Context(), backend.Query{Filter: f, Offset: 2, Limit: 3})
			must(t, err)
			if got := ids(page.Records); !slices.Equal(got, want[2:min(5, len(want))]) || (page.Next == "") != (len(want) <= 5) {
				t.Errorf("%s: page %q next %q, want %q", name, got, page.Next, want[2:min(5, len(want))])
			}
		}
	}
	if len(w.Where) < 50 {
		t.Fatalf("only %d recorded filters", len(w.Where))
	}
	for _, r := range w.Where {
		check(string(r.Where), backend.Filter{Where: where(t, r.Where)}, r.IDs)
		// The same within an "or" cannot be handed to SQLite; within ids it is
		// asked row by row.
		check("or "+string(r.Where), backend.Filter{Where: backend.Or{where(t, r.Where), backend.Compare{Key: "chunk_index", Op: backend.Gt, Value: int64(99)}}}, r.IDs)
		all := slices.Clone(w.IDs)
		slices.Reverse(all)
		check("ids and "+string(r.Where), backend.Filter{Where: where(t, r.Where), IDs: append(all, "unknown", all[0])}, r.IDs)
	}
	for _, r := range w.WhereDocument {
		d, err := backend.ParseWhereDocument(r.WhereDocument)
		must(t, err)
		check(string(r.WhereDocument), backend.Filter{WhereDocument: d}, r.IDs)
	}
	for _, r := range w.Both {
		d, err := backend.ParseWhereDocument(r.WhereDocument)
		must(t, err)
		check(string(r.Where)+string(r.WhereDocument), backend.Filter{Where: where(t, r.Where), WhereDocument: d}, r.IDs)
	}
	check("no ids", backend.Filter{IDs: []string{}}, nil)
}

// where builds what MemPalace accepts and the common JSON form refuses, such
// as ordering texts.
func where(t *testing.T, raw json.RawMessage) backend.Where {
	t.Helper()
	if w, err := backend.ParseWhere(raw); err == nil {
		return w
	}
	var o map[string]map[backend.Op]any
	must(t, json.Unmarshal(raw, &o))
	for key, cond := range o {
		for op, v := range cond {
			return backend.Compare{Key: key, Op: op, Value: v}
		}
	}
	t.Fatalf("no filter: %s", raw)
	return nil
}

func TestOperatorsItDoesNotHaveAreRefused(t *testing.T) {
	t.Parallel()
	p := open(t, sample(t))
	c := drawers(t, p)
	for _, f := range []backend.Filter{
		{Where: backend.Compare{Key: "a", Op: backend.NotContains, Value: "x"}},
		{Where: backend.And{backend.Equal("a", "b"), backend.Or{backend.Compare{Key: "a", Op: backend.Regex, Value: "x"}}}},
		{WhereDocument: backend.TextMatch{Op: backend.NotContains, Text: "x"}},
		{WhereDocument: backend.OrText{backend.TextMatch{Op: backend.Contains, Text: "x"}, backend.TextMatch{Op: backend.Regex, Text: "x"}}},
	} {
		var refused *backend.UnsupportedFilterError
		if _, err := c.Count(t.Context(), f); !errors.As(err, &refused) {
			t.Errorf("count: %v", err)
		}
		if _, err := c.Get(t.Context(), backend.Query{Filter: f}); !errors.As(err, &refused) {
			t.Errorf("get: %v", err)
		}
		if _, err := c.Facets(t.Context(), f, "wing"); !errors.As(err, &refused) {
			t.Errorf("facets: %v", err)
		}
	}
}
