// Package backend is the contract between Castellan and whatever keeps a palace:
// an embedded Chroma directory, a sqlite_exact file, a Chroma server.
//
// It holds no implementation. What stands here is what every backend must mean
// by the same word: a record, a filter, a page, a closed handle. A backend that
// cannot keep a promise refuses with a typed error; it never answers with less
// than it was asked.
package backend
