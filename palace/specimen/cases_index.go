package specimen

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"time"
)

// unflushedCases have an index that has never been written, or not lately.
func unflushedCases() []Sickness {
	return []Sickness{
		{
			Name: "never-flushed", Title: "index not written yet", Case: "MemPalace #2514", Base: "fresh", Healthy: true, Effect: Works,
			Story: "Five drawers, all in the queue. No pickle and 0 bytes of links are as it should be.",
			Apply: nothing,
		},
		{
			Name: "index-never-made", Title: "no segment directory, nothing lost", Case: "Chroma: segments", Base: "fresh", Healthy: true, Effect: Works,
			Story: "The directory was removed, but every vector is in the queue: Chroma builds the index anew.",
			Apply: onSegment(os.RemoveAll),
		},
		{
			Name: "stale-mtime", Title: "index older than the database", Case: "MemPalace #1564", Base: "synced", Healthy: true, Effect: Works,
			Story: "The index files are 45 hours older than the database, which by itself means nothing: the newest writes are in the queue.",
			Apply: staleTimes,
		},
	}
}

// staleTimes sets the times of database and index 45 hours apart.
func staleTimes(ctx context.Context, dir string) error {
	newest := time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)
	old := newest.Add(-45 * time.Hour)
	err := onSegment(func(seg string) error {
		entries, err := os.ReadDir(seg)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := os.Chtimes(filepath.Join(seg, e.Name()), old, old); err != nil {
				return err
			}
		}
		return nil
	})(ctx, dir)
	if err != nil {
		return err
	}
	return os.Chtimes(filepath.Join(dir, Database), newest, newest)
}

// pickleCases are about index_metadata.pickle, which says whose vector is whose.
func pickleCases() []Sickness {
	return []Sickness{
		{
			Name: "dimensionality-none", Title: "no dimensionality in the pickle", Case: "MemPalace #1103", Base: "synced", Healthy: true, Effect: Works,
			Story: "The pickle's dimensionality is None. Chroma's Rust core always writes it so; old versions of MemPalace quarantined such an index.",
			Apply: nothing,
		},
		{
			Name: "pickle-empty", Title: "pickle of 0 bytes", Case: "Chroma #1623", Base: "synced", Effect: Refuses,
			Story: "The disk was full when the pickle was written. Even count and get fail in Chroma; the drawers are all in SQLite.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, pickleFile), 0) }),
		},
		{
			Name: "pickle-truncated", Title: "pickle cut off", Case: "MemPalace #1046", Base: "synced", Effect: Refuses,
			Story: "The writer was killed in the middle of the pickle.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, pickleFile), 100000) }),
		},
		{
			Name: "pickle-missing", Title: "pickle missing", Case: "Chroma #872", Base: "synced", Effect: Loses,
			Story: "2,540 vectors are in the index files and nobody knows whose. Searches reach the queue's 21; the next write begins the files anew.",
			Apply: onSegment(func(seg string) error { return os.Remove(filepath.Join(seg, pickleFile)) }),
		},
		{
			Name: "pickle-unsafe", Title: "pickle that runs a program", Case: "pickle: GLOBAL", Base: "synced", Effect: Refuses,
			Story: "Somebody put a pickle here that calls os.system when Python loads it.",
			Apply: onSegment(func(seg string) error {
				const call = "cos\nsystem\n(S'touch castellan-was-fooled'\ntR."
				return os.WriteFile(filepath.Join(seg, pickleFile), []byte(call), 0o600)
			}),
		},
		{
			Name: "label-without-id", Title: "vectors without an owner", Case: "Chroma #4218", Base: "synced", Effect: Wrong,
			Story: "Thirty drawers' labels are missing from the pickle, their vectors still are in the index: a search that comes across one fails with \"Error finding id\".",
			Apply: func(ctx context.Context, dir string) error {
				ids, err := indexedDrawers(ctx, dir, 30)
				if err != nil {
					return err
				}
				return onIndex(func(x *index) error { x.pickle.forget(setOf(ids)); return nil })(ctx, dir)
			},
		},
	}
}

// indexedDrawers are the ids of the first n drawers that the index holds and
// the queue does not mention.
func indexedDrawers(ctx context.Context, dir string, n int) ([]string, error) {
	ids, err := ask(ctx, dir, "SELECT embedding_id FROM embeddings WHERE embedding_id NOT IN (SELECT id FROM embeddings_queue) ORDER BY id")
	if err != nil {
		return nil, err
	}
	return ids[:n], nil
}

// headerCases are about header.bin and data_level0.bin.
func headerCases() []Sickness {
	inHeader := func(edit func(*header)) apply {
		return onIndex(func(x *index) error { edit(&x.head); return nil })
	}
	return []Sickness{
		{
			Name: "header-missing", Title: "header missing", Case: "Chroma #872", Base: "synced", Effect: Refuses,
			Story: "header.bin is gone: Chroma answers \"Error loading hnsw index\" to everything, and still queues what is written.",
			Apply: onSegment(func(seg string) error { return os.Remove(filepath.Join(seg, headerFile)) }),
		},
		{
			Name: "header-short", Title: "header cut off", Case: "Chroma #872", Base: "synced", Effect: Crashes,
			Story: "header.bin has 50 of its 100 bytes.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, headerFile), 50) }),
		},
		{
			Name: "header-version", Title: "header of another version", Case: "hnswlib: persistence version", Base: "synced", Effect: Refuses,
			Story: "header.bin says version 7; there is only version 1.",
			Apply: inHeader(func(h *header) { h.Version = 7 }),
		},
		{
			Name: "header-capacity", Title: "more elements than room", Case: "MemPalace #1222", Base: "synced", Effect: Crashes,
			Story: "The header says that 100 elements fit and 2,540 are there. The loader trusts it and writes beyond its memory.",
			Apply: inHeader(func(h *header) { h.MaxElements = 100 }),
		},
		{
			Name: "level0-short", Title: "vectors cut off", Case: "MemPalace #2113", Base: "synced", Effect: Wrong,
			Story: "data_level0.bin ends after 1,500 of 2,540 elements.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, level0File), 1500*1676) }),
		},
		{
			Name: "level0-zeroed", Title: "vectors of zeros", Case: "ext4: delayed allocation", Base: "synced", Effect: Wrong,
			Story: "The machine lost power: 100 elements in the middle of data_level0.bin are all zeros, the file has its right length.",
			Apply: onSegment(func(seg string) error {
				return patch(filepath.Join(seg, level0File), 1000*1676, make([]byte, 100*1676))
			}),
		},
		{
			Name: "index-torn", Title: "deleted in the graph, not in the pickle", Case: "Chroma: persist order", Base: "synced", Effect: Wrong,
			Story: "Chroma was killed between writing the graph and the pickle: five drawers are marked deleted in the one, and the queue will delete them once more.",
			Apply: func(ctx context.Context, dir string) error {
				ids, err := ask(ctx, dir, "SELECT id FROM embeddings_queue WHERE operation = 3")
				if err != nil {
					return err
				}
				return onIndex(func(x *index) error {
					before := x.pickle
					x.markDeleted(x.pickle.forget(setOf(ids)))
					x.pickle = before
					return nil
				})(ctx, dir)
			},
		},
	}
}

// markDeleted sets the deleted mark of every element that bears a label.
func (x *index) markDeleted(labels map[uint64]bool) {
	for i := range int(x.head.Count) {
		if labels[x.label(i)] {
			x.element(i)[2] |= 1
		}
	}
}

// linkCases are about the graph.
func linkCases() []Sickness {
	return []Sickness{
		{
			Name: "links-exploded", Title: "links of 20 GB", Case: "MemPalace #344", Base: "synced", Effect: Works,
			Story: "link_lists.bin says 20 GB and stores 20 kB: a sparse file, which fills the disk when it is copied.",
			Apply: onSegment(func(seg string) error { return growSparse(filepath.Join(seg, linksFile), 20<<30) }),
		},
		{
			Name: "links-empty", Title: "links of 0 bytes", Case: "MemPalace #1457", Base: "synced", Effect: Crashes,
			Story: "link_lists.bin is empty though the index has 2,540 elements. The loader takes whatever is in memory for the lists.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, linksFile), 0) }),
		},
		{
			Name: "links-short", Title: "links cut off", Case: "MemPalace #2113", Base: "synced", Effect: Crashes,
			Story: "link_lists.bin ends in the middle of a list.",
			Apply: onSegment(func(seg string) error { return cut(filepath.Join(seg, linksFile), 10486) }),
		},
		{
			Name: "links-wild", Title: "a link to nowhere", Case: "hnswlib: no bounds check", Base: "synced", Effect: Crashes,
			Story: "The first neighbour of the entry point is element 2,147,483,647.",
			Apply: onIndex(func(x *index) error {
				binary.LittleEndian.PutUint32(x.element(int(x.head.EntryPoint))[4:], 1<<31-1)
				return nil
			}),
		},
		{
			Name: "links-cut", Title: "drawers no path leads to", Case: "MemPalace #1816", Base: "synced", Effect: Wrong,
			Story: "No neighbour list names elements 100 to 499 any more. Their vectors are stored, and no search arrives at them.",
			Apply: onIndex(func(x *index) error {
				for i := range int(x.head.Count) {
					x.dropLinks(i, 100, 500)
				}
				return nil
			}),
		},
		{
			Name: "links-below-level", Title: "a link below its level", Case: "hnswlib: no bounds check", Base: "synced", Effect: Crashes,
			Story: "On the highest level the entry point names an element that is on the lowest only. The loader has no list for it there and reads on in memory.",
			Apply: linkBelowLevel,
		},
		{
			Name: "norms-off", Title: "vectors stretched", Case: "hnswlib: cosine", Base: "synced", Effect: Wrong,
			Story: "An index by cosine holds unit vectors. 200 of these are three times too long, so they come out nearest to nearly everything.",
			Apply: onIndex(func(x *index) error {
				for i := 100; i < 300; i++ {
					b := x.element(i)[x.head.DataOffset:x.head.LabelOffset]
					for k := 0; k < len(b); k += 4 {
						f := math.Float32frombits(binary.LittleEndian.Uint32(b[k:]))
						binary.LittleEndian.PutUint32(b[k:], math.Float32bits(3*f))
					}
				}
				return nil
			}),
		},
		{
			Name: "tombstones-many", Title: "mostly deleted", Case: "hnswlib #608", Base: "synced", Effect: Works,
			Story: "2,000 of 2,395 drawers were deleted. The graph keeps their places and every search wades through them; older versions came back with too little and raised an error.",
			Apply: deleteMost,
		},
	}
}

// linkBelowLevel makes the first neighbour of the entry point on its highest
// level one that is on level 0 only.
func linkBelowLevel(ctx context.Context, dir string) error {
	return onSegment(func(seg string) error {
		b, err := os.ReadFile(filepath.Join(seg, headerFile))
		if err != nil {
			return err
		}
		head, err := parseHeader(b)
		if err != nil {
			return err
		}
		name := filepath.Join(seg, linksFile)
		if b, err = os.ReadFile(name); err != nil {
			return err
		}
		at, low := 0, uint32(0)
		var entry, length int
		for i := range uint32(head.Count) {
			n := int(binary.LittleEndian.Uint32(b[at:]))
			if n == 0 {
				low = i
			}
			if i == head.EntryPoint {
				entry, length = at, n
			}
			at += 4 + n
		}
		block := int(4 + 4*head.MaxM)
		list := b[entry+4+length-block:]
		binary.LittleEndian.PutUint16(list, max(1, binary.LittleEndian.Uint16(list)))
		binary.LittleEndian.PutUint32(list[4:], low)
		return os.WriteFile(name, b, 0o600)
	})(ctx, dir)
}

// dropLinks takes the neighbours from..to out of element i's list on level 0.
func (x *index) dropLinks(i int, from, to uint32) {
	e := x.element(i)
	n := int(binary.LittleEndian.Uint16(e))
	kept := 0
	for k := range n {
		j := binary.LittleEndian.Uint32(e[4+4*k:])
		if j < from || j >= to {
			binary.LittleEndian.PutUint32(e[4+4*kept:], j)
			kept++
		}
	}
	binary.LittleEndian.PutUint16(e, uint16(kept))
}

// deleteMost deletes 2,000 drawers as Chroma would have, everywhere.
func deleteMost(ctx context.Context, dir string) error {
	ids, err := indexedDrawers(ctx, dir, 2000)
	if err != nil {
		return err
	}
	return inTurn(
		onIndex(func(x *index) error {
			x.markDeleted(x.pickle.forget(setOf(ids)))
			return nil
		}),
		forgetRows("id IN (SELECT id FROM embeddings WHERE embedding_id NOT IN (SELECT id FROM embeddings_queue) ORDER BY id LIMIT 2000)"),
	)(ctx, dir)
}
