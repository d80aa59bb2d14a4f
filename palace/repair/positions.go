package repair

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"castellan/palace/chroma"
)

// positions puts right what the database says of how far each segment is.
type positions struct {
	fixes []fix
	// top is the number that the queue needs at its top again; 0 = it has it.
	top   int64
	topic string
}

// fix is one row of max_seq_id; value 0 removes it.
type fix struct {
	segment string
	value   int64
	words   string
}

// poisoned reports a position that no write can have had. Below 2^53 only the
// vector segment's claim can be refuted: it is never ahead of the others.
func (pt *patient) poisoned(seg chroma.Segment) bool {
	p := seg.MaxSeqID
	if p == nil || p.Storage != "integer" {
		return false
	}
	return p.Poisoned() || seg.Scope == chroma.ScopeVector && p.Value > max(pt.facts.HighestSeqID, pt.facts.HighestPosition)
}

// soundPosition is how far the stored drawers are: what is recorded, or, where
// that cannot be true, the highest number among them. Rows of the queue above
// it are replayed, which changes nothing where they were applied already.
func (pt *patient) soundPosition(c chroma.CollectionFacts) int64 {
	seg := c.Row.Segment(chroma.ScopeMetadata)
	switch {
	case seg == nil || seg.MaxSeqID == nil:
		return 0
	case pt.poisoned(*seg) || seg.MaxSeqID.Poisoned() || seg.MaxSeqID.Storage != "integer" && seg.MaxSeqID.Storage != "blob":
		if c.Applied == nil {
			return 0
		}
		return *c.Applied
	}
	return seg.MaxSeqID.Value
}

// soundFlushed is the last write that the live index contains; 0, from which
// all is replayed, where that is not known.
func (pt *patient) soundFlushed(c chroma.CollectionFacts) int64 {
	seg := c.Row.Segment(chroma.ScopeVector)
	switch {
	case seg == nil:
		return 0
	case seg.MaxSeqID == nil:
		if p := c.Index.Pickle; p != nil && p.MaxSeqID != nil {
			return *p.MaxSeqID
		}
		return 0
	case pt.poisoned(*seg) || seg.MaxSeqID.Poisoned():
		return 0
	}
	return seg.MaxSeqID.Value
}

func (x *positions) prepare(_ context.Context, pt *patient) (work, error) {
	w := work{estimate: time.Second}
	x.fixes, x.top = nil, 0
	highest, topic := int64(0), ""
	for _, c := range pt.facts.Collections {
		for _, seg := range c.Row.Segments {
			if seg.MaxSeqID == nil {
				continue
			}
			x.judge(pt, c, seg)
			if v := seg.MaxSeqID.Value; !pt.poisoned(seg) && !seg.MaxSeqID.Poisoned() && v > highest {
				highest, topic = v, c.Row.Topic()
			}
		}
		if p := pt.soundPosition(c); p > highest {
			highest, topic = p, c.Row.Topic()
		}
	}
	for _, f := range x.fixes {
		w.steps = append(w.steps, f.words)
	}
	if top := deref(pt.facts.Queue.Highest); highest > top {
		x.top, x.topic = highest, topic
		w.steps = append(w.steps, fmt.Sprintf("put an empty row with the number %d at the top of the queue, so that no number is given out twice", highest))
	}
	w.none = len(x.fixes) == 0 && x.top == 0
	w.touches = []string{pt.database()}
	return w, nil
}

func (x *positions) judge(pt *patient, c chroma.CollectionFacts, seg chroma.Segment) {
	pos := seg.MaxSeqID
	switch {
	case seg.Scope == chroma.ScopeVector && pt.poisoned(seg):
		x.fixes = append(x.fixes, fix{segment: seg.ID, words: fmt.Sprintf("%s: remove the position %d of the vector segment, so that Chroma replays its queue", c.Row.Name, pos.Value)})
	case seg.Scope == chroma.ScopeVector && pos.Value > 0 && !c.Index.Flushed() && c.Index.PickleErr == nil:
		// The most dangerous state there is: the purge goes by this position, and
		// what it deletes is the only copy.
		x.fixes = append(x.fixes, fix{segment: seg.ID, words: fmt.Sprintf("%s: remove the position %d of the vector segment, which has no index to go with it", c.Row.Name, pos.Value)})
	case seg.Scope == chroma.ScopeMetadata && pt.poisoned(seg):
		v := pt.soundPosition(c)
		x.fixes = append(x.fixes, fix{segment: seg.ID, value: v, words: fmt.Sprintf("%s: set the position of the metadata segment from %d to %d, the newest drawer's", c.Row.Name, pos.Value, v)})
	}
}

func (x *positions) perform(ctx context.Context, pt *patient, run *running) error {
	if err := run.phase("put the positions right", false); err != nil {
		return err
	}
	if err := run.at("positions"); err != nil {
		return err
	}
	return run.mend(ctx, pt, func(m *chroma.Mending) error {
		for _, f := range x.fixes {
			var err error
			if f.value == 0 {
				_, err = m.Exec("DELETE FROM max_seq_id WHERE segment_id = ?", f.segment)
			} else {
				_, err = m.Exec("UPDATE max_seq_id SET seq_id = ? WHERE segment_id = ?", f.value, f.segment)
			}
			if err != nil {
				return err
			}
		}
		if x.top == 0 {
			return nil
		}
		// A delete of an id that nothing has: every engine passes over it.
		_, err := m.Exec("INSERT INTO embeddings_queue (seq_id, operation, topic, id, vector, encoding, metadata) VALUES (?, 3, ?, 'castellan-top', NULL, NULL, '{}')", x.top, x.topic)
		return err
	})
}

// highest is the highest number that was ever given out, as far as can be told.
func highest(ctx context.Context, m *chroma.Mending) (int64, error) {
	top, _, err := m.Number("SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue")
	if err != nil {
		return 0, err
	}
	err = m.Each(ctx, "SELECT seq_id FROM max_seq_id", nil, 1, func(row []any) error {
		switch v := row[0].(type) {
		case int64:
			if !(chroma.SeqID{Value: v}).Poisoned() {
				top = max(top, v)
			}
		case []byte:
			if len(v) == 8 {
				if n := int64(binary.BigEndian.Uint64(v)); !(chroma.SeqID{Value: n}).Poisoned() {
					top = max(top, n)
				}
			}
		}
		return nil
	})
	return top, err
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
