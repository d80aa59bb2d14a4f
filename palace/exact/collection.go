package exact

import (
	"context"
	"errors"
	"strings"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// Collection is a view of one collection, found by its name with each
// question: one that was deleted and made again under its name is the new one.
type Collection struct {
	palace *Palace
	info   backend.CollectionInfo
}

// Info is what was known when the view was opened.
func (c *Collection) Info() backend.CollectionInfo { return c.info }

// ask runs do in one read transaction, with the collection as it is now.
func (c *Collection) ask(ctx context.Context, do func(query, collection) error) error {
	return c.palace.view(ctx, func(q query) error {
		found, err := q.collection(ctx, c.info.Name)
		if err == nil {
			err = do(q, found)
		}
		if errors.Is(err, dbfile.ErrCorrupt) {
			return &backend.DamagedError{Path: q.path(), Part: "documents of " + c.info.Name, Err: err}
		}
		return err
	})
}

// Count is exact.
func (c *Collection) Count(ctx context.Context, f backend.Filter) (int64, error) {
	if err := refuse(f); err != nil {
		return 0, err
	}
	var n int64
	err := c.ask(ctx, func(q query, in collection) (err error) {
		n = 0
		cond := q.push(f)
		if cond.exact {
			text := "SELECT count(*) FROM documents WHERE collection_id = ?"
			if cond.sql != "" {
				text += " AND " + cond.sql
			}
			n, err = q.number(ctx, text, append([]any{in.id}, cond.args...)...)
			return err
		}
		s := scan{query: q, in: in, filter: f, condition: cond, after: first}
		return s.run(ctx, func(row) bool { n++; return true })
	})
	return n, err
}

// defaultPage is the number of records in a page when none is asked for, and
// pageBytes is where a page ends early: one may hold large documents.
const (
	defaultPage = 200
	pageBytes   = 32 << 20
)

// Get answers in the order of insertion, SQLite's rowid.
func (c *Collection) Get(ctx context.Context, want backend.Query) (backend.Page, error) {
	if err := refuse(want.Filter); err != nil {
		return backend.Page{}, err
	}
	after, err := parseAfter(want.After)
	if err != nil {
		return backend.Page{}, err
	}
	limit := want.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	var page backend.Page
	err = c.ask(ctx, func(q query, in collection) error {
		page = backend.Page{}
		s := scan{query: q, in: in, filter: want.Filter, condition: q.push(want.Filter), include: want.Include, after: after}
		skip, bytes := max(want.Offset, 0), 0
		if s.condition.exact {
			s.offset, s.limit, skip = skip, limit+1, 0
		}
		var last int64
		return s.run(ctx, func(r row) bool {
			if skip > 0 {
				skip--
				return true
			}
			if len(page.Records) == limit || bytes > pageBytes {
				page.Next = formatAfter(last)
				return false
			}
			last = r.rowid
			bytes += r.bytes
			page.Records = append(page.Records, r.record(want.Include))
			return true
		})
	})
	return page, err
}

// row is one document as it is stored.
type row struct {
	rowid    int64
	id       string
	document *string
	metadata []byte
	// vector is nil when it was not asked for or has not the right length.
	vector []byte
	bytes  int
}

func (r row) record(include backend.Include) backend.Record {
	rec := backend.Record{ID: r.id}
	if include.Has(backend.Documents) {
		rec.Document = r.document
	}
	if include.Has(backend.Metadatas) {
		rec.Metadata = metadata(decode(r.metadata))
	}
	if include.Has(backend.Embeddings) {
		rec.Embedding = vector(r.vector)
	}
	return rec
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return strings.Clone(string(v)), true
	}
	return "", false
}
