package chroma

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// DeleteCollection removes a collection's rows wherever they are, list
// metadata and waiting writes included, and then its index directory. It wants
// the palace to itself: a process that has the collection loaded would go on
// writing rows that belong to nothing.
//
// A palace whose positions are poisoned or whose index is lost may be deleted
// from: it is a way out.
func (w *Writable) DeleteCollection(ctx context.Context, name string) error {
	var dirs []string
	err := w.writeTo(ctx, func(tx *writeTx) error {
		f, err := w.stand(ctx, tx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(f.rows, func(r CollectionRow) bool { return r.Name == name })
		if i < 0 {
			return notFound(w.dir, name, f.rows)
		}
		alone, err := w.alone(ctx)
		if err != nil {
			return err
		}
		if !alone {
			return w.refuse(name, RefusedInUse, "another process may have the palace open")
		}
		if err := f.checkTexts(ctx, f.rows[i]); err != nil {
			return err
		}
		dirs = f.rows[i].indexes()
		return f.drop(f.rows[i])
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, segment := range dirs {
		errs = append(errs, w.removeIndex(segment))
	}
	if err := errors.Join(append(errs, w.removeMarked())...); err != nil {
		return &RefusedError{Palace: w.dir, Collection: name, Reason: RefusedLeftBehind,
			Detail: fmt.Sprintf("the collection is deleted, but index files are left: %v", err), Err: err}
	}
	return nil
}

// indexes are the ids of the collection's vector segments, which their
// directories are named by.
func (r CollectionRow) indexes() []string {
	var ids []string
	for _, s := range r.Segments {
		if s.Scope == ScopeVector && plainUUID.MatchString(s.ID) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// checkTexts refuses a collection whose full-text rows we could not remove as
// Chroma indexed them.
func (f *footing) checkTexts(ctx context.Context, r CollectionRow) error {
	rows, err := f.tx.QueryContext(ctx, "SELECT string_value FROM "+ftsTable+` WHERE rowid IN (SELECT e.id FROM embeddings e
		JOIN segments s ON s.id = e.segment_id WHERE s.collection = ?)`, r.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var doc any
		if err := rows.Scan(&doc); err != nil {
			return err
		}
		if isForeignText(textOr(doc, "")) {
			return f.w.refuse(r.Name, RefusedText, "a document in it has a NUL or is not UTF-8, which Chroma's full-text index splits otherwise than ours would")
		}
	}
	return rows.Err()
}

// drop deletes rows, owners last: the statements find what belongs to the
// collection by them. No foreign key does it (Chroma switches them off).
func (f *footing) drop(r CollectionRow) error {
	const (
		segments = "SELECT id FROM segments WHERE collection = ?1"
		records  = "SELECT id FROM embeddings WHERE segment_id IN (" + segments + ")"
	)
	var statements []struct{ table, where string }
	for _, t := range recordTables {
		statements = append(statements, struct{ table, where string }{t.name, t.key + " IN (" + records + ")"})
	}
	statements = append(statements, []struct{ table, where string }{
		{"embeddings", "segment_id IN (" + segments + ")"},
		{"max_seq_id", "segment_id IN (" + segments + ")"},
		{"segment_metadata", "segment_id IN (" + segments + ")"},
		{"segments", "collection = ?1"},
		{"collection_metadata", "collection_id = ?1"},
		{"collections", "id = ?1"},
	}...)
	for _, s := range statements {
		if err := f.tx.exec(s.table, "DELETE FROM "+s.table+" WHERE "+s.where, r.ID); err != nil {
			return err
		}
	}
	return f.dropQueued(r)
}

// dropQueued deletes the collection's queue rows. The queue's top row stays,
// emptied, where a position of another collection lies above what would be
// left: SQLite gives the number behind the top row to the next write, and a
// write that gets one below a position is acknowledged and purged unseen.
func (f *footing) dropQueued(r CollectionRow) error {
	topic := r.Topic()
	if err := f.tx.exec("embeddings_queue", "DELETE FROM embeddings_queue WHERE topic = ? AND seq_id < ?", topic, f.queueTop); err != nil {
		return err
	}
	left, _, err := f.tx.number("embeddings_queue", "SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue WHERE topic <> ?", topic)
	if err != nil {
		return err
	}
	highest, err := f.tx.highestPosition()
	if err != nil {
		return err
	}
	if left >= highest {
		return f.tx.exec("embeddings_queue", "DELETE FROM embeddings_queue WHERE topic = ?", topic)
	}
	return f.tx.exec("embeddings_queue", "UPDATE embeddings_queue SET operation = ?, id = 'deleted', vector = NULL, encoding = NULL, metadata = '{}' WHERE topic = ?",
		int64(OpDelete), topic)
}

// removedSuffix marks a directory on its way out. The rename takes it from
// under the engine's eyes at once; what a crash leaves names itself, and goes
// with the next.
const removedSuffix = ".removed"

func (w *Writable) removeIndex(segment string) error {
	dir := filepath.Join(w.dir, segment)
	if err := w.indexes.drop(dir); err != nil {
		return err
	}
	err := os.Rename(dir, dir+removedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // never loaded by anybody
	}
	return err
}

func (w *Writable) removeMarked() error {
	list, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range list {
		if segment, ok := strings.CutSuffix(e.Name(), removedSuffix); ok && plainUUID.MatchString(segment) {
			errs = append(errs, os.RemoveAll(filepath.Join(w.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// drop lets go of the index in dir, which must not be asked for again.
func (c *indexCache) drop(dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ix := c.by[dir]
	if ix == nil {
		return nil
	}
	delete(c.by, dir)
	ix.old = true
	return ix.closeIfUnused()
}

var _ backend.Maker = (*Writable)(nil)
