// Package search finds drawers: by meaning, with the vectors that a collection
// holds, and by words.
//
// Four engines answer. The exact scan compares with every vector that can be
// reached, in the index files or in the queue, so nothing is missing that is
// stored somewhere. The stored index asks the graph that Chroma would ask. The
// graph is built in memory for the question and refused when it measures badly.
// Keyword search needs no vectors at all. Each answer says which engine gave it,
// why, and whether it is less than what was asked for.
//
// The ranking is MemPalace's: 0.6 times the similarity of the vectors plus 0.4
// times BM25, computed over the candidates alone.
package search
