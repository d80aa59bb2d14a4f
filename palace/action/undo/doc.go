// Package undo keeps what a change replaced, so that it can be put back.
//
// An entry is a directory of its own in Castellan's state, one for each change,
// below the lock key of its palace. It is written beside its name with every
// file synced, renamed, and the directory synced, before Commit answers; from
// then on none of its files is ever written again. What comes to be known later
// (how far the change got, that it was undone) stands in further files of the
// entry, each written once. So whoever deletes only after Commit has answered
// can be killed at any moment and loses nothing.
//
// What is in an entry is between whoever wrote it and whoever puts it back; the
// Kind says who that is. Changes of a store are made under the palace's lease,
// which is what keeps two programs apart; looking needs none.
package undo
