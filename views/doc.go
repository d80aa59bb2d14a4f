// Package views is the terminal UI: one file a screen, and the root model in
// app.go. It is the only package that knows both sides, the widgets of ui and
// the core under palace.
//
// How a key press becomes a figure on the screen: App.Update hands it to the
// registry of the screen on top (keys.go), whose command changes the screen or
// returns a load. A load runs in work.do, off the screen, asks Core, and comes
// back as a message with the number of the question it answers; an answer to an
// older question is dropped. Only Update changes anything, only loads read.
//
// What several screens show, the palaces and their reports, is the house
// (house.go); refresh.go keeps it up to date. Every palace is read by a load
// of its own, so that one on a dead disk holds up nobody but itself.
//
// All text on a screen may come from a palace and is hostile: it goes through
// ui, which cleans it, and never straight to the terminal.
package views
