// Package hnswtest writes small, formally valid vector segments for tests: the
// files a Chroma that has flushed would have left, with a neighbour graph found
// by comparing everything with everything.
package hnswtest
