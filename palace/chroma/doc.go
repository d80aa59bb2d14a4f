// Package chroma reads and writes an embedded Chroma directory: chroma.sqlite3 and one
// directory of index files for each vector segment.
//
// Every write goes to the table embeddings_queue first, vector included. Chroma
// then applies it to the metadata tables, and to an index in memory that
// reaches the disk only when enough writes have gathered (the sync threshold).
// So a vector lies either in the index files or only in the queue, and a
// record that the metadata tables do not know yet may wait in the queue too.
// Answers of this package have the queue applied.
//
// A Palace only looks. What changes one goes by way of Writable, each call one
// transaction on a connection of its own, in the same order: queue first, then,
// with the palace to ourselves, the metadata tables. Index files are never
// written here: whoever loads the collection builds them from the queue.
package chroma
