package chroma

import (
	"context"
	"database/sql"
	"errors"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"castellan/palace/chroma/fts5"
	"castellan/palace/dbfile"
)

// text compares the full-text index with the documents. The quick way decodes
// the index and never calls it damaged; where it has a doubt SQLite is asked,
// which takes several times as long and has the last word.
func (w *checkWork) text(ctx context.Context, c *DatabaseCheck) error {
	c.TextErr = w.db.View(ctx, func(tx *dbfile.Tx) (err error) {
		c.Text, err = readTextPresence(ctx, view{tx})
		return err
	})
	if c.TextErr != nil || !c.Text.Shadows {
		return ctx.Err()
	}
	quick := c.Text
	err := w.compareQuickly(ctx, &quick)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		c.Text, c.Text.Checked = quick, quick.Present
		if quick.Present {
			c.NotDone = append(c.NotDone, "the pages by which the full-text index skips through long lists")
		}
		return nil
	}
	if c.Text.Present {
		if c.Text.Damage, err = quickCheck(ctx, w.db, ftsTable); errors.Is(err, dbfile.ErrCorrupt) {
			c.Text.Damage, err = append(c.Text.Damage, err.Error()), nil
		}
		if err != nil {
			return err
		}
		c.Text.Checked = true
	}
	c.TextErr = w.db.View(ctx, func(tx *dbfile.Tx) (err error) {
		q := view{tx}
		if len(c.Text.Damage) > 0 {
			if c.Text.NULDocuments, err = countNULDocuments(ctx, q); err != nil {
				return err
			}
		}
		return compareText(ctx, q, &c.Text)
	})
	return ctx.Err()
}

// The tokenizer this program can stand in for.
const trigramTable = "fts5(string_value,tokenize='trigram')"

// compareQuickly does what compareText and SQLite's check of the index do, in
// one pass over each side. Any error means that they must do it.
//
// Each side has a view of its own. A write in between makes them differ, which
// is a doubt and no finding.
func (w *checkWork) compareQuickly(ctx context.Context, f *TextFacts) error {
	t := textComparison{work: w, f: f, seed: maphash.MakeSeed(), known: f.Present}
	err := w.db.View(ctx, func(tx *dbfile.Tx) error {
		var highest, count sql.NullInt64
		if err := tx.QueryRow(ctx, "SELECT max(id), count(*) FROM "+ftsTable+"_content", nil, &highest, &count); err != nil {
			return err
		}
		if f.Present {
			if err := supported(ctx, tx); err != nil {
				return err
			}
		}
		var err error
		if t.check, err = fts5.NewCheck(highest.Int64, count.Int64); err != nil {
			return err
		}
		t.sums = make([]uint64, highest.Int64+1)
		w.expect(3 * count.Int64)
		return nil
	})
	if err != nil {
		return err
	}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return w.db.View(gctx, func(tx *dbfile.Tx) error {
			for _, step := range []func(context.Context, *dbfile.Tx) error{t.contents, t.documents, t.sizes} {
				if err := step(gctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
	})
	group.Go(func() error {
		return w.db.View(gctx, func(tx *dbfile.Tx) error { return t.index(gctx, tx) })
	})
	if err := group.Wait(); err != nil || !t.known {
		return err
	}
	// An index that has never been written to has no totals yet.
	if err := t.check.Totals(t.totals); err != nil && !(len(t.totals) == 0 && t.rows == 0) {
		return err
	}
	if err := t.again(ctx); err != nil {
		return err
	}
	return t.check.Done()
}

type textComparison struct {
	work  *checkWork
	f     *TextFacts
	check *fts5.Check
	seed  maphash.Seed
	sums  []uint64 // of the index's own copy of each document, by row; 0: none
	known bool     // the index itself is compared too

	totals   []byte
	segments []fts5.Segment

	rows, texts, notIndexed, differing, met int64
}

// supported tells whether the index is made the way that is understood here.
func supported(ctx context.Context, tx *dbfile.Tx) error {
	var made string
	if err := tx.QueryRow(ctx, "SELECT CAST(sql AS TEXT) FROM sqlite_master WHERE name = ?", []any{ftsTable}, &made); err != nil {
		return err
	}
	if !strings.HasSuffix(strings.Map(unspaced, strings.ToLower(made)), trigramTable) {
		return &fts5.DoubtError{Reason: "it is made in another way"}
	}
	var odd int64
	err := tx.QueryRow(ctx, "SELECT count(*) FROM "+ftsTable+"_config WHERE k = 'version' AND v <> 4 OR k = 'secure-delete'", nil, &odd)
	if err == nil && odd > 0 {
		return &fts5.DoubtError{Reason: "its format is another one"}
	}
	return err
}

func unspaced(r rune) rune {
	switch r {
	case ' ', '\t', '\n', '\r':
		return -1
	case '"':
		return '\''
	}
	return r
}

// sum is never 0, which means that there is none.
func (t *textComparison) sum(text []byte) uint64 { return maphash.Bytes(t.seed, text) | 1 }

// each reads rows of a number and a text or block.
func (t *textComparison) each(ctx context.Context, tx *dbfile.Tx, query string, weight int64, take func(id int64, b []byte) error, args ...any) error {
	const batch = 1024
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id int64
	var b sql.RawBytes
	n := int64(0)
	for rows.Next() {
		if err := rows.Scan(&id, &b); err != nil {
			return err
		}
		if err := take(id, b); err != nil {
			return err
		}
		if n++; n%batch == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.work.step(batch * weight)
		}
	}
	return rows.Err()
}

// contents reads the index's own copies.
func (t *textComparison) contents(ctx context.Context, tx *dbfile.Tx) error {
	return t.each(ctx, tx, "SELECT id, c0 FROM "+ftsTable+"_content ORDER BY id", 1, func(id int64, b []byte) error {
		t.rows++
		if id < 0 {
			return &fts5.DoubtError{Reason: "a row number is negative"}
		}
		t.sums[id] = t.sum(b)
		if !t.known {
			return nil
		}
		return t.check.Text(id, b)
	})
}

// documents holds them against the documents. No index helps: each would be
// asked for every row.
func (t *textComparison) documents(ctx context.Context, tx *dbfile.Tx) error {
	err := t.each(ctx, tx, `SELECT id, string_value FROM embedding_metadata NOT INDEXED
		WHERE key = 'chroma:document' AND string_value IS NOT NULL`, 1, func(id int64, b []byte) error {
		t.texts++
		switch {
		case id < 0 || id >= int64(len(t.sums)) || t.sums[id] == 0:
			t.notIndexed++
		case t.sums[id] != t.sum(b):
			t.met++
			t.differing++
		default:
			t.met++
		}
		return nil
	})
	dead := t.rows - t.met
	f := t.f
	f.Documents, f.Rows, f.NotIndexed, f.Dead, f.Differing = &t.texts, &t.rows, &t.notIndexed, &dead, &t.differing
	return err
}

// sizes compares the lengths that the index keeps of every text.
func (t *textComparison) sizes(ctx context.Context, tx *dbfile.Tx) error {
	if !t.known {
		return nil
	}
	n := int64(0)
	err := t.each(ctx, tx, "SELECT id, sz FROM "+ftsTable+"_docsize", 0, func(id int64, b []byte) error {
		n++
		return t.check.Size(id, b)
	})
	if err == nil && n != t.rows {
		err = &fts5.DoubtError{Reason: "the length of a text is missing"}
	}
	return err
}

const oneBlock = "SELECT block FROM " + ftsTable + "_data WHERE id = ?"

// index decodes the index, segment by segment.
func (t *textComparison) index(ctx context.Context, tx *dbfile.Tx) error {
	if !t.known {
		return nil
	}
	var structure []byte
	if err := tx.QueryRow(ctx, oneBlock, []any{fts5.TotalsBlock}, &t.totals); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, oneBlock, []any{fts5.StructureBlock}, &structure); err != nil {
		return err
	}
	segments, err := fts5.Structure(structure)
	if err != nil {
		return err
	}
	for _, s := range segments {
		if err := t.segment(ctx, tx, s); err != nil {
			return err
		}
		if err := t.directory(ctx, tx, s); err != nil {
			return err
		}
	}
	t.segments = segments
	return nil
}

func (t *textComparison) segment(ctx context.Context, tx *dbfile.Tx, s fts5.Segment) error {
	t.check.Begin(s)
	from, to := s.Blocks()
	if err := t.each(ctx, tx, "SELECT id, block FROM "+ftsTable+"_data WHERE id BETWEEN ? AND ? ORDER BY id", 1, t.check.Leaf, from, to); err != nil {
		return err
	}
	return t.check.End()
}

func (t *textComparison) directory(ctx context.Context, tx *dbfile.Tx, s fts5.Segment) error {
	d := t.check.Directory(s)
	err := t.each(ctx, tx, "SELECT pgno, term FROM "+ftsTable+"_idx WHERE segid = ? ORDER BY term", 0, func(pgno int64, term []byte) error {
		return d.Entry(term, pgno)
	}, s.ID)
	if err != nil {
		return err
	}
	return d.End()
}

// again reads the segments once more, the newest first, if need be.
func (t *textComparison) again(ctx context.Context) error {
	if !t.check.Again() {
		return nil
	}
	return t.work.db.View(ctx, func(tx *dbfile.Tx) error {
		for _, s := range slices.Backward(t.segments) {
			if err := t.segment(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	})
}
