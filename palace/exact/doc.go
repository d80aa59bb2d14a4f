// Package exact reads and writes sqlite_exact.sqlite3, the database of
// MemPalace's exact backend: collections, documents with their metadata as
// JSON, and vectors as little-endian float32. There is no index; a search
// compares a query with every vector. Words are found by SQLite's full text.
//
// [Open] looks and changes nothing. [Palace.Writable] and [Create] write, each
// call in one transaction, what MemPalace 3.11 would have written byte for
// byte; see [Writable] for the locks that a caller takes first, and in which
// order. Rows are merged only by [Writer.Update]: an upsert replaces them here,
// as it does there.
//
// Filters mean here what they mean to that backend, which is not what they
// mean to Chroma: booleans are the integers 1 and 0, a key that is missing is
// null, and $contains looks for a text inside the value's text.
package exact
