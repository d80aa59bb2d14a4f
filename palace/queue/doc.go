// Package queue keeps writes that met a busy palace until they can be made.
//
// A queue is a directory in Castellan's own state, one for each lock key of a
// palace, with one file an entry. An entry is written beside its name, synced,
// renamed, and the directory synced, before Park answers; it is never changed
// again, and removed, with the directory synced, only after its write has been
// made. What changes, the attempts and why they failed, stands in a small file
// beside it. So whatever moment a program is killed at, or the power fails:
//
//   - an entry whose Park has answered is there until it has been applied;
//   - one whose Park has not is there whole or not at all, and parking it again
//     under its id makes no second one;
//   - entries of a collection are applied in the order in which they were parked;
//   - one that was being applied is applied again, first of its collection, and
//     is told so (StateUnknown).
//
// Applying twice in a row changes nothing more for upsert, update and delete.
// An add is another matter: Chroma passes over an id that it knows, sqlite_exact
// refuses the call, and whoever applies the entry has to look what is there when
// its state is StateUnknown.
//
// The queue orders only what is in it. Who writes to a collection directly
// while entries wait for it overtakes them, and an older text comes back when
// they are applied: see Queue.Pending, and drain first.
package queue
