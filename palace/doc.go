// Package palace finds palaces, says what lies at a path without opening it,
// keeps one handle for each palace that is open, and is the one way to change
// what a palace on this machine holds.
//
// A palace is known by the device and inode of its directory, never by the
// way somebody spelled its path: two spellings, a symlink and a bind mount are
// one palace, and a directory that was deleted and made again is another.
//
// Readers take no lock. Every write goes the same way: the handle's mutex, then
// MemPalace's palace lock, then the engine; see Palace.Writer.
package palace
