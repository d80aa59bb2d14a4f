package exact

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// fullTextChunk stays below the 32766 variables of one statement.
const fullTextChunk = 30_000

// dropFullText removes the texts of these ids from the full-text index. Nothing
// in it is indexed by id, so each question reads the whole index; MemPalace
// asks once a document, which is why its bulk writes slow down as a palace
// grows (MemPalace #2256). Here it is once a call.
func (t *writeTx) dropFullText(ctx context.Context, collection int64, ids []string) error {
	for chunk := range slices.Chunk(ids, fullTextChunk) {
		rowids, err := t.fullTextRows(ctx, collection, chunk)
		if err != nil {
			return err
		}
		for _, rowid := range rowids {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("writing to %q: %w", t.path, err)
			}
			if _, err := t.again("taking a text out of the index of", "DELETE FROM docs_fts WHERE rowid = ?", rowid); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *writeTx) fullTextRows(ctx context.Context, collection int64, ids []string) ([]int64, error) {
	args := make([]any, 0, 1+len(ids))
	args = append(args, collection)
	for _, id := range ids {
		args = append(args, id)
	}
	rows, err := t.Query(ctx, "SELECT rowid FROM docs_fts WHERE collection_id = ? AND doc_id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}
