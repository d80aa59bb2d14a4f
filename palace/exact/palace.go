package exact

import (
	"context"
	"path/filepath"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// DatabaseFile is the name of the database inside a palace.
const DatabaseFile = "sqlite_exact.sqlite3"

// Options for Open; the zero value is good.
type Options struct {
	Database dbfile.Options
}

// Palace is an opened sqlite_exact palace. It is bound to the database file
// that it opened: when another file takes its place, every question fails with
// a *dbfile.StaleError, and the palace has to be opened anew.
type Palace struct {
	dir  string
	file *dbfile.Keeper
}

// Open opens the palace in dir for reading. It fails with what
// castellan/palace/dbfile says of the database file.
func Open(ctx context.Context, dir string, opts Options) (*Palace, error) {
	file, err := dbfile.Keep(ctx, filepath.Join(dir, DatabaseFile), opts.Database, func() error { return &ClosedError{Palace: dir} })
	if err != nil {
		return nil, err
	}
	return &Palace{dir: dir, file: file}, nil
}

// Kind is backend.SQLiteExact.
func (p *Palace) Kind() backend.Kind { return backend.SQLiteExact }

// Dir is the directory as it was given to Open.
func (p *Palace) Dir() string { return p.dir }

// DB is the handle of the database at this moment. The palace's own questions
// open the file again when it has changed under a handle that cannot see it,
// so the handle must not be kept.
func (p *Palace) DB() *dbfile.DB { return p.file.DB() }

// Collections lists what the palace holds, by name. A database without tables
// holds nothing yet.
func (p *Palace) Collections(ctx context.Context) ([]backend.CollectionInfo, error) {
	var list []backend.CollectionInfo
	err := p.view(ctx, func(q query) error {
		list = nil
		found, err := q.collections(ctx)
		for _, c := range found {
			list = append(list, c.info)
		}
		return err
	})
	return list, err
}

// Collection opens a view of one collection; it fails with a
// *backend.CollectionNotFoundError when there is none of that name.
func (p *Palace) Collection(ctx context.Context, name string) (backend.Collection, error) {
	c, err := p.collection(ctx, name)
	if err != nil {
		return nil, err // not a nil *Collection in an interface that is not nil
	}
	return c, nil
}

func (p *Palace) collection(ctx context.Context, name string) (*Collection, error) {
	c := &Collection{palace: p}
	err := p.view(ctx, func(q query) error {
		found, err := q.collection(ctx, name)
		c.info = found.info
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close refuses new questions, waits for those under way and lets go of every
// file.
func (p *Palace) Close() error { return p.file.Close(nil) }

// view runs do in one read transaction, or again on a file opened anew: do must
// start from nothing each time.
func (p *Palace) view(ctx context.Context, do func(query) error) error {
	return p.file.View(ctx, func(tx *dbfile.Tx) error {
		q, err := newQuery(ctx, lookTx{tx}, p.dir)
		if err != nil {
			return err
		}
		return do(q)
	})
}
