package specimen

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// coverage is which drawers a search by meaning can find, counted from the
// files alone.
type coverage struct{ Rows, Missing, Stale int }

// coverageOf compares SQLite's ids with those of pickle and queue.
func coverageOf(t *testing.T, dir string) (c coverage) {
	t.Helper()
	seg, err := segmentOf(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	reach := map[string]bool{}
	if p, err := readPickle(seg); err == nil {
		for _, id := range p.ids {
			reach[id] = true
		}
	}
	for _, id := range lines(t, dir, placeholders.Replace("SELECT id FROM embeddings_queue WHERE topic = {topic} AND operation IN (0, 2)")) {
		reach[id] = true
	}
	for _, id := range lines(t, dir, placeholders.Replace("SELECT id FROM embeddings_queue WHERE topic = {topic} AND operation = 3")) {
		delete(reach, id)
	}
	live := setOf(lines(t, dir, placeholders.Replace("SELECT embedding_id FROM embeddings WHERE segment_id = {metadata}")))
	c.Rows = len(live)
	for id := range live {
		if !reach[id] {
			c.Missing++
		}
	}
	for id := range reach {
		if !live[id] {
			c.Stale++
		}
	}
	return c
}

func TestSpecimensLackTheVectorsTheyTellOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]coverage{
		"never-flushed":          {5, 0, 0},
		"dimensionality-none":    {2395, 0, 0},
		"config-without-type":    {1500, 0, 0},
		"ten-thousand-wall":      {10012, 0, 0},
		"pickle-missing":         {2395, 2374, 0},
		"index-missing":          {2395, 2374, 0},
		"quarantined":            {2395, 2374, 0},
		"quarantine-holds-more":  {2395, 2374, 0},
		"label-without-id":       {2395, 30, 0},
		"equal-counts-differ":    {2395, 10, 10},
		"vectors-stale":          {2370, 0, 25},
		"tombstones-many":        {395, 0, 0},
		"capacity-frozen":        {2500, 1476, 0},
		"hole-within-threshold":  {2000, 940, 0},
		"two-writers":            {360, 120, 0},
		"queue-unapplied":        {1295, 0, 205},
		"rows-without-embedding": {1490, 0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok := ByName(name)
			if !ok {
				t.Fatal("there is no such specimen")
			}
			if d := cmp.Diff(want, coverageOf(t, made(t, s))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSpecimensSayInSQLWhatTheyTellOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		want  []string
	}{
		"fts-content-deleted":      {"SELECT (SELECT count(*) FROM embeddings) - (SELECT count(*) FROM embedding_fulltext_search_content)", []string{"1"}},
		"fts-missing":              {"SELECT name FROM sqlite_master WHERE name GLOB 'embedding_fulltext_search*' ORDER BY 1 LIMIT 1", []string{"embedding_fulltext_search_config"}},
		"btree-damaged":            {"SELECT count(*) FROM embeddings NOT INDEXED", []string{"1600"}},
		"wal-orphaned":             {"SELECT count(*) FROM embeddings", []string{"7"}},
		"wal-clean":                {"PRAGMA journal_mode", []string{"wal"}},
		"hot-journal":              {"SELECT count(*) FROM embedding_metadata WHERE key = 'wing' AND string_value GLOB 'WING*'", []string{"0"}},
		"seq-id-poisoned":          {"SELECT seq_id, printf('%X', seq_id) FROM max_seq_id WHERE seq_id > 9007199254740992", []string{"1229822654365841720|1111353032343938"}},
		"seq-id-blob":              {"SELECT DISTINCT typeof(seq_id), length(seq_id) FROM embeddings", []string{"blob|8"}},
		"seq-id-blob-max":          {"SELECT DISTINCT typeof(seq_id) FROM max_seq_id ORDER BY 1", []string{"blob", "integer"}},
		"queue-unapplied":          {"SELECT count(*) FROM embeddings_queue WHERE topic = {topic} AND seq_id > (SELECT seq_id FROM max_seq_id WHERE segment_id = {metadata})", []string{"205"}},
		"queue-top-lost":           {"SELECT count(*) FROM embeddings_queue", []string{"0"}},
		"queue-row-bad-json":       {"SELECT id FROM embeddings_queue WHERE NOT json_valid(metadata)", []string{"bad"}},
		"queue-row-short-vector":   {"SELECT id, length(vector) FROM embeddings_queue WHERE length(vector) <> 1536", []string{"bad|400"}},
		"queue-row-bad-time":       {"SELECT id FROM embeddings_queue WHERE strftime('%s', created_at) IS NULL", []string{"bad"}},
		"collection-left-over":     {"SELECT c.name, count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection GROUP BY 1 ORDER BY 1", []string{"mempalace_closets|100", "mempalace_drawers|1500", "mempalace_drawers_20260101|1500"}},
		"rebuild-unfinished":       {"SELECT count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection WHERE c.name LIKE '%__repair_tmp'", []string{"900"}},
		"collection-empty":         {"SELECT name, dimension FROM collections", []string{"mempalace_drawers|<nil>"}},
		"drawers-without-wing":     {"SELECT count(*) FROM embeddings WHERE segment_id = {metadata} AND id NOT IN (SELECT id FROM embedding_metadata WHERE key = 'wing')", []string{"40"}},
		"drawers-without-metadata": {"SELECT count(*) FROM embeddings WHERE id NOT IN (SELECT id FROM embedding_metadata)", []string{"3"}},
		"dimension-mismatch":       {"SELECT dimension FROM collections", []string{"768"}},
		"embedder-mismatch":        {`SELECT DISTINCT json_extract(schema_str, '$.keys."#embedding".float_list.vector_index.config.embedding_function.name') FROM collections`, []string{"default"}},
		"segments-doubled":         {"SELECT scope, count(*) FROM segments GROUP BY 1 ORDER BY 1", []string{"METADATA|2", "VECTOR|2"}},
		"segment-scope-wrong":      {"SELECT DISTINCT scope FROM segments", []string{"METADATA"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok := ByName(name)
			if !ok {
				t.Fatal("there is no such specimen")
			}
			if d := cmp.Diff(c.want, lines(t, made(t, s), placeholders.Replace(c.query))); d != "" {
				t.Error(d)
			}
		})
	}
}

// Whoever reads the half-written database and passes the journal by sees
// changes that were never committed.
func TestTheHotJournalIsNeeded(t *testing.T) {
	t.Parallel()
	s, _ := ByName("hot-journal")
	dir := made(t, s)
	if err := os.Remove(filepath.Join(dir, Database+"-journal")); err != nil {
		t.Fatal(err)
	}
	got := lines(t, dir, "SELECT count(*) > 0 FROM embedding_metadata WHERE key = 'wing' AND string_value GLOB 'WING*'")
	check := lines(t, dir, "PRAGMA quick_check(1)")
	if !slices.Equal(got, []string{"1"}) && slices.Equal(check, []string{"ok"}) {
		t.Error("without the journal the database is as it was: nothing had been written to it")
	}
}

func TestTheOrphanedLogIsNeeded(t *testing.T) {
	t.Parallel()
	s, _ := ByName("wal-orphaned")
	dir := made(t, s)
	if err := os.Remove(filepath.Join(dir, Database+"-wal")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"5"}, lines(t, dir, "SELECT count(*) FROM embeddings")); d != "" {
		t.Error(d)
	}
}

func TestTheQuarantineHoldsWhatTheIndexLost(t *testing.T) {
	t.Parallel()
	s, _ := ByName("quarantine-holds-more")
	dir := made(t, s)
	found := map[string]int{}
	heads, err := filepath.Glob(filepath.Join(dir, "*", headerFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range heads {
		p, err := readPickle(filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Ext(filepath.Dir(name))] = len(p.ids)
	}
	if want := map[string]int{"": 21, ".drift-20260101-120000": 2380}; !maps.Equal(found, want) {
		t.Errorf("%v, not %v", found, want)
	}
}
