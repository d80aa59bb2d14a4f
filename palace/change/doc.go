// Package change removes drawers so that they can be put back, puts them back,
// and makes the writes that met a busy palace once it is free.
//
// Its actions go the way of every action: a Plan that touches nothing, then a
// Run under the palace's lease, which looks again before it decides anything.
//
// A delete keeps the full records of all rows (text, metadata with its types,
// vector to the bit) in castellan/palace/action/undo, synced, before the first
// row goes. So whatever moment it is killed at, each row is in the palace or in
// the record, and Undo finds out which.
//
// Who writes directly while writes wait for the palace would overtake them:
// everything here calls Target.Settle first, and so does whoever else writes.
package change
