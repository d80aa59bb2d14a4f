package specimen

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// coverageCases have drawers that no search by meaning can find, or vectors
// that nobody owns, with every file well-formed.
func coverageCases() []Sickness {
	generated := func(s Spec) apply {
		s.DocumentChars, s.Dimension = 120, 64
		return func(ctx context.Context, dir string) error { return Generate(ctx, dir, s) }
	}
	return []Sickness{
		{
			Name: "capacity-frozen", Title: "index full and no longer growing", Case: "MemPalace #1222", Base: "empty", Effect: Wrong,
			Story: "The index stopped at its capacity of 1,024 while drawers went on being filed: 1,476 of 2,500 cannot be found by meaning.",
			Apply: inTurn(generated(Spec{Rows: 2500, lostFrom: 1023, lostTo: 2499, RoomsPerWing: 3}), onIndex(func(x *index) error {
				x.head.MaxElements = 1024
				return nil
			})),
		},
		{
			Name: "hole-within-threshold", Title: "47% missing and called fine", Case: "MemPalace #1367", Base: "empty", Effect: Wrong,
			Story: "940 of 2,000 drawers are in neither index nor queue. With a sync threshold of 50,000 MemPalace calls the gap normal.",
			Apply: generated(Spec{Rows: 2000, SyncThreshold: 50000, lostFrom: 1059, lostTo: 1999}),
		},
		{
			Name: "two-writers", Title: "two processes wrote at once", Case: "MemPalace #1092", Base: "empty", Effect: Wrong,
			Story: "Two processes filed 360 drawers side by side. Both were told that all went well; 120 vectors exist nowhere.",
			Apply: generated(Spec{Rows: 360, SyncThreshold: 100, lostFrom: 120, lostTo: 240}),
		},
		{
			Name: "equal-counts-differ", Title: "ten too many, ten too few", Case: "MemPalace #1816", Base: "synced", Effect: Wrong,
			Story: "The index has as many drawers as SQLite, but ten of them are not SQLite's, and ten of SQLite's are not there.",
			Apply: func(ctx context.Context, dir string) error {
				ids, err := indexedDrawers(ctx, dir, 10)
				if err != nil {
					return err
				}
				swap := setOf(ids)
				return onIndex(func(x *index) error {
					for i, id := range x.pickle.ids {
						if swap[id] {
							x.pickle.ids[i] = fmt.Sprintf("drawer_gone_%d", x.pickle.labels[i])
						}
					}
					return nil
				})(ctx, dir)
			},
		},
		{
			Name: "vectors-stale", Title: "drawers gone, vectors still there", Case: "MemPalace #1816", Base: "synced", Effect: Wrong,
			Story: "25 drawers were deleted from SQLite by hand. Searches still find their vectors and have nothing to show.",
			Apply: forgetRows("id IN (SELECT id FROM embeddings ORDER BY id LIMIT 25)"),
		},
		{
			Name: "closets-sick", Title: "closets sick, drawers fine", Case: "MemPalace #1564", Base: "healthy", Effect: Wrong,
			Story: "The closets' pickle has 0 bytes; nothing is wrong with the drawers.",
			Apply: func(ctx context.Context, dir string) error {
				ids, err := ask(ctx, dir, "SELECT {closets vector}")
				if err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(dir, ids[0], pickleFile), nil, 0o600)
			},
		},
	}
}

// segmentCases are about segment directories: lost, orphaned or put aside.
func segmentCases() []Sickness {
	return []Sickness{
		{
			Name: "index-missing", Title: "segment directory lost", Case: "MemPalace #1716", Base: "synced", Effect: Wrong,
			Story: "The directory with 2,540 vectors is gone, the queue had been purged. Searches reach the queue's 21 of 2,395 drawers.",
			Apply: onSegment(os.RemoveAll),
		},
		{
			Name: "quarantined", Title: "index put aside", Case: "MemPalace #1564", Base: "synced", Effect: Wrong,
			Story: "MemPalace took the index for damaged and renamed it. 2,380 vectors lie in the quarantine, none in a live index.",
			Apply: onSegment(func(seg string) error { return os.Rename(seg, seg+".drift-20260101-120000") }),
		},
		{
			Name: "quarantine-holds-more", Title: "quarantine holds the index", Case: "MemPalace #1716", Base: "synced", Effect: Wrong,
			Story: "MemPalace put the index aside, Chroma began a new one with the 21 vectors of the queue and flushed it. 2,380 vectors lie in the quarantine.",
			Apply: quarantineAndRebuild,
		},
		{
			Name: "quarantine-piled-up", Title: "twenty quarantined copies", Case: "MemPalace #1818", Base: "fresh", Effect: Works,
			Story: "An old MemPalace put a fine index aside at every start, for four days. Nothing is lost but disk.",
			Apply: onSegment(func(seg string) error {
				for i := range 20 {
					kind := [...]string{"drift", "corrupt"}[i%2]
					if err := copySegment(seg, fmt.Sprintf("%s.%s-202605%02d-%02d0000", seg, kind, 1+i/5, 8+i%5)); err != nil {
						return err
					}
				}
				return nil
			}),
		},
		{
			Name: "segment-orphan", Title: "segments of deleted collections", Case: "Chroma #5259", Base: "fresh", Effect: Works,
			Story: "Two collections were deleted; Chroma leaves their directories behind.",
			Apply: onSegment(func(seg string) error {
				for _, name := range []string{"one", "two"} {
					if err := copySegment(seg, filepath.Join(filepath.Dir(seg), makeUUID(name, 0, "deleted"))); err != nil {
						return err
					}
				}
				return nil
			}),
		},
	}
}

// quarantineAndRebuild puts the index of the sample "synced" aside and flushes
// a new one, of what the queue adds; updates of drawers that are not in the
// new index are ignored, as Chroma ignores them.
func quarantineAndRebuild(ctx context.Context, dir string) error {
	seg, err := segmentOf(ctx, dir)
	if err != nil {
		return err
	}
	const added = " FROM embeddings_queue WHERE operation = 0 ORDER BY seq_id"
	ids, err := ask(ctx, dir, "SELECT id"+added)
	if err != nil {
		return err
	}
	blobs, err := ask(ctx, dir, "SELECT vector"+added)
	if err != nil {
		return err
	}
	if err := os.Rename(seg, seg+".drift-20260101-120000"); err != nil {
		return err
	}
	w, err := newIndexWriter(seg, len(ids), 384)
	if err != nil {
		return err
	}
	defer w.close()
	for i, id := range ids {
		vector := make([]float32, 384)
		if _, err := binary.Decode([]byte(blobs[i]), binary.LittleEndian, vector); err != nil {
			return err
		}
		if err := w.add(id, vector); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	return statements(
		"UPDATE max_seq_id SET seq_id = (SELECT max(seq_id) FROM embeddings_queue) WHERE segment_id = {vector}",
		"DELETE FROM embeddings_queue WHERE seq_id < (SELECT max(seq_id) FROM embeddings_queue)",
	)(ctx, dir)
}
