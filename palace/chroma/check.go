package chroma

import (
	"context"
	"errors"
	"strings"

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
}

// maxMessages bounds what is kept of a check: a damaged file can have a fault
// on every page.
const maxMessages = 50

// CheckDatabase reads the whole database. With a copy, the questions go to a
// private copy under dir, so that nobody who writes has to wait for them;
// without one they hold readers' locks while they last.
func (p *Palace) CheckDatabase(ctx context.Context, copied bool, dir string) (DatabaseCheck, error) {
	if err := p.enter(); err != nil {
		return DatabaseCheck{}, err
	}
	defer p.inflight.Done()
	db := p.DB()
	if copied {
		snap, err := db.Snapshot(ctx, dir)
		if err != nil {
			return DatabaseCheck{}, err
		}
		defer snap.Close()
		db = snap
	}
	messages, err := db.QuickCheck(ctx, maxMessages)
	if errors.Is(err, dbfile.ErrCorrupt) {
		messages, err = append(messages, err.Error()), nil
	}
	if err != nil {
		return DatabaseCheck{}, err
	}
	var c DatabaseCheck
	names, err := rootPages(ctx, db)
	if err != nil && !errors.Is(err, dbfile.ErrCorrupt) {
		return c, err
	}
	for _, m := range messages {
		if isTextMessage(m) {
			c.Text.Damage = append(c.Text.Damage, m)
		} else {
			c.Damage = append(c.Damage, nameTree(m, names))
		}
	}
	damage := c.Text.Damage
	c.TextErr = db.View(ctx, func(tx *dbfile.Tx) (err error) {
		q := view{tx}
		if c.Text, err = readTextPresence(ctx, q); err != nil {
			return err
		}
		if len(damage) > 0 {
			if c.Text.NULDocuments, err = countNULDocuments(ctx, q); err != nil {
				return err
			}
		}
		return compareText(ctx, q, &c.Text)
	})
	c.Text.Damage, c.Text.Checked = damage, c.Text.Present
	if c.TextErr != nil && ctx.Err() != nil {
		return c, ctx.Err()
	}
	return c, nil
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
