// Package repair mends palaces kept by an embedded Chroma, so that no row can be
// lost on the way.
//
// What comes first is always a verified copy beside the palace. What is then
// changed is changed in steps after each of which the palace is safe for Chroma
// to open, by anybody, whatever moment the program is killed at:
//
//   - rows, in one transaction;
//   - an index, built and verified in a directory of its own and exchanged with
//     the old one by a rename. The position that tells Chroma what the index
//     holds is removed before the exchange and set after it: without one Chroma
//     replays the queue, which is right for either index, and with a wrong one it
//     purges rows that are the only copy of their vectors.
//
// A journal in Castellan's directory of state says what was begun. Every step can
// be made again, so a repair that was cut short is finished by the next one,
// which keeps the first one's backup; or it is undone.
//
// Vectors are gathered by id and never guessed: a vector counts where the
// palace's own records name its owner.
package repair
