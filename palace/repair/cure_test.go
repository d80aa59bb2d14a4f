package repair

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/palace/health"
	"castellan/palace/hnswlib"
	"castellan/palace/specimen"
)

// Each of these palaces must be clean after the repair that its own findings
// call for, with no drawer fewer.
func TestSickPalacesAreCleanAfterTheirRepair(t *testing.T) {
	t.Parallel()
	waits := []health.Code{health.QueueUnapplied} // until Chroma opens it
	lost := []health.Code{health.VectorsMissing}  // nowhere at all
	for name, want := range map[string]struct {
		mode  Mode   // to ask for; "" = what the findings call for
		modes string // those of the plan
		// left are findings that a repair cannot take away.
		left []health.Code
	}{
		"links-empty":               {modes: "index"},
		"links-wild":                {modes: "index"},
		"links-cut":                 {modes: "index"},
		"links-exploded":            {modes: "index"},
		"links-short":               {modes: "index"},
		"links-below-level":         {modes: "index"},
		"header-short":              {modes: "index"},
		"header-missing":            {modes: "index"},
		"header-version":            {modes: "index"},
		"header-capacity":           {modes: "index"},
		"capacity-frozen":           {modes: "index", left: lost},
		"level0-short":              {modes: "index", left: lost},
		"level0-zeroed":             {modes: "index", left: lost},
		"label-without-id":          {modes: "index", left: lost},
		"equal-counts-differ":       {modes: "index", left: lost},
		"queue-row-bad-json":        {modes: "index", left: waits},
		"queue-row-without-vector":  {modes: "index", left: waits},
		"queue-row-short-vector":    {modes: "index", left: waits},
		"queue-row-bad-operation":   {modes: "index", left: waits},
		"queue-row-bad-encoding":    {modes: "index", left: waits},
		"queue-row-bad-time":        {modes: "index", left: waits},
		"seq-id-poisoned-vector":    {modes: "max-seq-id, index"},
		"seq-id-poisoned-queued":    {modes: "max-seq-id, index", left: []health.Code{health.QueueUnapplied}},
		"index-torn":                {modes: "index"},
		"norms-off":                 {modes: "index"},
		"tombstones-many":           {modes: "index"},
		"vectors-stale":             {modes: "index"},
		"pickle-truncated":          {modes: "index", left: lost},
		"pickle-empty":              {modes: "index", left: lost},
		"pickle-missing":            {modes: "max-seq-id, index-metadata, index", left: append(lost, health.IndexMetadataMissing)},
		"hole-within-threshold":     {mode: Index, modes: "index", left: lost},
		"index-missing":             {modes: "max-seq-id, index", left: lost},
		"quarantine-holds-more":     {modes: "index"},
		"quarantined":               {modes: "max-seq-id, index"},
		"closets-sick":              {modes: "index"},
		"vector-seq-without-pickle": {modes: "max-seq-id"},
		"seq-id-poisoned":           {modes: "max-seq-id"},
		"queue-top-lost":            {modes: "max-seq-id, index", left: lost},
		"seq-id-blob-max":           {modes: "seq-id-blob"},
		"seq-id-blob":               {mode: SeqIDBlob, modes: "seq-id-blob"},
		"fts-content-changed":       {modes: "fts"},
		"fts-content-deleted":       {modes: "fts"},
		"fts-missing":               {modes: "fts"},
		"segment-orphan":            {mode: Orphans, modes: "orphans"},
	} {
		if underRace && !slices.Contains([]string{"links-empty", "queue-row-bad-json", "seq-id-poisoned-queued", "segment-orphan"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sick(t, name)
			before := s.report()
			r := s.repair(want.mode)
			p := planned(t, r)
			if p.Mode != want.modes {
				t.Errorf("the plan is %q, want %q", p.Mode, want.modes)
			}
			end := s.run(r, p)
			if end.Err != nil {
				t.Fatalf("%s: %v", end.State, end.Err)
			}
			res := end.Result.Detail.(*Result)
			if v := res.Verified; !v.Backup || !v.Database || !v.Rows {
				t.Errorf("not verified: %+v", v)
			}
			s.wantClean(want.left...)
			for i, c := range before.Collections {
				after := s.report().Collections[i]
				if c.Rows != nil && (after.Rows == nil || *after.Rows < *c.Rows) {
					t.Errorf("%s: %v rows, had %v", c.Name, after.Rows, *c.Rows)
				}
			}
			if list, err := Unfinished(r.o.StateDir); err != nil || len(list) > 0 {
				t.Errorf("unfinished: %v, %v", list, err)
			}
		})
	}
}

// wantClean accepts what is only worth knowing.
func (s *stage) wantClean(left ...health.Code) {
	s.t.Helper()
	report := s.report()
	if report.Error != nil {
		s.t.Fatalf("%+v", report.Error)
	}
	for _, f := range report.Findings {
		expected := false
		for _, c := range left {
			expected = expected || f.Code == c
		}
		if f.Severity != health.Info && !expected {
			s.t.Errorf("after the repair: %s %s: %s %v", f.Code, f.Subject, f.Cause, f.Evidence)
		}
	}
}

// The names of an index whose own are gone come back from a copy.
func TestNamesComeBackFromACopyOfTheSegment(t *testing.T) {
	slow(t)
	s := sample(t, "synced")
	before := s.contents()
	s.backUp()
	list, err := filepath.Glob(filepath.Join(s.dir, "*", hnswlib.PickleFile))
	must(t, err)
	must(t, os.Remove(list[0]))
	p := planned(t, s.repair(IndexMetadata))
	if !strings.Contains(strings.Join(p.Steps, "\n"), "names of the index") {
		t.Errorf("%q", p.Steps)
	}
	s.do(s.repair(""))
	s.wantClean()
	wantSame(t, "with its names", before, s.contents())
}

// What a cut-off file still names is used, and nothing is guessed beyond it.
func TestNamesBeforeTheCutAreUsed(t *testing.T) {
	slow(t)
	s := sample(t, "synced")
	before := s.contents()
	list, err := filepath.Glob(filepath.Join(s.dir, "*", hnswlib.PickleFile))
	must(t, err)
	info, err := os.Stat(list[0])
	must(t, err)
	must(t, os.Truncate(list[0], info.Size()/4))
	s.do(s.repair(""))
	n := 0
	for id, r := range s.contents()[specimen.Drawers] {
		if r.Embedding == nil {
			n++
		} else if !sameVector("cosine", r.Embedding, before[specimen.Drawers][id].Embedding) {
			t.Errorf("%s has another drawer's vector", id)
		}
	}
	if n == 0 || n > 2000 {
		t.Errorf("%d drawers are without a vector", n)
	}
}
