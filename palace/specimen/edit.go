package specimen

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What statements of a sickness may say in place of an id that differs from
// sample to sample.
var placeholders = strings.NewReplacer(
	"{drawers}", "(SELECT id FROM collections WHERE name = 'mempalace_drawers')",
	"{topic}", "(SELECT 'persistent://default/default/' || id FROM collections WHERE name = 'mempalace_drawers')",
	"{vector}", segmentQuery(Drawers, "VECTOR"),
	"{metadata}", segmentQuery(Drawers, "METADATA"),
	"{closets vector}", segmentQuery(Closets, "VECTOR"),
)

func segmentQuery(name, scope string) string {
	return fmt.Sprintf("(SELECT s.id FROM segments s JOIN collections c ON c.id = s.collection WHERE c.name = '%s' AND s.scope = '%s')", name, scope)
}

// apply is the treatment that a sickness consists of.
type apply = func(ctx context.Context, dir string) error

// inTurn is several treatments, one after the other.
func inTurn(steps ...apply) apply {
	return func(ctx context.Context, dir string) error {
		for _, step := range steps {
			if err := step(ctx, dir); err != nil {
				return err
			}
		}
		return nil
	}
}

// nothing leaves the sample as it is: it is the case.
func nothing(context.Context, string) error { return nil }

// statements edits the database in one transaction. A statement that changes
// no row fails.
func statements(list ...string) apply {
	return func(ctx context.Context, dir string) error {
		return change(ctx, dir, func(tx *sql.Tx) error {
			for _, s := range list {
				r, err := tx.ExecContext(ctx, placeholders.Replace(s))
				if err != nil {
					return fmt.Errorf("%s: %w", s, err)
				}
				verb, _, _ := strings.Cut(s, " ")
				n, err := r.RowsAffected()
				if err != nil {
					return err
				}
				if n == 0 && (verb == "UPDATE" || verb == "DELETE" || verb == "INSERT") {
					return fmt.Errorf("%s: changed no row", s)
				}
			}
			return nil
		})
	}
}

// forgetRows deletes drawers from SQLite and from nowhere else; which is a
// condition on the table embeddings.
func forgetRows(which string) apply {
	ids := "(SELECT id FROM embeddings WHERE " + which + ")"
	return statements(
		"DELETE FROM embedding_fulltext_search WHERE rowid IN "+ids,
		"DELETE FROM embedding_metadata WHERE id IN "+ids,
		"DELETE FROM embeddings WHERE "+which,
	)
}

// ask runs a query for one column of text.
func ask(ctx context.Context, dir, query string) (out []string, err error) {
	err = change(ctx, dir, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, placeholders.Replace(query))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				return err
			}
			out = append(out, s)
		}
		return rows.Err()
	})
	return out, err
}

// segmentOf is the directory of the drawers' index.
func segmentOf(ctx context.Context, dir string) (string, error) {
	ids, err := ask(ctx, dir, "SELECT {vector}")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, ids[0]), nil
}

// onSegment treats the directory of the drawers' index.
func onSegment(treat func(seg string) error) apply {
	return func(ctx context.Context, dir string) error {
		seg, err := segmentOf(ctx, dir)
		if err != nil {
			return err
		}
		return treat(seg)
	}
}

// index is the part of a segment that sicknesses edit, in memory: samples are
// small.
type index struct {
	head   header
	level0 []byte
	pickle pickle
}

// onIndex reads the drawers' index, lets edit change it and writes it back.
func onIndex(edit func(*index) error) apply {
	return onSegment(func(seg string) error {
		b, err := os.ReadFile(filepath.Join(seg, headerFile))
		if err != nil {
			return err
		}
		var x index
		if x.head, err = parseHeader(b); err != nil {
			return err
		}
		if x.level0, err = os.ReadFile(filepath.Join(seg, level0File)); err != nil {
			return err
		}
		if x.pickle, err = readPickle(seg); err != nil {
			return err
		}
		if err := edit(&x); err != nil {
			return err
		}
		return errors.Join(
			os.WriteFile(filepath.Join(seg, headerFile), x.head.bytes(), 0o600),
			os.WriteFile(filepath.Join(seg, level0File), x.level0, 0o600),
			writePickle(seg, x.pickle),
		)
	})
}

// element is the bytes of element i in data_level0.bin.
func (x *index) element(i int) []byte {
	size := int(x.head.ElementSize)
	return x.level0[i*size : (i+1)*size]
}

// label of element i.
func (x *index) label(i int) uint64 {
	return binary.LittleEndian.Uint64(x.element(i)[x.head.LabelOffset:])
}

// forget takes ids out of the pickle and answers with their labels.
func (p *pickle) forget(ids map[string]bool) map[uint64]bool {
	kept, gone := pickle{total: p.total}, map[uint64]bool{}
	for i, id := range p.ids {
		if ids[id] {
			gone[p.labels[i]] = true
			continue
		}
		kept.ids, kept.labels = append(kept.ids, id), append(kept.labels, p.labels[i])
	}
	*p = kept
	return gone
}

// setOf is a list as a set.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}
