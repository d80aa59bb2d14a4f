package exact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"castellan/palace/backend"
)

// Create makes an empty palace in dir, the directory too if there is none, and
// opens it. What is there already stays as it is, so that a Create that was
// interrupted can be repeated; but the directory is closed to others, as
// MemPalace closes it with every open that may create.
func Create(ctx context.Context, dir string, opts Options, w Writing) (*Writable, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a palace: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("closing the palace to others: %w", err)
	}
	path := filepath.Join(dir, DatabaseFile)
	// SQLite would make the file as open as the umask lets it, and gives its sidecars the mode of the file. Closing the
	// descriptor drops no locks: the file was not there a moment ago, and the palace lock keeps others from it.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		err = f.Close()
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("making a palace: %w", err)
	}
	writing := (&Palace{}).Writable(w).writing
	err = writing.run(ctx, path, func(tx *writeTx) error {
		_, err := tx.ensureSchema(ctx, dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	return p.Writable(w), nil
}

// CreateCollection makes an empty collection. Its distance is cosine and it has
// no index, so any other space, index parameters and metadata are refused with
// a *NotKeptError.
func (w *Writable) CreateCollection(ctx context.Context, c backend.NewCollection) (backend.Writer, error) {
	if c.Name == "" || !utf8.ValidString(c.Name) {
		return nil, fmt.Errorf("%s: %q cannot be the name of a collection; give it one in UTF-8", w.dir, c.Name)
	}
	if c.Dimension < 0 || c.Dimension > maxDimension {
		return nil, fmt.Errorf("%s: collection %q: vectors of %d floats; 0 lets the first write decide, %d are the most", w.dir, c.Name, c.Dimension, maxDimension)
	}
	refused := ""
	switch {
	case c.Space != "" && c.Space != "cosine":
		refused = fmt.Sprintf("distances of the space %q", c.Space)
	case c.HNSW != (backend.HNSWParams{}):
		refused = "index parameters"
	case len(c.Metadata) > 0:
		refused = "metadata of a collection"
	}
	if refused != "" {
		return nil, &NotKeptError{Palace: w.dir, Collection: c.Name, What: refused}
	}
	err := w.write(ctx, func(tx *writeTx, q query) error {
		_, err := q.collection(ctx, c.Name)
		var missing *backend.CollectionNotFoundError
		switch {
		case err == nil:
			return &backend.ExistsError{Palace: w.dir, Name: c.Name}
		case !errors.As(err, &missing):
			return err
		}
		var dimension any
		if c.Dimension > 0 {
			dimension = c.Dimension
		}
		err = tx.exec("adding a collection to", "INSERT INTO collections(name, dimension, created_at) VALUES (?, ?, ?)", c.Name, dimension, tx.now)
		if err != nil || c.Embedder == "" {
			return err
		}
		return tx.setMeta(embedderKey(c.Name), c.Embedder)
	})
	if err != nil {
		return nil, err
	}
	writer, err := w.Writer(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	return writer, nil
}

// DeleteCollection removes a collection with its documents. The name of its
// embedding model stays recorded, as MemPalace leaves it: a collection that is
// made again under the name is held against it.
func (w *Writable) DeleteCollection(ctx context.Context, name string) error {
	return w.write(ctx, func(tx *writeTx, q query) error {
		c, err := q.collection(ctx, name)
		if err != nil {
			return err
		}
		for _, s := range []string{
			"DELETE FROM docs_fts WHERE collection_id = ?",
			"DELETE FROM documents WHERE collection_id = ?",
			"DELETE FROM collections WHERE id = ?",
		} {
			if err := tx.exec("removing a collection from", s, c.id); err != nil {
				return err
			}
		}
		return nil
	})
}

func embedderKey(collection string) string { return "embedder_model:" + collection }
