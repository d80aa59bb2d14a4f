package health

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace/specimen"
)

// said is one thing that must be said of a specimen: a code, about whom, with
// what figures, in what words.
type said struct {
	specimen string
	code     Code
	subject  string // "" any
	evidence map[string]any
	words    []string
	// of the collection mempalace_drawers; -1 where it does not matter
	rows, missing int64
}

// What people met, and the figures by which they must learn of it.
var reported = []said{
	{"fts-content-changed", FTSDisagrees, "", map[string]any{"differing": 1, "documents": 1600}, nil, 1500, 0},
	{"fts-content-deleted", FTSDisagrees, "", map[string]any{"not_indexed": 1, "rows": 1599}, nil, 1500, 0},
	{"fts-missing", FTSMissing, "", map[string]any{"declared": false, "data": true}, []string{"quick check"}, 1500, 0},
	{"btree-damaged", BtreeDamaged, "", nil, []string{"the drawers themselves are there"}, 1500, 0},
	{"not-a-database", NotADatabase, "", map[string]any{"segments": 1, "vectors": 2540}, []string{"not a database"}, -1, -1},
	{"database-emptied", DatabaseEmpty, "", nil, []string{"is empty"}, -1, -1},
	{"seq-id-poisoned", SeqIDPoisoned, "mempalace_drawers", map[string]any{"value": int64(1229822654365841720)}, []string{"never appear"}, -1, -1},
	{"queue-unapplied", QueueUnapplied, "mempalace_drawers", map[string]any{"unapplied": 205}, []string{"acknowledged but not applied"}, 1500, 0},
	{"collection-left-over", CollectionUnexpected, "mempalace_drawers_20260101", map[string]any{"rows": 1500}, []string{"does not use"}, 1500, 0},
	{"drawers-without-metadata", MetadataMissing, "mempalace_drawers", map[string]any{"bare": 3}, nil, -1, 0},
	{"dimension-mismatch", DimensionMismatch, "mempalace_drawers", map[string]any{"got": "384"}, []string{"384", "768"}, -1, -1},
	{"embedder-mismatch", EmbedderMismatch, "", nil, nil, -1, -1},
	{"links-exploded", IndexBloated, "mempalace_drawers", nil, []string{"on disk", "fill the disk"}, 2395, 0},
	{"capacity-frozen", CapacityFrozen, "mempalace_drawers", map[string]any{"capacity": 1024, "elements": 1024, "live": 2500, "missing": 1476}, []string{"59%"}, 2500, 1476},
	{"pickle-empty", IndexMetadataTruncated, "mempalace_drawers", map[string]any{"bytes": 0}, []string{"empty (0 bytes)"}, 2395, -1},
	{"pickle-truncated", IndexMetadataTruncated, "mempalace_drawers", nil, []string{"cut off at byte"}, 2395, -1},
	{"never-flushed", IndexIsUnflushed, "mempalace_drawers", map[string]any{"queued": 5}, []string{"never flushed, and fine"}, 5, 0},
	{"pickle-missing", IndexMetadataMissing, "mempalace_drawers", map[string]any{"searchable": 21, "missing": 2374}, []string{"the next write overwrites"}, 2395, 2374},
	{"quarantine-piled-up", QuarantinePiledUp, "", map[string]any{"directories": 20}, []string{"put aside", "a day"}, 5, 0},
	{"quarantine-holds-more", QuarantineHoldsMore, "", map[string]any{"vectors": 2380, "deleted": 160, "named": 2380, "faults": 0, "live": 21}, nil, 2395, 2374},
	{"links-empty", IndexShort, "mempalace_drawers", map[string]any{"file": "link_lists.bin"}, []string{"its process dies"}, 2395, -1},
	{"header-missing", IndexHeaderBad, "mempalace_drawers", nil, []string{"header.bin is missing"}, 2395, -1},
	{"header-short", IndexHeaderBad, "mempalace_drawers", nil, []string{"50 bytes instead of 100"}, 2395, -1},
	{"hole-within-threshold", VectorsMissing, "mempalace_drawers", map[string]any{"missing": 940, "live": 2000, "sync_threshold": 50000}, []string{"940"}, 2000, 940},
	{"equal-counts-differ", VectorsStale, "mempalace_drawers", map[string]any{"stale": 10}, nil, 2395, 10},
	{"segment-orphan", SegmentOrphan, "", nil, []string{"no collection uses"}, 5, 0},
	{"tombstones-many", TombstonesMany, "mempalace_drawers", map[string]any{"elements": 2540, "deleted": 2160}, []string{"tombstones", "live"}, 395, 0},
	{"closets-sick", IndexMetadataTruncated, "mempalace_closets", nil, nil, 1500, 0},
	{"links-cut", IndexUnreachable, "mempalace_drawers", map[string]any{"unreachable": 352, "drawers": 345}, []string{"no path"}, 2395, 345},
	{"norms-off", IndexNormsBad, "mempalace_drawers", map[string]any{"count": 200}, []string{"unit vectors"}, 2395, 0},
	{"links-below-level", IndexLinksBad, "mempalace_drawers", map[string]any{"count": 1}, []string{"does not reach"}, 2395, -1},
	{"queue-row-bad-json", QueueRowBad, "", map[string]any{"rows": 1}, []string{"every operation"}, -1, -1},
}

func TestWhatPeopleMetIsToldWithItsFigures(t *testing.T) {
	t.Parallel()
	for _, c := range reported {
		t.Run(c.specimen, func(t *testing.T) {
			t.Parallel()
			r := reportOn(t, makeSpecimen(t, c.specimen), Full)
			var f *Finding
			for i := range r.Findings {
				if r.Findings[i].Code == c.code && (c.subject == "" || r.Findings[i].Subject == c.subject) {
					f = &r.Findings[i]
					break
				}
			}
			if f == nil {
				t.Fatalf("no %s about %q among %v", c.code, c.subject, codesOf(r))
			}
			for key, want := range c.evidence {
				got := f.Evidence[key]
				if p, ok := got.(*int64); ok && p != nil {
					got = *p
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s is %v, not %v", key, got, want)
				}
			}
			for _, w := range c.words {
				if !strings.Contains(f.Cause, w) {
					t.Errorf("%q does not say %q", f.Cause, w)
				}
			}
			for _, col := range r.Collections {
				if col.Name != "mempalace_drawers" {
					continue
				}
				if c.rows >= 0 && (col.Rows == nil || *col.Rows != c.rows) {
					t.Errorf("%v rows, not %d", col.Rows, c.rows)
				}
				if c.missing >= 0 && (col.Vectors.Missing == nil || *col.Vectors.Missing != c.missing) {
					t.Errorf("%d missing, not %d", deref(col.Vectors.Missing), c.missing)
				}
			}
		})
	}
}

// MemPalace #1564: the badge is that of the worst, and each has its own.
func TestVerdictsAreOfEachCollectionAndTheWorstIsThePalaces(t *testing.T) {
	t.Parallel()
	r := reportOn(t, makeSpecimen(t, "closets-sick"), Full)
	got := map[string]Verdict{}
	for _, c := range r.Collections {
		got[c.Name] = c.Verdict
	}
	if got["mempalace_drawers"] != VerdictOK || got["mempalace_closets"] != VerdictDanger || r.Verdict != VerdictDanger {
		t.Errorf("%v, %s", got, r.Verdict)
	}
}

// A capacity that is nearly used up grows by itself.
func TestANearlyFullIndexIsNoFault(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	if err := specimen.CopyFS(os.DirFS(filepath.Join("..", "..", "testdata", "palaces")), "empty", dir); err != nil {
		t.Fatal(err)
	}
	if err := specimen.Generate(t.Context(), dir, specimen.Spec{Rows: 1023, Dimension: 16, DocumentChars: 60, SyncThreshold: 100}); err != nil {
		t.Fatal(err)
	}
	r := reportOn(t, dir, Full)
	if r.Verdict != VerdictOK || len(r.Collections) == 0 || deref(r.Collections[0].Vectors.Missing) != 0 {
		t.Errorf("%s: %v", r.Verdict, codesOf(r))
	}
}

// A pickle is written in place: with a writer at work and a fresh file its end
// may just not be there yet.
func TestAPickleBeingWrittenIsNotCalledDamaged(t *testing.T) {
	t.Parallel()
	dir := makeSpecimen(t, "pickle-truncated")
	pickles, err := filepath.Glob(filepath.Join(dir, "*", "index_metadata.pickle"))
	if err != nil || len(pickles) != 1 {
		t.Fatal(pickles, err)
	}
	e := examinerIn(t, t.TempDir())
	site := e.opts.Manager.Examine(t.Context(), dir)
	for _, c := range []struct {
		age  time.Duration
		busy bool
		want Severity
	}{{time.Second, true, Warning}, {time.Second, false, Danger}, {time.Minute, true, Danger}} {
		now := time.Now()
		e.opts.Now = func() time.Time { return now }
		if err := os.Chtimes(pickles[0], now.Add(-c.age), now.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
		part := e.readFiles(t.Context(), &site, e.opts.Manager.Config(), Sampled, c.busy, nil)
		var got Severity
		for _, f := range part.findings {
			if f.Code == IndexMetadataTruncated {
				got = f.Severity
			}
		}
		if got != c.want {
			t.Errorf("%v old, busy %v: %s, not %s", c.age, c.busy, got, c.want)
		}
		clear(e.kept)
	}
}
