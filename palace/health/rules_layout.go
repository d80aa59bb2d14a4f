package health

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"castellan/palace"
	"castellan/palace/chroma"
	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// pileFrom is how many quarantined directories are a pile: each is a whole
// index, and MemPalace never deletes one (20 of them, MemPalace #1716).
const pileFrom = 5

// layoutFindings speaks of what lies in and beside the palace that no
// collection uses.
func layoutFindings(ctx context.Context, s *palace.Site, f *chroma.Facts, depth Depth, now time.Time) []Finding {
	out := quarantineFindings(ctx, s, f, depth, now)
	out = append(out, orphanFindings(ctx, s, f, depth)...)
	for _, path := range s.Layout.Unfinished {
		out = append(out, Finding{
			Code: RebuildUnfinished, Severity: Warning, Subject: path,
			Cause:    "a repair of Castellan was cut short; the palace is safe to open as it is",
			Evidence: map[string]any{"path": path},
			Remedy:   &Remedy{Action: "castellan repair, or castellan undo", Reason: "the first goes on from there, behind the copy that was taken; the other takes it back"},
		})
	}
	var bytes int64
	var paths []string
	for _, b := range s.Layout.Backups {
		if b.Kind == palace.BackupSwap {
			out = append(out, Finding{
				Code: RebuildUnfinished, Severity: Warning, Subject: b.Path,
				Cause:    "a migration or rebuild of MemPalace was cut short in the middle of its swap: the former palace still lies beside this one",
				Evidence: map[string]any{"path": b.Path, "bytes": b.Size.Allocated},
				Remedy:   &Remedy{Reason: "compare the two before anything is deleted; the one with more drawers is the good one"},
			})
			continue
		}
		bytes += b.Size.Allocated
		paths = append(paths, b.Path)
	}
	if len(paths) > 0 {
		out = append(out, Finding{
			Code: BackupPresent, Severity: Info, Subject: s.Ref.Path,
			Cause:    fmt.Sprintf("%s of this palace %s, %s", count(int64(len(paths)), "copy"), be(int64(len(paths)))+" kept", size(bytes)),
			Evidence: map[string]any{"paths": paths, "bytes": bytes},
		})
	}
	return out
}

func quarantineFindings(ctx context.Context, s *palace.Site, f *chroma.Facts, depth Depth, now time.Time) []Finding {
	list := s.Layout.Quarantined
	if len(list) == 0 {
		return nil
	}
	var bytes int64
	var newest, oldest time.Time
	var paths []string
	var out []Finding
	var holdings []map[string]any
	for _, q := range list {
		bytes += q.Size.Allocated
		paths = append(paths, q.Path)
		if q.At.After(newest) {
			newest = q.At
		}
		if !q.At.IsZero() && (oldest.IsZero() || q.At.Before(oldest)) {
			oldest = q.At
		}
		in, live := holdingOf(ctx, q.Path, depth), liveVectors(f, q.Segment)
		holdings = append(holdings, in.evidence(q.Path))
		// Its elements may count deleted ones: where every drawer is found there is
		// nothing to gain from it.
		if in.vectors != nil && live != nil && live.Missing > 0 && *in.vectors > live.Searchable {
			evidence := in.evidence(q.Path)
			evidence["live"], evidence["reason"] = live.Searchable, q.Reason
			out = append(out, Finding{
				Code: QuarantineHoldsMore, Severity: Bad, Subject: q.Path,
				Cause:    fmt.Sprintf("this quarantined copy holds %s, the live index %s", count(*in.vectors, "vector"), count(live.Searchable, "vector")),
				Evidence: evidence,
				Remedy:   &Remedy{Mode: "index", Reason: "the index can be built again with its vectors; do not delete this copy"},
			})
		}
	}
	evidence := map[string]any{"directories": len(list), "bytes": bytes, "paths": paths, "holdings": holdings}
	cause := fmt.Sprintf("%s put aside by MemPalace, %s", count(int64(len(list)), "index directory"), size(bytes))
	if !newest.IsZero() {
		evidence["newest"] = newest.Format(time.RFC3339)
		cause += ", the newest " + span(now.Sub(newest)) + " ago"
		if days := newest.Sub(oldest).Hours() / 24; days >= 1 {
			evidence["per_day"] = float64(len(list)) / days
			cause += fmt.Sprintf(", %.1f a day", float64(len(list))/days)
		}
	}
	severity := Info
	if len(list) >= pileFrom {
		severity = Warning
	}
	return append(out, Finding{
		Code: QuarantinePiledUp, Severity: severity, Subject: s.Ref.Path, Cause: cause, Evidence: evidence,
		Remedy: &Remedy{Mode: "orphans", Reason: "nothing deletes them by itself; first make sure that none holds more than the live index"},
	})
}

// orphanFindings: deleting a collection leaves its directory behind.
func orphanFindings(ctx context.Context, s *palace.Site, f *chroma.Facts, depth Depth) []Finding {
	var out []Finding
	for _, seg := range s.Layout.Segments {
		if f.SegmentIDs[seg.ID] {
			continue
		}
		evidence := map[string]any{"path": seg.Path, "bytes": seg.Size.Allocated}
		cause := fmt.Sprintf("no collection uses this index directory, %s", size(seg.Size.Allocated))
		if in := holdingOf(ctx, seg.Path, depth); in.vectors != nil {
			maps.Copy(evidence, in.evidence(seg.Path))
			cause += fmt.Sprintf(" and %s", count(*in.vectors, "vector"))
		}
		out = append(out, Finding{
			Code: SegmentOrphan, Severity: Info, Subject: seg.Path, Cause: cause, Evidence: evidence,
			Remedy: &Remedy{Mode: "orphans", Reason: "Chroma leaves it when a collection is deleted; check that no rebuild is under way"},
		})
	}
	return out
}

// holding is what an index that nobody uses holds.
type holding struct {
	vectors *int64 // not deleted; nil where it cannot be read
	deleted int64
	named   *int64 // of which its metadata has the ids; nil where it has none
	faults  int    // of the files
	full    bool
}

func (h holding) evidence(path string) map[string]any {
	e := map[string]any{"path": path, "vectors": h.vectors}
	if h.full && h.vectors != nil {
		e["deleted"], e["named"], e["faults"] = h.deleted, h.named, h.faults
	}
	return e
}

// holdingOf examines it: by its header for a glance, by every element in full.
func holdingOf(ctx context.Context, dir string, depth Depth) holding {
	r, err := hnswlib.Open(dir)
	if err != nil {
		return holding{}
	}
	defer r.Close()
	if depth != Full {
		return holding{vectors: ptr(int64(r.Stored()))}
	}
	live := map[uint64]bool{}
	h := holding{full: true}
	g, err := r.ExamineWith(ctx, hnswlib.Exam{Label: func(_ int, label uint64, deleted bool) {
		if !deleted {
			live[label] = true
		}
	}})
	if err != nil {
		return holding{vectors: ptr(int64(r.Stored()))}
	}
	h.vectors, h.deleted, h.faults = ptr(int64(g.Stored-g.Deleted)), int64(g.Deleted), len(g.Faults)
	if m, err := pickle.ReadFile(ctx, filepath.Join(dir, hnswlib.PickleFile)); err == nil {
		named := int64(0)
		for _, label := range m.IDs {
			if live[label] {
				named++
			}
		}
		h.named = &named
	}
	return h
}

// liveVectors says what the live index of a segment reaches, with what waits in
// the queue; nil for a segment no collection has.
func liveVectors(f *chroma.Facts, segment string) *chroma.Coverage {
	at := slices.IndexFunc(f.Collections, func(c chroma.CollectionFacts) bool { return c.Index.Segment == segment })
	if at < 0 || f.Collections[at].Coverage == nil {
		return nil
	}
	return f.Collections[at].Coverage
}
