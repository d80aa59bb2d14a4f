package chroma

import (
	"errors"
	"fmt"
	"testing"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

// tallyByHand counts facets from the records themselves.
func tallyByHand(t testing.TB, c backend.Collection, f backend.Filter, keys []string) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	for _, r := range walk(t, c, backend.Query{Filter: f, Include: backend.Metadatas}) {
		name := ""
		for _, key := range keys {
			name += nameOf(r.Metadata[key])
		}
		rows[name]++
	}
	return rows
}

func nameOf(v any) string {
	switch v.(type) {
	case []string, []int64, []float64, []bool:
		v = backend.Text(v)
	}
	return fmt.Sprintf("%T %v;", v, v)
}

func sameFacets(t testing.TB, keys []string, want map[string]int64, list []backend.Facet) {
	t.Helper()
	got := map[string]int64{}
	for i, f := range list {
		name := ""
		for _, v := range f.Values {
			name += nameOf(v)
		}
		if _, twice := got[name]; twice {
			t.Errorf("%v: %s is there twice", keys, name)
		}
		got[name] = f.Rows
		if i > 0 && f.Rows > list[i-1].Rows {
			t.Errorf("%v: %d behind %d", keys, f.Rows, list[i-1].Rows)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%v: %s", keys, d)
	}
}

func TestFacetsAddUpToTheCount(t *testing.T) {
	dir := sample(t, "healthy")
	p := open(t, dir)
	for _, name := range []string{"mempalace_drawers", "mempalace_closets"} {
		c := collection(t, p, name)
		for _, keys := range [][]string{{"wing"}, {"room"}, {"chunk_index"}, {"absent"}, {"wing", "room"}, {"room", "absent"}} {
			for _, f := range []backend.Filter{{}, parse(t, `{"wing":"wing_code"}`, ""), parse(t, "", `{"$contains":"kernel"}`)} {
				got, err := c.Facets(t.Context(), f, keys...)
				if err != nil {
					t.Fatal(err)
				}
				sameFacets(t, keys, tallyByHand(t, c, f, keys), got)
			}
		}
	}
}

// Values of all types, gaps in the numbers, rows that belong to nobody, and
// records without a wing: each of them keeps the quick way from being right.
func TestFacetsTellTypesApartAndLeaveNothingOut(t *testing.T) {
	for name, change := range map[string][]string{
		"types": {
			"UPDATE embedding_metadata SET string_value = NULL, int_value = 1 WHERE key = 'wing' AND id = 1",
			"UPDATE embedding_metadata SET string_value = NULL, float_value = 1.0 WHERE key = 'wing' AND id = 2",
			"UPDATE embedding_metadata SET string_value = NULL, bool_value = 1 WHERE key = 'wing' AND id = 3",
			"UPDATE embedding_metadata SET string_value = '1' WHERE key = 'wing' AND id = 4",
			"UPDATE embedding_metadata SET string_value = '' WHERE key = 'wing' AND id = 5",
			"UPDATE embedding_metadata SET string_value = CAST(x'ff00fe' AS TEXT) WHERE key = 'wing' AND id = 6",
			"UPDATE embedding_metadata SET string_value = NULL, int_value = 9007199254740993 WHERE key = 'wing' AND id = 7",
			"DELETE FROM embedding_metadata WHERE key = 'wing' AND id = 8",
		},
		"integers": {"UPDATE embedding_metadata SET int_value = id % 3, string_value = NULL WHERE key = 'wing'"},
		"gaps":     {"DELETE FROM embeddings WHERE id % 7 = 0", "DELETE FROM embedding_metadata WHERE id % 7 = 0"},
		"orphans":  {"DELETE FROM embeddings WHERE id % 7 = 0"},
		"strangers": {
			"INSERT INTO embedding_metadata (id, key, string_value) VALUES (99999, 'wing', 'wing_dead'), (-5, 'wing', 'wing_dead'), (NULL, 'wing', 'wing_dead')",
		},
		"lists": {
			"DELETE FROM embedding_metadata WHERE key = 'wing' AND id IN (1, 2)",
			"INSERT INTO embedding_metadata_array (id, key, string_value) VALUES (1, 'wing', 'b'), (2, 'wing', 'b'), (1, 'wing', 'a'), (2, 'wing', 'a'), (3, 'wing', 'over')",
			"INSERT INTO embedding_metadata_array (id, key, int_value) VALUES (4, 'wing', 1), (88888, 'wing', 1)",
		},
		"bare": {"DELETE FROM embedding_metadata WHERE id IN (10, 11)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := sample(t, "healthy")
			alter(t, dir, change...)
			p := open(t, dir)
			for _, name := range []string{"mempalace_drawers", "mempalace_closets"} {
				c := collection(t, p, name)
				for _, keys := range [][]string{{"wing"}, {"wing", "room"}} {
					got, err := c.Facets(t.Context(), backend.Filter{}, keys...)
					if err != nil {
						t.Fatal(err)
					}
					sameFacets(t, keys, tallyByHand(t, c, backend.Filter{}, keys), got)
					total := int64(0)
					for _, f := range got {
						total += f.Rows
					}
					if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != total {
						t.Errorf("%s: %d facets of %d records, %v", name, total, n, err)
					}
				}
			}
		})
	}
}

func TestAnEmptyCollectionHasNoFacetsOfItsNeighbour(t *testing.T) {
	dir := sample(t, "healthy")
	alter(t, dir, "DELETE FROM embeddings WHERE id > 5 OR segment_id <> '2614da7d-bdb5-47ce-871f-8fa786c0bab2' AND id > 3")
	c := collection(t, open(t, dir), "mempalace_closets")
	for _, keys := range [][]string{{"wing"}, {"wing", "room"}} {
		if got, err := c.Facets(t.Context(), backend.Filter{}, keys...); err != nil || len(got) != 0 {
			t.Error(got, err)
		}
	}
}

func TestTheIndexAloneCountsWingsWhereItIsEnough(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	err := c.view(t.Context(), func(sc *scope) error {
		q, err := sc.ask(t.Context(), backend.Filter{})
		if err != nil {
			return err
		}
		tally, err := q.countByIndex(t.Context(), "wing", 1500)
		if err == nil && (tally == nil || tally.rows != 1500) {
			t.Errorf("%+v", tally)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFacetsByOneOrTwoKeysOfMetadataOnly(t *testing.T) {
	c := collection(t, open(t, sample(t, "fresh")), "mempalace_drawers")
	for _, keys := range [][]string{{}, {"a", "b", "c"}, {"chroma:document"}} {
		var refused *backend.UnsupportedFilterError
		if _, err := c.Facets(t.Context(), backend.Filter{}, keys...); !errors.As(err, &refused) {
			t.Errorf("%v: %v", keys, err)
		}
	}
}
