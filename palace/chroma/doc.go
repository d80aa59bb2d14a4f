// Package chroma reads an embedded Chroma directory: chroma.sqlite3 and one
// directory of index files for each vector segment.
//
// Every write goes to the table embeddings_queue first, vector included. Chroma
// then applies it to the metadata tables, and to an index in memory that
// reaches the disk only when enough writes have gathered (the sync threshold).
// So a vector lies either in the index files or only in the queue, and a
// record that the metadata tables do not know yet may wait in the queue too.
// Answers of this package have the queue applied.
package chroma
