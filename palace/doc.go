// Package palace finds palaces, says what lies at a path without opening it,
// and keeps one handle for each palace that is open.
//
// A palace is known by the device and inode of its directory, never by the
// way somebody spelled its path: two spellings, a symlink and a bind mount are
// one palace, and a directory that was deleted and made again is another.
package palace
