package specimen

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// databaseCases are about the database file and its b-trees.
func databaseCases() []Sickness {
	return []Sickness{
		{
			Name: "fts-content-changed", Title: "text index disagrees", Case: "MemPalace #1517", Base: "healthy", Effect: Wrong,
			Story: "A text in the full-text tables was changed behind the index's back: \"malformed inverted index for FTS5\". No drawer is affected.",
			Apply: statements("UPDATE embedding_fulltext_search_content SET c0 = replace(c0, 'e', 'o') WHERE id = 7"),
		},
		{
			Name: "fts-content-deleted", Title: "text index lost a row", Case: "MemPalace #1747", Base: "healthy", Effect: Wrong,
			Story: "A text was deleted from the full-text tables behind the index's back. The drawer is there, a search for its words misses it.",
			Apply: statements("DELETE FROM embedding_fulltext_search_content WHERE id = 7"),
		},
		{
			Name: "fts-missing", Title: "text index gone", Case: "MemPalace #1238", Base: "healthy", Effect: Refuses,
			Story: "The full-text table's row in the schema is gone, its shadow tables are left. SQLite's quick_check says ok. Reading goes on; after the first write nothing does.",
			Apply: statements("PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'embedding_fulltext_search'"),
		},
		{
			Name: "btree-damaged", Title: "disk image malformed", Case: "MemPalace #1362", Base: "healthy", Effect: Refuses,
			Story: "60 bytes of the root page of an index of embeddings were overwritten, as by a torn write. The rows are all there and can be read without the index.",
			Apply: damageIndexRoot,
		},
		{
			Name: "not-a-database", Title: "not a database", Case: "MemPalace #585", Base: "synced", Effect: Refuses,
			Story: "The first 100 bytes are zeros after a crash of the machine; the segment directory is whole.",
			Apply: func(_ context.Context, dir string) error {
				return patch(filepath.Join(dir, Database), 0, make([]byte, 100))
			},
		},
		{
			Name: "database-emptied", Title: "database of 0 bytes, index there", Case: "MemPalace #1893", Base: "synced", Effect: Forgets,
			Story: "The database was truncated, the segment directory still holds 2,540 vectors. Chroma quietly begins a new palace here.",
			Apply: func(_ context.Context, dir string) error { return cut(filepath.Join(dir, Database), 0) },
		},
		{
			Name: "database-unused", Title: "database of 0 bytes, no index", Case: "MemPalace #1893", Base: "empty", Healthy: true, Effect: Works,
			Story: "The file was touched and never used.",
			Apply: func(_ context.Context, dir string) error { return cut(filepath.Join(dir, Database), 0) },
		},
		{
			Name: "database-short", Title: "database cut off", Case: "MemPalace #2302", Base: "synced", Effect: Refuses,
			Story: "A copy stopped half-way; the header still tells the full number of pages.",
			Apply: func(_ context.Context, dir string) error {
				name := filepath.Join(dir, Database)
				info, err := os.Stat(name)
				if err != nil {
					return err
				}
				return cut(name, info.Size()/2)
			},
		},
	}
}

// damageIndexRoot overwrites the root page of embeddings' index after its
// 12-byte page header.
func damageIndexRoot(ctx context.Context, dir string) error {
	root, err := ask(ctx, dir, "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_embeddings_1'")
	if err != nil {
		return err
	}
	size, err := ask(ctx, dir, "SELECT page_size FROM pragma_page_size")
	if err != nil {
		return err
	}
	if len(root) != 1 || len(size) != 1 {
		return fmt.Errorf("the index of embeddings has the roots %v, pages of %v", root, size)
	}
	page, err := strconv.ParseInt(root[0], 10, 64)
	if err != nil {
		return err
	}
	bytesPerPage, err := strconv.ParseInt(size[0], 10, 64)
	if err != nil {
		return err
	}
	return patch(filepath.Join(dir, Database), (page-1)*bytesPerPage+12, bytes.Repeat([]byte{0x55}, 60))
}
