// Package exact reads sqlite_exact.sqlite3, the database of MemPalace's exact
// backend: collections, documents with their metadata as JSON, and vectors as
// little-endian float32. There is no index; MemPalace compares a query with
// every vector.
//
// Filters mean here what they mean to that backend, which is not what they
// mean to Chroma: booleans are the integers 1 and 0, a key that is missing is
// null, and $contains looks for a text inside the value's text.
package exact
