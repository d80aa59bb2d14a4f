// Package hnswlib is the index of Chroma's fork of hnswlib in Go: it reads and
// judges the four files of a vector segment, searches them, and builds and
// writes new ones. It knows no SQL, no ids and no pickle: elements have an
// internal index (their place in the files) and a label (who they are).
//
//	header.bin       100 bytes: counts, sizes, entry point
//	data_level0.bin  one element after the other: neighbours, vector, label
//	length.bin       one float32 an element: its norm, used for cosine only
//	link_lists.bin   the neighbours above level 0, record by record
//
// Chroma writes these files in place, without a temporary file and without
// fsync, and may do so while they are read here. So nothing is mapped (a file
// cut by its writer would kill the process with SIGBUS): every read is a ReadAt
// of a bounded window, and no count or length is believed before it has been
// compared with the size of its file.
//
// A Reader looks at files, whatever state they are in. A Graph is an index in
// memory, loaded from a Reader or made by a Builder, that is searched as hnswlib
// searches: it finds what Chroma would find. Write and Verify bring one to disk.
//
// What looks odd and is healthy: a segment that was never flushed has a header
// with no elements, room for 100 of them, and an empty link_lists.bin;
// data_level0.bin is as long as the highest element written (at least 100), not
// as the capacity; slots beyond the element count hold whatever memory held.
package hnswlib
