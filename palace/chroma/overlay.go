package chroma

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"castellan/palace/backend"
)

var errDocument = errors.New("the document is no text")

// overlay is what the writes that wait in the queue make of a collection. It
// keeps numbers, not contents: a queue may hold 20,000 unapplied writes
// (crewrig #98), and their text is read when it is asked for.
type overlay struct {
	// hidden are the numbers of stored records that are deleted or changed.
	hidden     idSet
	hiddenJSON string
	// changed are stored records as they will be, by record number; fresh are
	// records that are not stored yet, in the order of their first write.
	changed, fresh []*pendingRecord
	// faults are rows that were passed over.
	faults []QueueFault
}

// pendingRecord is a live record with writes that wait.
type pendingRecord struct {
	// stored is the record's number; 0 where it starts from nothing.
	stored int64
	// first is the sequence number of the write that makes a fresh record.
	first int64
	id    string
	seqs  []int64
}

func (o *overlay) none() bool { return len(o.hidden) == 0 && len(o.fresh) == 0 }

// overlayCache keeps the overlay of each collection while the database does
// not change.
type overlayCache struct {
	mu sync.Mutex
	by map[string]cachedOverlay
}

type cachedOverlay struct {
	stamp   stamp
	overlay *overlay
}

var noOverlay = &overlay{}

func (c *overlayCache) get(ctx context.Context, sc *scope) (*overlay, error) {
	// All that is queued is applied: the state a palace is nearly always in.
	if sc.stamp.queueTop <= sc.position {
		return noOverlay, nil
	}
	c.mu.Lock()
	found, ok := c.by[sc.c.row.ID]
	c.mu.Unlock()
	if ok && found.stamp == sc.stamp {
		return found.overlay, nil
	}
	o, err := sc.buildOverlay(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]cachedOverlay{}
	}
	c.by[sc.c.row.ID] = cachedOverlay{sc.stamp, o}
	return o, nil
}

// pendingState follows one id through the queue.
type pendingState struct {
	stored int64 // number of the stored record, 0 for none
	live   bool
	fresh  bool // starts from nothing: what is stored does not count
	first  int64
	seqs   []int64
}

func (sc *scope) buildOverlay(ctx context.Context) (*overlay, error) {
	o := &overlay{}
	states := map[string]*pendingState{}
	var step []queueRow
	follow := func() error {
		if err := sc.lookUp(ctx, step, states); err != nil {
			return err
		}
		for _, r := range step {
			states[r.id].apply(r)
		}
		step = step[:0]
		return nil
	}
	err := sc.eachQueued(ctx, sc.position, func(r queueRow) error {
		if r.fault != "" {
			o.faults = append(o.faults, QueueFault{SeqID: r.seq, Kind: r.fault})
			return nil
		}
		// What the write says is read again when it is asked for.
		step = append(step, queueRow{seq: r.seq, op: r.op, id: r.id})
		if len(step) < idStep {
			return nil
		}
		return follow()
	})
	if err == nil {
		err = follow()
	}
	if err != nil {
		return nil, err
	}
	for id, st := range states {
		if st.stored != 0 && (!st.live || st.fresh || len(st.seqs) > 0) {
			o.hidden = append(o.hidden, st.stored)
		}
		switch {
		case st.live && st.fresh:
			o.fresh = append(o.fresh, &pendingRecord{first: st.first, id: id, seqs: st.seqs})
		case st.live && len(st.seqs) > 0:
			o.changed = append(o.changed, &pendingRecord{stored: st.stored, id: id, seqs: st.seqs})
		}
	}
	slices.Sort(o.hidden)
	o.hiddenJSON = o.hidden.json()
	slices.SortFunc(o.changed, func(a, b *pendingRecord) int { return cmp.Compare(a.stored, b.stored) })
	slices.SortFunc(o.fresh, func(a, b *pendingRecord) int { return cmp.Compare(a.first, b.first) })
	return o, nil
}

// apply follows the engine: an add of a live id and an update of one that is
// not there change nothing.
func (st *pendingState) apply(r queueRow) {
	switch {
	case r.op == OpDelete:
		st.live, st.fresh, st.seqs = false, false, nil
	case st.live && r.op != OpAdd:
		st.seqs = append(st.seqs, r.seq)
	case !st.live && r.op != OpUpdate:
		st.live, st.fresh, st.first, st.seqs = true, true, r.seq, []int64{r.seq}
	}
}

// lookUp starts the states of ids that were not met yet.
func (sc *scope) lookUp(ctx context.Context, step []queueRow, states map[string]*pendingState) error {
	var ids []string
	for _, r := range step {
		if states[r.id] == nil {
			states[r.id] = &pendingState{}
			ids = append(ids, r.id)
		}
	}
	return sc.storedRecords(ctx, ids, func(id string, n int64) {
		if st := states[id]; st != nil {
			st.stored, st.live = n, true
		}
	})
}

// materialize reads what pending records will hold: what is stored, with the
// waiting writes applied in order. The metadata has the reserved keys in it.
func (sc *scope) materialize(ctx context.Context, records []*pendingRecord) ([]backend.Metadata, error) {
	out := make([]backend.Metadata, len(records))
	var stored idSet
	writes := map[int64]int{} // sequence number → index
	for i, r := range records {
		if r.stored != 0 {
			stored = append(stored, r.stored)
		}
		for _, seq := range r.seqs {
			writes[seq] = i
		}
	}
	slices.Sort(stored)
	base, err := sc.metadataOf(ctx, stored, everyKey)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		if out[i] = base[r.stored]; out[i] == nil || r.stored == 0 {
			out[i] = backend.Metadata{}
		}
	}
	seqs := make(idSet, 0, len(writes))
	for seq := range writes {
		seqs = append(seqs, seq)
	}
	rows, err := sc.q.QueryContext(ctx, "SELECT seq_id, metadata FROM embeddings_queue WHERE seq_id IN (SELECT value FROM json_each(?)) ORDER BY seq_id", seqs.json())
	if err != nil {
		return nil, sc.c.damaged("embeddings_queue", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var metadata any
		if err := rows.Scan(&seq, &metadata); err != nil {
			return nil, err
		}
		r := queueRow{}
		if t := text(metadata); t != nil {
			if r.metadata, r.deleted, err = parseQueued(*t); err != nil {
				return nil, err
			}
		}
		r.apply(out[writes[seq]])
	}
	return out, sc.c.damaged("embeddings_queue", rows.Err())
}

// materializeStep bounds how many pending records are held at once.
const materializeStep = 256

// eachPending calls fn for the pending records that a filter lets through, in
// order, until fn answers false.
func (sc *scope) eachPending(ctx context.Context, records []*pendingRecord, f backend.Filter, fn func(*pendingRecord, backend.Metadata) (bool, error)) error {
	match, err := f.Compile()
	if err != nil {
		return err
	}
	for len(records) > 0 {
		step := records[:min(materializeStep, len(records))]
		records = records[len(step):]
		contents, err := sc.materialize(ctx, step)
		if err != nil {
			return err
		}
		for i, m := range contents {
			doc := text(m[documentKey])
			if !match(backend.Record{Document: doc, Metadata: m}) {
				continue
			}
			if more, err := fn(step[i], m); err != nil || !more {
				return err
			}
		}
	}
	return nil
}
