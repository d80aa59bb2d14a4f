// Package fts5 holds a full-text index of SQLite against the texts it is of,
// without SQLite: the pages of the index are decoded, every text is cut into
// trigrams once more, and the two are compared by sums. SQLite's own check does
// the same with several times the work, since it sorts the whole index on the
// way.
//
// The package never calls an index damaged. It says that index and texts agree,
// every occurrence of every trigram of every text, or that it has a doubt, and
// then SQLite must be asked: the format has corners (half-finished merges,
// secure deletion) that are not worth a second implementation.
//
// The format, of FTS5 version 4: a table of blocks by number. Block 10 lists the
// segments, which are sorted runs of (term, rowid, positions); block 1 has the
// totals. A segment's leaves are numbered segment<<37 | page. A leaf is two
// big-endian uint16 (offset of the first rowid that starts here outside a term,
// offset of the footer), entries, and a footer that lists where terms start.
// Integers are SQLite's varints.
package fts5
