// Package specimen makes palaces: copies of small real ones, sick ones made
// from those, and large generated ones. Tests, benchmarks and the demo look at
// them in place of anybody's memory.
//
// It is the one package that damages palaces, so it has one rule: it writes
// inside the directory it is given and nowhere else, and it never opens a
// palace it was not told to make. Its own readers and writers of index files
// are apart from the ones the rest of the program uses, so that a mistake in
// those cannot hide behind the same mistake here.
package specimen
