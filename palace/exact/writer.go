package exact

import (
	"context"
	"fmt"

	"castellan/palace/backend"
)

// Writer is a collection that can be changed. Each call is one transaction:
// when it fails, nothing of it is in the database.
type Writer struct {
	*Collection
	to *Writable
}

// Add files records whose ids are new; an id that is known refuses the call
// with a *backend.InvalidRecordError. The first write fixes the collection's
// dimension, after which another one is a *DimensionMismatchError.
func (w *Writer) Add(ctx context.Context, list []backend.Record) error {
	return w.file(ctx, list, false)
}

// Upsert files records as MemPalace's exact backend does: a record that is
// known is replaced, its metadata as a whole too, and keeps nothing but its
// place in the order and its created_at. Use Update to merge.
func (w *Writer) Upsert(ctx context.Context, list []backend.Record) error {
	return w.file(ctx, list, true)
}

const (
	insertDocument = `INSERT INTO documents
		(collection_id, id, document, metadata_json, embedding, dim, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	replaceDocument = insertDocument + `
		ON CONFLICT(collection_id, id) DO UPDATE SET
			document = excluded.document,
			metadata_json = excluded.metadata_json,
			embedding = excluded.embedding,
			dim = excluded.dim,
			updated_at = excluded.updated_at`
	insertFullText = "INSERT INTO docs_fts(collection_id, doc_id, document) VALUES (?, ?, ?)"
)

func (w *Writer) file(ctx context.Context, list []backend.Record, replace bool) error {
	if err := w.checkRecords(list); err != nil {
		return err
	}
	statement := insertDocument
	if replace {
		statement = replaceDocument
	}
	return w.write(ctx, len(list), func(tx *writeTx, q query, in collection) error {
		if err := w.fixDimension(tx, in, len(list[0].Embedding), 0, list[0].ID); err != nil {
			return err
		}
		ids := make([]string, len(list))
		for i, r := range list {
			ids[i] = r.ID
		}
		if !replace {
			if err := refuseKnown(ctx, q, in, ids); err != nil {
				return err
			}
		}
		// Also for ids that are new: a SQLite without FTS5 may have deleted the document and left its text.
		if err := tx.dropFullText(ctx, in.id, ids); err != nil {
			return err
		}
		for _, r := range list {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("writing to %q: %w", tx.path, err)
			}
			_, err := tx.again("filing a record in", statement, in.id, r.ID, *r.Document, string(encode(r.Metadata)),
				encodeVector(r.Embedding), len(r.Embedding), tx.now, tx.now)
			if err != nil {
				return err
			}
			if _, err := tx.again("filing a record in", insertFullText, in.id, r.ID, *r.Document); err != nil {
				return err
			}
		}
		return nil
	})
}

// refuseKnown names the first id that is filed already.
func refuseKnown(ctx context.Context, q query, in collection, ids []string) error {
	s := scan{query: q, in: in, filter: backend.Filter{IDs: ids}, condition: condition{exact: true}, after: first}
	known := map[string]bool{}
	if err := s.run(ctx, func(r row) bool { known[r.id] = true; return true }); err != nil {
		return err
	}
	for i, id := range ids {
		if known[id] {
			return &backend.InvalidRecordError{ID: id, Index: i, Reason: "its id is filed already; use Upsert to replace the record"}
		}
	}
	return nil
}

// Delete removes the records that match, with their full text, and says how
// many there were. A filter of nothing is refused.
func (w *Writer) Delete(ctx context.Context, f backend.Filter) (n int64, err error) {
	if f.IsZero() {
		return 0, fmt.Errorf("%s: collection %q: deleting everything needs a filter that says so, or DeleteCollection", w.to.dir, w.info.Name)
	}
	if err := refuse(f); err != nil {
		return 0, err
	}
	err = w.write(ctx, 1, func(tx *writeTx, q query, in collection) error {
		n = 0
		s := scan{query: q, in: in, filter: f, condition: q.push(f), after: first}
		var ids []string
		// All ids first: a scan that runs while rows go may miss some.
		if err := s.run(ctx, func(r row) bool { ids = append(ids, r.id); return true }); err != nil {
			return err
		}
		if err := tx.dropFullText(ctx, in.id, ids); err != nil {
			return err
		}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("deleting from %q: %w", tx.path, err)
			}
			res, err := tx.again("deleting from", "DELETE FROM documents WHERE collection_id = ? AND id = ?", in.id, id)
			if err != nil {
				return err
			}
			gone, err := res.RowsAffected()
			if err != nil {
				return err
			}
			n += gone
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// SetEmbedder records the name of the model that the collection's vectors come
// from. An empty name changes nothing, as in MemPalace.
func (w *Writer) SetEmbedder(ctx context.Context, model string) error {
	if model == "" {
		return nil
	}
	return w.write(ctx, 1, func(tx *writeTx, _ query, _ collection) error {
		return tx.setMeta(embedderKey(w.info.Name), model)
	})
}

// write runs do with the collection as it is now. A call of no records changes
// nothing, but fails as others would where the palace is closed.
func (w *Writer) write(ctx context.Context, records int, do func(*writeTx, query, collection) error) error {
	if records == 0 {
		_, err := w.to.Writer(ctx, w.info.Name)
		return err
	}
	return w.to.write(ctx, func(tx *writeTx, q query) error {
		in, err := q.collection(ctx, w.info.Name)
		if err != nil {
			return err
		}
		return do(tx, q, in)
	})
}

// fixDimension holds a vector's length against the collection's, or makes it
// that of the collection if none is recorded yet.
func (w *Writer) fixDimension(tx *writeTx, in collection, got, index int, id string) error {
	if in.info.Dimension != nil && *in.info.Dimension != got {
		return w.mismatch(*in.info.Dimension, got, index, id)
	}
	return tx.exec("fixing the dimension in", "UPDATE collections SET dimension = ? WHERE id = ? AND dimension IS NULL", got, in.id)
}
