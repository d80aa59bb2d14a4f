package health

import (
	"errors"
	"fmt"
	"time"

	"castellan/palace/chroma"
	"castellan/palace/hnswlib"
)

// OpenedBy is what would happen to whoever opened a collection now. Nothing is
// opened to find out: it follows from the findings, as Chroma 1.5.9 was seen to
// behave on each of these states.
type OpenedBy struct {
	Chroma Effect `json:"chroma"`
	// Why names the cause, empty where it works.
	Why string `json:"why"`
	// MemPalace is nil where its rule does not apply.
	MemPalace *Opinion `json:"mempalace"`
}

// Effect is the worst of opening, counting, getting, searching and writing one
// drawer.
type Effect string

// The effects, mildest first.
const (
	EffectWorks   Effect = "works"
	EffectWrong   Effect = "wrong"   // answers are missing, stale or errors, or a write is swallowed
	EffectRefuses Effect = "refuses" // every answer is an error
	EffectLoses   Effect = "loses"   // opening it, or the next write, destroys the only copy of vectors
	EffectCrashes Effect = "crashes" // memory is read out of bounds
)

func (e Effect) rank() int {
	switch e {
	case EffectWrong:
		return 1
	case EffectRefuses:
		return 2
	case EffectLoses:
		return 3
	case EffectCrashes:
		return 4
	}
	return 0
}

// effectOf is what a finding means for Chroma.
func effectOf(f Finding) Effect {
	file, _ := f.Evidence["file"].(string)
	switch f.Code {
	case VectorsMissing, VectorsStale, IndexUnreachable, IndexMissing, IndexZeroed, IndexTorn, CapacityFrozen, SpaceForgotten, QueueTopLost,
		FTSDamaged, FTSDisagrees, DimensionUnset:
		return EffectWrong
	case IndexNormsBad:
		return severe(f, EffectWrong)
	case IndexMetadataTruncated:
		return severe(f, EffectRefuses)
	case IndexMetadataUnsafe, FTSMissing, BtreeDamaged, NotADatabase:
		return EffectRefuses
	case IndexMetadataUnreadable:
		if f.Severity == Danger {
			return EffectRefuses
		}
		return EffectWrong
	case SchemaUnknown, SeqIDBlob:
		return severe(f, EffectRefuses)
	case SegmentsWrong:
		if n, _ := f.Evidence["vector_segments"].(int); n > 1 {
			return EffectWrong // from whichever it comes upon first
		}
		return EffectRefuses
	case DimensionMismatch:
		if f.Evidence["field"] != nil {
			return EffectWrong // every question of the right length is refused or misread
		}
	case IndexIsLost:
		if n, _ := f.Evidence["at_stake"].(int64); n > 0 {
			return EffectLoses
		}
		return EffectWrong
	case DatabaseEmpty:
		return EffectLoses
	case IndexMetadataMissing:
		return severe(f, EffectLoses)
	case SeqIDPoisoned:
		if f.Evidence["scope"] == chroma.ScopeVector {
			return EffectLoses
		}
		return EffectWrong
	case IndexCapacityBad, IndexLinksBad:
		return EffectCrashes
	case IndexShort:
		if file == hnswlib.LinksFile {
			return EffectCrashes
		}
		return EffectWrong
	case IndexHeaderBad:
		if f.Evidence["refused"] == true {
			return EffectRefuses
		}
		return EffectCrashes
	case QueueRowBad:
		if f.Evidence["refused"] == true {
			return EffectRefuses
		}
		return EffectWrong
	}
	return EffectWorks
}

// severe is the effect of findings that are harmless in a milder form.
func severe(f Finding, e Effect) Effect {
	if f.Severity.Worse(Warning) {
		return e
	}
	return EffectWorks
}

// openedBy judges a collection by its own findings and those of the database
// that holds it.
func openedBy(name string, findings []Finding, collections map[string]bool) OpenedBy {
	o := OpenedBy{Chroma: EffectWorks}
	for _, f := range findings {
		if f.Subject != name && collections[f.Subject] {
			continue
		}
		if e := effectOf(f); e.rank() > o.Chroma.rank() {
			o.Chroma, o.Why = e, f.Cause
		}
	}
	return o
}

// Opinion is what the repair-status of MemPalace 3.11 says of a collection, and
// why that is not what is so here.
type Opinion struct {
	Says    string `json:"says"` // ok, diverged, unknown
	Why     string `json:"why"`
	Differs string `json:"differs"` // empty where it agrees with the sets of ids
}

// Bounds of MemPalace's rule, which compares two counts.
const (
	defaultSync    = 1000
	lagFloor       = 2000
	lagShare       = 0.10
	oldLag         = 5 * time.Minute
	leastElement   = 256 // bytes an element of data_level0.bin has at least, by its reckoning
	mostElements   = 50_000_000
	mempalaceDoubt = "unknown"
)

// opinion follows MemPalace's rule on its own figures: rows of the table against
// ids in the index metadata, the queue left out.
func opinion(c chroma.CollectionFacts, now time.Time) *Opinion {
	v := c.Coverage
	if v == nil || c.Index.Segment == "" {
		return nil
	}
	sync, explicit := int64(defaultSync), false
	if n := c.Row.Config.HNSW.SyncThreshold; n != nil {
		sync, explicit = int64(*n), true
	}
	if n, ok := c.Row.Metadata["hnsw:sync_threshold"].(int64); ok {
		sync, explicit = n, true
	}
	o := &Opinion{}
	o.Says, o.Why = repairStatus(c, v.Live-c.Unapplied, sync, explicit, now)
	switch {
	case o.Says == "ok" && v.Missing > 0:
		o.Differs = fmt.Sprintf("%s of %s cannot be found all the same: it compares two counts and lets them differ by what may wait in the queue, without looking there", count(v.Missing, "drawer"), count(v.Live, "drawer"))
	case o.Says == "ok" && v.Stale > 0:
		o.Differs = fmt.Sprintf("%s of the index belong to no drawer: equal counts say nothing", count(v.Stale, "vector"))
	case o.Says == "diverged" && v.Missing == 0:
		o.Differs = fmt.Sprintf("every drawer can be found: %s in the queue, where it does not look", count(v.Queued, "vector")+" "+be(v.Queued))
	case o.Says == mempalaceDoubt && v.Missing == 0:
		o.Differs = "every drawer can be found: the queue holds what the index does not"
	case o.Says == mempalaceDoubt:
		o.Differs = fmt.Sprintf("%s cannot be found, and it goes on searching", count(v.Missing, "drawer"))
	}
	return o
}

func repairStatus(c chroma.CollectionFacts, rows, sync int64, explicit bool, now time.Time) (says, why string) {
	x := c.Index
	if g := x.Graph; g != nil && g.Header.Version == 1 &&
		(g.Header.Elements > g.Header.Capacity || g.Header.Capacity > mostElements || g.Header.Elements > mostElements) {
		return "diverged", "the header counts more elements than it has room for, or than there can be"
	}
	var gone *hnswlib.MissingError
	if x.Pickle == nil {
		switch ceiling := x.Files.Level0.Apparent / leastElement; {
		case x.FilesErr != nil && !errors.As(x.FilesErr, &gone):
			return mempalaceDoubt, "the index cannot be read"
		case rows >= lagFloor && rows < sync:
			return mempalaceDoubt, fmt.Sprintf("there is no index metadata, and with a sync threshold of %s there will be none", count(sync, "write"))
		case x.Files.Level0.Present && rows-ceiling > max(lagFloor, int64(lagShare*float64(rows))):
			return "diverged", "the index files are too small for the drawers, and there is no index metadata"
		}
		return mempalaceDoubt, "there is no index metadata to count by"
	}
	gap := rows - int64(x.IDs)
	limit := 2 * sync
	if !explicit {
		limit = max(lagFloor, limit, int64(lagShare*float64(rows)))
	}
	figures := fmt.Sprintf("%s in the index metadata, %s in the table, and it allows a gap of %s",
		count(int64(x.IDs), "id"), count(rows, "row"), count(limit, "row"))
	age := now.Sub(x.Files.Pickle.ModTime)
	switch {
	case gap > limit:
		return "diverged", figures
	case !explicit && gap > 0 && age >= oldLag:
		return "diverged", figures + ", but not for longer than five minutes"
	}
	return "ok", figures
}
