// Package pickle reads the index_metadata.pickle that Chroma keeps beside a
// vector segment: which user id carries which label of the index.
//
// A pickle is a program. This reader is not an interpreter for it: it knows the
// opcodes a dict of texts and numbers needs and the one class chromadb 0.x
// wrote, builds plain columns from them, and refuses everything else before
// anything could come of it. It never loads, calls or looks up a global.
//
// Work and memory are linear in the size of the file, whatever the file says:
// lengths are compared with the bytes that are left before anything is
// allocated, references are handles and are never expanded, and nothing
// recurses.
package pickle
