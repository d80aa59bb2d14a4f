package chroma

import "slices"

// Coverage compares three sets of ids: the live ones in SQLite with the queue
// applied, those in the index files, and those whose vector waits in the
// queue. Counts alone say nothing: two palaces with equal counts can differ by
// ten ids each way (MemPalace #1816).
type Coverage struct {
	// Live ids, pending writes applied.
	Live int64
	// Indexed ids: in the metadata pickle, their label present and not deleted
	// in the index, before the queue is replayed.
	Indexed int64
	// Queued are live ids whose newest vector exists only in the queue.
	Queued int64
	// Searchable are live ids that a vector search reaches.
	Searchable int64
	// Missing are live ids that it does not: nobody has their vector, or no path
	// in the index leads to it.
	Missing int64
	// Unreachable are those of the missing whose vector is in the index with no
	// path to it from the entry point. Looked for in full depth only.
	Unreachable int64
	// Stale ids are reachable but no longer live.
	Stale int64
	// MissingIDs and StaleIDs hold the first few, in id order, as evidence.
	MissingIDs, StaleIDs []string
}

// sampleIDs bounds the evidence kept of each set.
const sampleIDs = 10

type reach uint8

const (
	inIndex reach = 1 << iota
	inQueue
	alive
	// hidden: in the index, and no path leads there. It says something of inIndex
	// only, so a replayed write need not take it away.
	hidden
)

// somewhere are the places a vector can be.
const somewhere = inIndex | inQueue

// found reports whether a search comes upon it.
func (r reach) found() bool { return r&inQueue != 0 || r&(inIndex|hidden) == inIndex }

// coverage collects the sets. The index comes first, then the queue in
// sequence order, then every live id.
type coverage struct {
	slot    map[string]uint32
	reach   []reach
	ids     []string
	indexed int // the first ids, those of the index
	live    int64
	missing []string
	lost    int64
	hiding  int64 // of the lost
}

func newCoverage(size int) *coverage {
	return &coverage{slot: make(map[string]uint32, size)}
}

// reset forgets everything but what the index holds, so that the questions can
// be asked again.
func (c *coverage) reset() {
	for _, id := range c.ids[c.indexed:] {
		delete(c.slot, id)
	}
	c.ids, c.reach = c.ids[:c.indexed], c.reach[:c.indexed]
	for i := range c.reach {
		c.reach[i] = inIndex | c.reach[i]&hidden
	}
	c.forgetLive()
}

// forgetLive takes back the live ids alone.
func (c *coverage) forgetLive() {
	for i := range c.reach {
		c.reach[i] &^= alive
	}
	c.live, c.lost, c.hiding, c.missing = 0, 0, 0, nil
}

func (c *coverage) at(id string) uint32 {
	if i, ok := c.slot[id]; ok {
		return i
	}
	i := uint32(len(c.reach))
	c.slot[id] = i
	c.reach = append(c.reach, 0)
	c.ids = append(c.ids, id)
	return i
}

func (c *coverage) addIndexed(id string, hide bool) {
	i := c.at(id)
	c.reach[i] |= inIndex
	if hide {
		c.reach[i] |= hidden
	}
	c.indexed++
}

// replay applies one queued write the way Chroma does when it loads the
// segment: an add of a known id and an update of an unknown one change
// nothing, and a write without a vector brings none.
func (c *coverage) replay(op Operation, id string, vector bool) {
	if op == OpDelete {
		if i, ok := c.slot[id]; ok {
			c.reach[i] &= hidden
		}
		return
	}
	if !vector {
		return
	}
	i, known := c.slot[id]
	known = known && c.reach[i]&somewhere != 0
	switch op {
	case OpAdd:
		if !known {
			c.wait(c.at(id))
		}
	case OpUpdate:
		if known {
			c.wait(i)
		}
	case OpUpsert:
		c.wait(c.at(id))
	}
}

// wait notes that the newest vector of an id is that in the queue.
func (c *coverage) wait(i uint32) { c.reach[i] = inQueue | c.reach[i]&hidden }

// addLive takes a live id as SQLite hands it out; the bytes are not kept.
func (c *coverage) addLive(id []byte) {
	c.live++
	i, ok := c.slot[string(id)]
	if ok && c.reach[i]&somewhere != 0 {
		c.reach[i] |= alive
		if c.reach[i].found() {
			return
		}
		c.hiding++
	}
	c.lost++
	c.missing = keepSmallest(c.missing, string(id))
}

func (c *coverage) result() Coverage {
	r := Coverage{Live: c.live, Indexed: int64(c.indexed), Missing: c.lost, Unreachable: c.hiding, MissingIDs: c.missing}
	for i, v := range c.reach {
		switch {
		case !v.found():
		case v&alive == 0:
			r.Stale++
			r.StaleIDs = keepSmallest(r.StaleIDs, c.ids[i])
		default:
			r.Searchable++
			if v&inQueue != 0 {
				r.Queued++
			}
		}
	}
	return r
}

// keepSmallest keeps the first few ids in order, so that the same palace gives
// the same evidence every time.
func keepSmallest(list []string, id string) []string {
	i, _ := slices.BinarySearch(list, id)
	if i == sampleIDs {
		return list
	}
	list = slices.Insert(list, i, id)
	return list[:min(len(list), sampleIDs)]
}
