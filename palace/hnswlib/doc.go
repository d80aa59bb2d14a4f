// Package hnswlib reads the four files in which Chroma's fork of hnswlib keeps
// a vector segment. It knows no SQL, no ids and no pickle: elements have an
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
// What looks odd and is healthy: a segment that was never flushed has a header
// with no elements, room for 100 of them, and an empty link_lists.bin;
// data_level0.bin is as long as the highest element written (at least 100), not
// as the capacity; slots beyond the element count hold whatever memory held.
package hnswlib
