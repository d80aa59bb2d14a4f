package exact

import (
	"context"
	"fmt"

	"castellan/palace/backend"
)

// Update changes what each Change names, merging metadata key by key, and
// passes over ids that are not filed. Where only metadata changes, document,
// vector and full text are not rewritten.
func (w *Writer) Update(ctx context.Context, list []backend.Change) error {
	if err := w.checkChanges(list); err != nil {
		return err
	}
	return w.write(ctx, len(list), func(tx *writeTx, q query, in collection) error {
		found, err := storedMetadata(ctx, q, in, list)
		if err != nil {
			return err
		}
		if err := w.fixChanged(tx, in, list, found); err != nil {
			return err
		}
		var rewritten []string
		for _, c := range list {
			if _, ok := found[c.ID]; ok && c.Document != nil {
				rewritten = append(rewritten, c.ID)
			}
		}
		if err := tx.dropFullText(ctx, in.id, rewritten); err != nil {
			return err
		}
		for i, c := range list {
			stored, ok := found[c.ID]
			if !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("updating %q: %w", tx.path, err)
			}
			if err := tx.change(in.id, i, c, stored); err != nil {
				return err
			}
		}
		return nil
	})
}

// storedMetadata reads the metadata of those that are filed, by id.
func storedMetadata(ctx context.Context, q query, in collection, list []backend.Change) (map[string][]byte, error) {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	s := scan{query: q, in: in, filter: backend.Filter{IDs: ids}, condition: condition{exact: true}, include: backend.Metadatas, after: first}
	found := make(map[string][]byte, len(list))
	return found, s.run(ctx, func(r row) bool { found[r.id] = r.metadata; return true })
}

// fixChanged holds the first vector that will be written against the
// collection; the others have its length.
func (w *Writer) fixChanged(tx *writeTx, in collection, list []backend.Change, found map[string][]byte) error {
	for i, c := range list {
		if _, ok := found[c.ID]; ok && c.Embedding != nil {
			return w.fixDimension(tx, in, len(c.Embedding), i, c.ID)
		}
	}
	return nil
}

func (t *writeTx) change(collection int64, index int, c backend.Change, stored []byte) error {
	text, args := "UPDATE documents SET updated_at = ?", []any{t.now}
	if c.Document != nil {
		text, args = text+", document = ?", append(args, *c.Document)
	}
	if c.Metadata != nil || len(c.Unset) > 0 {
		meta, err := merged(stored, c.Metadata, c.Unset)
		if err != nil {
			return &backend.InvalidRecordError{ID: c.ID, Index: index, Reason: err.Error()}
		}
		text, args = text+", metadata_json = ?", append(args, string(meta))
	}
	if c.Embedding != nil {
		text, args = text+", embedding = ?, dim = ?", append(args, encodeVector(c.Embedding), len(c.Embedding))
	}
	if _, err := t.again("updating", text+" WHERE collection_id = ? AND id = ?", append(args, collection, c.ID)...); err != nil {
		return err
	}
	if c.Document == nil {
		return nil
	}
	_, err := t.again("updating", insertFullText, collection, c.ID, *c.Document)
	return err
}
