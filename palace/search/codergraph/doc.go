// Package codergraph keeps the library github.com/coder/hnsw at arm's length.
//
// Its version 0.6.1, the newest with a tag, has faults that its users must work
// around: its search takes the wrong end of a heap for the farthest, stops too
// early and so finds few of the nearest; adding a key twice panics; deleting
// leaves links to what is gone; it does not compile for Windows. So this package
// adds each key once, never deletes, asks for many more than are wanted (the
// caller compares those exactly), and turns every panic into an error. Whoever
// builds a graph has to measure it before believing it.
package codergraph
