package repair

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"castellan/palace/chroma"
)

// blobs turns numbers that chromadb 0.6 and older stored as 8 bytes, the high
// one first, into integers, which is what Chroma 1.x reads.
type blobs struct {
	fixes []fix
	rows  int64
}

func (x *blobs) prepare(_ context.Context, pt *patient) (work, error) {
	w := work{estimate: time.Second, touches: []string{pt.database()}}
	x.fixes, x.rows = nil, deref(pt.facts.BlobSeqIDs)
	for _, c := range pt.facts.Collections {
		for _, seg := range c.Row.Segments {
			pos := seg.MaxSeqID
			if pos == nil || pos.Storage == "integer" {
				continue
			}
			f := fix{segment: seg.ID, value: pos.Value}
			if pos.Storage != "blob" || pos.Poisoned() {
				// Removed for vectors: all is replayed. For metadata the drawers tell.
				f.value = 0
				if seg.Scope == chroma.ScopeMetadata {
					f.value = pt.soundPosition(c)
				}
			}
			f.words = fmt.Sprintf("%s: store the position of the %s segment as the integer %d", c.Row.Name, seg.Scope, f.value)
			x.fixes = append(x.fixes, f)
			w.steps = append(w.steps, f.words)
		}
	}
	if x.rows > 0 {
		w.steps = append(w.steps, fmt.Sprintf("store the numbers of %s as integers", count(x.rows, "drawer", "drawers")))
	}
	w.bytes = 64 * x.rows
	w.none = len(x.fixes) == 0 && x.rows == 0
	return w, nil
}

func (x *blobs) perform(ctx context.Context, pt *patient, run *running) error {
	if err := run.phase("store numbers as integers", false); err != nil {
		return err
	}
	if err := run.at("blobs"); err != nil {
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
		return convert(ctx, m)
	})
}

// convert goes through the drawers step by step: nothing is read while it is
// written.
func convert(ctx context.Context, m *chroma.Mending) error {
	type number struct{ row, seq int64 }
	for after := int64(-1); ; {
		var step []number
		err := m.Each(ctx, "SELECT id, seq_id FROM embeddings WHERE id > ? AND typeof(seq_id) = 'blob' ORDER BY id LIMIT 5000", []any{after}, 2, func(row []any) error {
			id, _ := row[0].(int64)
			after = id
			// Other lengths are no numbers of Chroma's; nothing in 1.5 reads them.
			if b, ok := row[1].([]byte); ok && len(b) == 8 {
				step = append(step, number{id, int64(binary.BigEndian.Uint64(b))})
			} else {
				step = append(step, number{id, 0})
			}
			return nil
		})
		if err != nil || len(step) == 0 {
			return err
		}
		for _, n := range step {
			if _, err := m.Exec("UPDATE embeddings SET seq_id = ? WHERE id = ?", n.seq, n.row); err != nil {
				return err
			}
		}
	}
}
