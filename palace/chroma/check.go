package chroma

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"castellan/palace/dbfile"
)

// DatabaseCheck is what a reading of the whole database found.
type DatabaseCheck struct {
	// Damage is what SQLite's quick check says of tables and indexes, the
	// b-trees named; empty when all is well.
	Damage []string
	// Text compares the full-text index with the documents.
	Text TextFacts
	// TextErr says why the comparison could not be made.
	TextErr error
	// NotDone names what SQLite's full check would have looked at besides.
	NotDone []string
}

// maxMessages bounds what is kept of a check: a damaged file can have a fault
// on every page.
const maxMessages = 50

// Check says how CheckDatabase goes about it.
type Check struct {
	// Copied puts the questions to a private copy under Dir, so that nobody who
	// writes has to wait for them; else they hold readers' locks while they last.
	Copied bool
	Dir    string
	// Progress, if set, is told from time to time how many of how many units of
	// work are done. It may be called from several goroutines at once.
	Progress func(done, total int64)
}

// CheckDatabase reads the whole database: every page of every b-tree, and the
// full-text index against the texts.
func (p *Palace) CheckDatabase(ctx context.Context, o Check) (DatabaseCheck, error) {
	if err := p.file.Enter(); err != nil {
		return DatabaseCheck{}, err
	}
	defer p.file.Leave()
	db := p.DB()
	if o.Copied {
		snap, err := db.Snapshot(ctx, o.Dir)
		if err != nil {
			return DatabaseCheck{}, err
		}
		defer snap.Close()
		db = snap
	}
	var c DatabaseCheck
	names, err := rootPages(ctx, db)
	if err != nil && !errors.Is(err, dbfile.ErrCorrupt) {
		return c, err
	}
	w := &checkWork{db: db, names: names, told: o.Progress}
	tables, err := checkedTables(ctx, db)
	if err != nil && !errors.Is(err, dbfile.ErrCorrupt) {
		return c, err
	}
	// Pages and texts are read side by side: each is bound by one processor.
	group, gctx := errgroup.WithContext(ctx)
	var messages []string
	group.Go(func() (err error) { messages, err = w.pages(gctx, tables); return err })
	group.Go(func() error { return w.text(gctx, &c) })
	if err := group.Wait(); err != nil {
		return c, err
	}
	for _, m := range messages {
		if isTextMessage(m) {
			c.Text.Damage = append(c.Text.Damage, m)
		} else {
			c.Damage = append(c.Damage, nameTree(m, names))
		}
	}
	if len(tables) > 0 {
		c.NotDone = append(c.NotDone, "whether two b-trees claim the same page, or nobody claims one")
	}
	return c, nil
}

// checkWork is one check under way.
type checkWork struct {
	db    *dbfile.DB
	names map[string]string
	told  func(done, total int64)

	done, total atomic.Int64
}

// expect and step count work.
func (w *checkWork) expect(n int64) { w.total.Add(n) }

func (w *checkWork) step(n int64) {
	done := w.done.Add(n)
	if w.told != nil {
		w.told(done, max(done, w.total.Load()))
	}
}

// checkedTables are the tables to check one by one, the schema first: with it
// goes the list of free pages.
func checkedTables(ctx context.Context, db *dbfile.DB) ([]string, error) {
	var list []string
	err := db.View(ctx, func(tx *dbfile.Tx) error {
		list = []string{"sqlite_schema"}
		rows, err := tx.Query(ctx, "SELECT CAST(name AS TEXT) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			list = append(list, name)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// pageWeight is what a page counts beside a text in progress: some microseconds
// each.
const pageWeight = 1

// pages is SQLite's quick check, table by table. The check of all at once would
// sort the whole full-text index on the way, which takes ten times as long; that
// index has a comparison of its own. Without a list of tables it is the check of
// all.
func (w *checkWork) pages(ctx context.Context, tables []string) ([]string, error) {
	var messages []string
	if len(tables) == 0 {
		found, err := w.db.QuickCheck(ctx, maxMessages)
		if errors.Is(err, dbfile.ErrCorrupt) {
			return append(found, err.Error()), nil
		}
		return found, err
	}
	pages := w.db.Facts().Pages()
	w.expect(pages * pageWeight)
	for i, table := range tables {
		found, err := quickCheck(ctx, w.db, table)
		if errors.Is(err, dbfile.ErrCorrupt) {
			found, err = append(found, err.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		messages = append(messages, found...)
		w.step(pages*int64(i+1)/int64(len(tables)) - pages*int64(i)/int64(len(tables)))
	}
	slices.Sort(messages)
	messages = slices.Compact(messages)
	return messages[:min(len(messages), maxMessages)], nil
}

func quickCheck(ctx context.Context, db *dbfile.DB, table string) ([]string, error) {
	var found []string
	err := db.View(ctx, func(tx *dbfile.Tx) error {
		found = nil
		// Sorted, since a statement can be interrupted in its first step only.
		rows, err := tx.Query(ctx, "SELECT quick_check FROM pragma_quick_check(?) ORDER BY +rowid", table)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var message string
			if err := rows.Scan(&message); err != nil {
				return err
			}
			if message != "ok" {
				found = append(found, strings.Split(message, "\n")...)
			}
		}
		return rows.Err()
	})
	return found, err
}

// isTextMessage tells a fault of the full-text index from one of the drawers.
// Only SQLite from 3.44 on reports the former in a check at all.
func isTextMessage(m string) bool {
	return strings.Contains(m, "fts5") || strings.Contains(m, "FTS5") || strings.Contains(m, ftsTable)
}

// rootPages names the b-tree that starts at each page, because SQLite's check
// speaks of pages and people of tables.
func rootPages(ctx context.Context, db *dbfile.DB) (map[string]string, error) {
	names := map[string]string{}
	err := db.View(ctx, func(tx *dbfile.Tx) error {
		rows, err := tx.Query(ctx, "SELECT CAST(rootpage AS TEXT), type || ' ' || name FROM sqlite_master WHERE rootpage > 0")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var page, name string
			if err := rows.Scan(&page, &name); err != nil {
				return err
			}
			names[page] = name
		}
		return rows.Err()
	})
	return names, err
}

// nameTree puts the table's or index's name behind "Tree 12 page 34: ...".
func nameTree(message string, names map[string]string) string {
	rest, ok := strings.CutPrefix(message, "Tree ")
	if !ok {
		return message
	}
	root, _, _ := strings.Cut(rest, " ")
	if name, ok := names[root]; ok {
		return name + ": " + message
	}
	return message
}
