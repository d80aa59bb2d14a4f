package chroma

import (
	"context"
	"fmt"
	"path/filepath"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// DatabaseFile is the name of Chroma's database inside a palace.
const DatabaseFile = "chroma.sqlite3"

// Options for Open; the zero value is good.
type Options struct {
	Database dbfile.Options
}

// Palace is an opened Chroma directory. It is bound to the database file that
// it opened: when another file takes its place, every question fails with a
// *dbfile.StaleError, and the palace has to be opened anew.
type Palace struct {
	dir  string
	file *dbfile.Keeper

	shapes   shapeCache
	sets     setCache
	overlays overlayCache
	indexes  indexCache
	replays  replayCache
}

// Open opens the palace in dir for reading. It fails with what
// castellan/palace/dbfile says of the database file.
func Open(ctx context.Context, dir string, opts Options) (*Palace, error) {
	closed := func() error { return fmt.Errorf("%s: %w", dir, backend.ErrClosed) }
	file, err := dbfile.Keep(ctx, filepath.Join(dir, DatabaseFile), opts.Database, closed)
	if err != nil {
		return nil, err
	}
	return &Palace{dir: dir, file: file}, nil
}

// Kind is backend.Chroma.
func (p *Palace) Kind() backend.Kind { return backend.Chroma }

// Dir is the directory as it was given to Open.
func (p *Palace) Dir() string { return p.dir }

// DB is the handle of the database at this moment. A view may answer with a
// *dbfile.StaleError; the palace's own questions open the file again then, so
// the handle must not be kept.
func (p *Palace) DB() *dbfile.DB { return p.file.DB() }

// Catalog lists the collections by name, with their segments.
func (p *Palace) Catalog(ctx context.Context) ([]CollectionRow, error) {
	var list []CollectionRow
	err := p.view(ctx, func(q querier, s shape) (err error) {
		list, err = readCatalog(ctx, q, s, p.dir)
		return err
	})
	return list, err
}

// Collections lists what the palace holds, by name.
func (p *Palace) Collections(ctx context.Context) ([]backend.CollectionInfo, error) {
	rows, err := p.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]backend.CollectionInfo, len(rows))
	for i, r := range rows {
		list[i] = r.Info()
	}
	return list, nil
}

// Close refuses new questions, waits for those under way and lets go of every
// file.
func (p *Palace) Close() error { return p.file.Close(p.indexes.close) }

// view runs do in one read transaction. When the file has changed in a way
// that needs another way of reading, it is opened again and do runs once more:
// do must start from nothing each time.
func (p *Palace) view(ctx context.Context, do func(q querier, s shape) error) error {
	return p.file.View(ctx, func(tx *dbfile.Tx) error {
		q := view{tx}
		s, err := p.shapes.read(ctx, q)
		if err != nil {
			return err
		}
		return do(q, s)
	})
}
